#include "models/tfjs/weights.h"

#include <algorithm>
#include <cstring>

#include "models/elements.h"
#include "models/progress.h"
#include <tessera/error.h>

namespace tessera::tfjs {

namespace {

using onnx::Bytes;
using onnx::TensorProto;
using onnx::Type;

Type type_named(std::string_view name, const std::string& weight) {
  if (name == "float32") return Type::float32;
  if (name == "float16") return Type::float16;
  if (name == "int32") return Type::int32;
  if (name == "uint8") return Type::uint8;
  if (name == "uint16") return Type::uint16;
  if (name == "int8") return Type::int8;
  if (name == "int16") return Type::int16;
  if (name == "bool") return Type::boolean;
  if (name == "string") return Type::string;
  throw Error(ErrorCode::unsupported, "the weight '" + weight + "' has elements of type " + std::string(name) + ".");
}

std::uint64_t bytes_of_element(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::int8:
    case Type::boolean: return 1;
    case Type::uint16:
    case Type::int16:
    case Type::float16: return 2;
    default: return 4;
  }
}

// The files of a group as one run of bytes.
class Group {
 public:
  Group(const Json& paths, const std::filesystem::path& folder, Weights& weights) : weights_(weights) {
    for (const Json& entry : paths) {
      const std::string name = text(entry, "the path of a weight file");
      const std::filesystem::path path = name;
      const bool leaves = std::ranges::any_of(path, [](const std::filesystem::path& part) { return part == ".."; });
      if (path.empty() || path.is_absolute() || leaves)
        fail_reading("the weight file '" + name + "' is not beside the model.");
      if (folder.empty()) fail_reading("its weights are in the file '" + name + "', but the model came from memory.");
      weights.files.push_back(std::make_unique<MappedFile>(folder / path));
      parts_.push_back(weights.files.back()->bytes());
      size_ += parts_.back().size();
    }
  }

  Bytes next(std::uint64_t count, const std::string& weight) {
    if (count > size_ - at_)
      fail_reading("the weight '" + weight + "' needs " + std::to_string(count) + " bytes from byte " +
                   std::to_string(at_) + " on, but its files have " + std::to_string(size_) + ".");
    std::uint64_t begin = at_;
    at_ += count;
    std::size_t part = 0;
    while (part < parts_.size() && begin >= parts_[part].size()) begin -= parts_[part++].size();
    if (count == 0) return {};
    if (count <= parts_[part].size() - begin)
      return parts_[part].subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    std::vector<std::byte>& whole = weights_.joined.emplace_back();
    for (; whole.size() < count; ++part, begin = 0) {
      const Bytes rest = parts_[part].subspan(static_cast<std::size_t>(begin));
      const auto taken = std::min<std::size_t>(rest.size(), static_cast<std::size_t>(count) - whole.size());
      whole.insert(whole.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    return whole;
  }

 private:
  Weights& weights_;
  std::vector<Bytes> parts_;
  std::uint64_t size_ = 0, at_ = 0;
};

void skip_strings(Group& group, std::int64_t count, const std::string& weight) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t length = 0;
    std::memcpy(&length, group.next(sizeof length, weight).data(), sizeof length);
    group.next(length, weight);
  }
}

TensorProto weight_from(const Json& entry, Group& group) {
  TensorProto tensor;
  tensor.name = text(needed(entry, "name"), "the name of a weight");
  tensor.dims = whole_numbers(needed(entry, "shape"), {"the shape of the weight", tensor.name});
  tensor.type = type_named(view(needed(entry, "dtype"), {"the dtype of the weight", tensor.name}), tensor.name);
  const std::int64_t count = onnx::shape_of(tensor).size();
  if (tensor.type == Type::string) {
    skip_strings(group, count, tensor.name);
    return tensor;
  }
  Type stored = tensor.type;
  if (const Json* quantization = member(entry, "quantization")) {
    stored =
        type_named(view(needed(*quantization, "dtype"), {"the quantization of the weight", tensor.name}), tensor.name);
    tensor.quantization.emplace(onnx::Quantization{.stored = stored});
    const bool is_scaled = stored == Type::uint8 || stored == Type::uint16;
    if ((!is_scaled && stored != Type::float16) || (tensor.type != Type::float32 && tensor.type != Type::int32))
      throw Error(ErrorCode::unsupported, "the weight '" + tensor.name + "' is " + onnx::to_string(tensor.type) +
                                              " quantized as " + onnx::to_string(stored) + ".");
    if (is_scaled) {
      tensor.quantization->scale = number(needed(*quantization, "scale"), {"the scale of the weight", tensor.name});
      tensor.quantization->min = number(needed(*quantization, "min"), {"the min of the weight", tensor.name});
    }
  }
  tensor.raw = group.next(static_cast<std::uint64_t>(count) * bytes_of_element(stored), tensor.name);
  return tensor;
}

}  // namespace

std::shared_ptr<Weights> read_weights(const Json& manifest, const std::filesystem::path& folder,
                                      const onnx::Progress& progress) {
  auto weights = std::make_shared<Weights>();
  if (!manifest.is_array()) fail_reading("its 'weightsManifest' is no list.");
  std::size_t groups_read = 0;
  for (const Json& entry : manifest) {
    progress.tell(onnx::share_of_reading * static_cast<double>(groups_read++) / static_cast<double>(manifest.size()),
                  "reading weight files");
    Group group(list_in(entry, "paths"), folder, *weights);
    for (const Json& weight : list_in(entry, "weights")) {
      TensorProto tensor = weight_from(weight, group);
      const auto [place, is_new] = weights->tensors.try_emplace(tensor.name);
      if (!is_new) fail_reading("the weight '" + tensor.name + "' is there twice.");
      place->second = std::move(tensor);
    }
  }
  return weights;
}

}  // namespace tessera::tfjs
