#include "core/kernel/parameter_text.h"

#include <algorithm>

#include "core/kernel/parameters.h"
#include "core/kernel/wgsl_tokens.h"

namespace tessera {
namespace {

// The name and the indices that follow `parameters`: of ".axes[i].stride" the path "axes[].stride" and the index "i".
struct NamedRead {
  std::string path;
  std::vector<std::string_view> indices;
  std::size_t size = 0;  // of the text
};

std::size_t name_size(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_wgsl_word) - text.begin());
}

// The size of the brackets that a text begins with.
std::size_t bracket_size(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i + 1;
  }
  throw std::logic_error("A bracket is not closed: " + std::string(text));
}

NamedRead read_at_start(std::string_view text) {
  NamedRead read;
  for (std::string_view rest = text; !rest.empty(); rest = text.substr(read.size)) {
    const std::size_t name = rest[0] == '.' ? name_size(rest.substr(1)) : 0;
    if (name > 0) {
      if (!read.path.empty()) read.path += '.';
      read.path += rest.substr(1, name);
      read.size += 1 + name;
    } else if (rest[0] == '[' && !read.path.empty()) {
      const std::size_t brackets = bracket_size(rest);
      read.path += "[]";
      read.indices.push_back(rest.substr(1, brackets - 2));
      read.size += brackets;
    } else {
      break;
    }
  }
  return read;
}

class NameReplacement {
 public:
  NameReplacement(const KernelCore& core, std::string_view unsigned_type)
      : core_(core), unsigned_type_(unsigned_type) {}

  std::string in(std::string_view code) const {
    std::string text;
    while (!code.empty()) {
      const std::size_t size = std::max<std::size_t>(name_size(code), 1);
      const std::string_view name = code.substr(0, size);
      code.remove_prefix(size);
      const bool is_parameter = name == "parameters", is_option = name == "options";
      const NamedRead read = is_parameter || is_option ? read_at_start(code) : NamedRead{};
      if (read.size == 0) text += name;
      else if (is_parameter) text += word_text(read);
      else text += "option_" + declared(*core_.option_names, name, read).path;
      code.remove_prefix(read.size);
    }
    return text;
  }

 private:
  const Parameter& declared(const ParameterList& list, std::string_view kind, const NamedRead& read) const {
    for (const Parameter& parameter : list.all())
      if (parameter.path == read.path) return parameter;
    throw std::logic_error(std::string(core_.file) + ": " + std::string(kind) + "." + read.path +
                           " is not declared for " + std::string(core_.entry) + ".");
  }

  // Gives a constant index, which drivers like best, wherever the text has one.
  std::string word_text(const NamedRead& read) const {
    const Parameter& parameter = declared(*core_.parameter_names, "parameters", read);
    int word = parameter.word;
    std::string along;
    for (std::size_t i = 0; i < read.indices.size(); ++i) {
      const std::string index = in(read.indices[i]);
      const int stride = parameter.strides[i];
      if (index.find_first_not_of("0123456789") == std::string::npos) word += stride * std::stoi(index);
      else
        along += " + " + (stride == 1 ? "" : std::to_string(stride) + "u * ") + std::string(unsigned_type_) + "(" +
                 index + ")";
    }
    return std::string(parameter.reader) + "(" + std::to_string(word) + "u" + along + ")";
  }

  const KernelCore& core_;
  std::string_view unsigned_type_;
};

}  // namespace

std::string with_words_for_names(std::string_view code, const KernelCore& core, std::string_view unsigned_type) {
  return NameReplacement(core, unsigned_type).in(code);
}

std::string option_name(const KernelCore& core, std::size_t option) {
  return "option_" + core.option_names->all()[option].path;
}

}  // namespace tessera
