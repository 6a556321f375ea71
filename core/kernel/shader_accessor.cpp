#include "core/kernel/shader_accessor.h"

#include "core/base/fail.h"

namespace tessera {
namespace {

// The axes of an image, or of a batch of them, have the letters of images.
std::string axis_name(int axis, int rank) {
  constexpr std::string_view images = "nyxc";
  if (rank < 2 || rank > 4) return "i" + std::to_string(axis);
  const int first = rank == 4 ? 0 : 1;
  return std::string(1, images[static_cast<std::size_t>(first + axis)]);
}

}  // namespace

IndexText index_text(const std::string& accessor, const Shape& shape, const IndexSpelling& spelling) {
  IndexText text{"", "0" + std::string(spelling.number_suffix)};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::string index = accessor + "_" + axis_name(axis, shape.rank());
    text.parameters.append(axis == 0 ? "" : ", ").append(spelling.before).append(index).append(spelling.after);
    text.element = axis == 0 ? index
                             : "(" + text.element + ") * " + std::to_string(shape[axis]) +
                                   std::string(spelling.number_suffix) + " + " + index;
  }
  return text;
}

void check_accessor_name(std::string_view op, std::string_view language, std::string_view name,
                         const std::string& fault) {
  if (!fault.empty())
    fail(ErrorCode::invalid_argument, op,
         "\"" + std::string(name) + "\" is no name for a function of " + std::string(language) + ": it " + fault + ".");
}

}  // namespace tessera
