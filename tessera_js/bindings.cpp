// The functions that tessera.js calls: numbers and JSON in, a number or JSON out. A call that fails gives 0 or null,
// and tessera_js_error() tells what was wrong.
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <webgpu/webgpu.h>

#include <cstdio>
#include <functional>
#include <type_traits>

#include "tessera_js/handles.h"
#include "tessera_js/ops.h"
#include <tessera/gles.h>
#include <tessera/model.h>
#include <tessera/webgpu.h>

// clang-format off
EM_JS(void, tessera_js_give_elements, (int read, const void* at, int bytes), {
  Module.tesseraReads.get(read).resolve(HEAPU8.slice(at, at + bytes));
});
EM_JS(void, tessera_js_give_error, (int read, const char* error), { Module.tesseraReads.get(read).reject(UTF8ToString(error)); });
// clang-format on

namespace tessera::js {
namespace {

using nlohmann::json;

Handles<Context> contexts("context");
Handles<Tensor> tensors("tensor");
Handles<Model> models("model");
std::string answer, error;

// Calls `work`, which gives a number; 0 where it throws.
template <class Work>
int guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& thrown) {
    error = json{{"code", to_string(thrown.code())}, {"message", thrown.what()}}.dump();
  } catch (const std::exception& thrown) {
    error = json{{"code", "invalid_argument"}, {"message", thrown.what()}}.dump();
  }
  return 0;
}
// Likewise with JSON; null where it throws.
template <class Work>
const char* told(const Work& work) {
  const bool is_done = guarded([&] {
    answer = work().dump();
    return 1;
  });
  return is_done ? answer.c_str() : nullptr;
}

json describe(int number) {
  const Tensor& tensor = tensors.at(number);
  const auto& sizes = tensor.shape().dims();
  return {{"id", number},
          {"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())},
          {"dtype", to_string(tensor.dtype())}};
}
json added(Tensor tensor) { return describe(tensors.add(std::move(tensor))); }

// What the context has to say, on the page's console.
ContextOptions options_for(std::vector<BackendKind> prefer = {}) {
  return {.prefer = std::move(prefer),
          .on_message = [](const Message& message) { std::fprintf(stderr, "tessera: %s\n", message.text.c_str()); },
          .message_level = Message::Level::warning};
}

template <class Handle>
Handle numbered(int number) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}
template <class Handle>
int number_of(Handle handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
}

// Gives the elements to the read with this number of JavaScript's, between the page's events.
template <class T>
void start_read(const Tensor& tensor, int number) {
  tensor.read_async<T>().then([number](Pending<std::vector<T>> done) {
    const bool is_read = guarded([&] {
      const std::vector<T> values = done.get();
      if constexpr (std::is_same_v<T, bool>) {
        const std::vector<std::uint8_t> bytes(values.begin(), values.end());
        tessera_js_give_elements(number, bytes.data(), static_cast<int>(bytes.size()));
      } else {
        tessera_js_give_elements(number, values.data(), static_cast<int>(values.size() * sizeof(T)));
      }
      return 1;
    });
    if (!is_read) tessera_js_give_error(number, js::error.c_str());
  });
}
void start_read_of(const Tensor& tensor, int number) {
  switch (tensor.dtype()) {
    case DType::i32: return start_read<std::int32_t>(tensor, number);
    case DType::i8: return start_read<std::int8_t>(tensor, number);
    case DType::u8: return start_read<std::uint8_t>(tensor, number);
    case DType::boolean: return start_read<bool>(tensor, number);
    default: return start_read<float>(tensor, number);
  }
}

TexturePart part_of(const json& options) {
  const auto number = [&](const char* name) { return options.value(name, 0); };
  return {.x = number("x"),
          .y = number("y"),
          .width = number("partWidth"),
          .height = number("partHeight"),
          .level = number("level"),
          .layer = number("layer")};
}

}  // namespace
}  // namespace tessera::js

using namespace tessera;
using namespace tessera::js;
using nlohmann::json;

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* tessera_js_error() { return js::error.c_str(); }
EMSCRIPTEN_KEEPALIVE const char* tessera_js_ops() {
  return told([] { return json(op_names()); });
}

// ---- contexts
// Of tessera's own: "webgl" or "cpu".
EMSCRIPTEN_KEEPALIVE int tessera_js_create(const char* backend) {
  return guarded([&] {
    const auto kind = std::string(backend) == "cpu" ? BackendKind::cpu : BackendKind::gles;
    return contexts.add(Context::create(options_for({kind})));
  });
}
// In the page's WebGL2 context that is current.
EMSCRIPTEN_KEEPALIVE int tessera_js_adopt_webgl(int checks_state) {
  return guarded([&] { return contexts.add(gles::adopt_current(options_for(), {.check_state = checks_state != 0})); });
}
// On the page's GPUDevice with this number in tessera's table.
EMSCRIPTEN_KEEPALIVE int tessera_js_adopt_webgpu(int device) {
  return guarded([&] {
    return contexts.add(webgpu::adopt({wgpuCreateInstance(nullptr), numbered<WGPUDevice>(device)}, options_for()));
  });
}
// Makes the table of WebGPU's objects, Module.tesseraGpu.
EMSCRIPTEN_KEEPALIVE void tessera_js_make_table() { wgpuCreateInstance(nullptr); }

EMSCRIPTEN_KEEPALIVE const char* tessera_js_describe_context(int context) {
  return told([&] {
    const DeviceInfo& device = contexts.at(context).device();
    return json{{"device", device.name}, {"driver", device.driver}, {"isSoftware", device.is_software}};
  });
}
EMSCRIPTEN_KEEPALIVE const char* tessera_js_memory(int context) {
  return told([&] {
    const Context& gpu = contexts.at(context);
    const MemoryInfo memory = gpu.memory();
    const Stats stats = gpu.stats();
    return json{{"tensors", memory.num_tensors}, {"bytes", memory.bytes_in_use},   {"bytesPooled", memory.bytes_pooled},
                {"kernels", memory.kernels},     {"dispatches", stats.dispatches}, {"submits", stats.submits}};
  });
}
// Emscripten's number of the WebGL2 context that tessera made.
EMSCRIPTEN_KEEPALIVE int tessera_js_own_webgl(int context) {
  return guarded([&] { return number_of(gles::host_context(contexts.at(context)).context); });
}
EMSCRIPTEN_KEEPALIVE void tessera_js_close(int context) {
  guarded([&] {
    contexts.at(context).close();
    contexts.remove(context);
    return 1;
  });
}

// ---- tensors
EMSCRIPTEN_KEEPALIVE const char* tessera_js_tensor(int context, const char* shape, const char* dtype,
                                                   const std::byte* elements, std::size_t bytes) {
  return told([&] {
    return added(
        contexts.at(context).tensor(shape_of(json::parse(shape)), dtype_named(dtype), std::span(elements, bytes)));
  });
}
EMSCRIPTEN_KEEPALIVE const char* tessera_js_full(int context, const char* shape, double value, const char* dtype) {
  return told(
      [&] { return added(contexts.at(context).full(shape_of(json::parse(shape)), value, dtype_named(dtype))); });
}
// Operands are numbers of tensors, or {"number": 2}. Gives the descriptions of the results.
EMSCRIPTEN_KEEPALIVE const char* tessera_js_op(const char* name, const char* operands, const char* options) {
  return told([&] {
    Call call{.options = json::parse(options)};
    for (const json& operand : json::parse(operands)) {
      call.tensors.push_back(operand.is_object() ? Tensor() : tensors.at(operand.get<int>()));
      call.numbers.push_back(operand.is_object() ? operand["number"].get<double>() : 0);
    }
    json results = json::array();
    for (Tensor& result : run_op(name, call)) results.push_back(added(std::move(result)));
    return results;
  });
}
EMSCRIPTEN_KEEPALIVE int tessera_js_compute(int tensor) {
  return guarded([&] {
    tensors.at(tensor).compute();
    return 1;
  });
}
EMSCRIPTEN_KEEPALIVE void tessera_js_dispose(int tensor) { tensors.remove(tensor); }

// The elements go to tessera.js, which knows the read by this number.
EMSCRIPTEN_KEEPALIVE int tessera_js_read(int tensor, int number) {
  return guarded([&] {
    start_read_of(tensors.at(tensor), number);
    return 1;
  });
}

// ---- textures and buffers of the page's, by their numbers in the tables of Emscripten and tessera
EMSCRIPTEN_KEEPALIVE const char* tessera_js_from_texture(int context, int texture, const char* given) {
  return told([&] {
    Context& gpu = contexts.at(context);
    const json options = json::parse(given);
    const auto channels = options.value("channels", "RGBA");
    const DType dtype = dtype_named(options.value("dtype", "f32"));
    if (gpu.backend() == BackendKind::webgpu)
      return added(webgpu::from_texture(gpu, numbered<WGPUTexture>(texture),
                                        {.channels = channels, .dtype = dtype, .part = part_of(options)}));
    return added(gles::from_texture(gpu, {.texture = static_cast<unsigned>(texture),
                                          .width = options.value("width", 0),
                                          .height = options.value("height", 0),
                                          .channels = channels,
                                          .internal_format = options.value("internalFormat", 0u),
                                          .dtype = dtype,
                                          .part = part_of(options)}));
  });
}
// Into a texture, or with WebGL2 into the framebuffer of the canvas where the texture is 0.
EMSCRIPTEN_KEEPALIVE int tessera_js_to_texture(int tensor, int texture, const char* given) {
  return guarded([&] {
    const Tensor& image = tensors.at(tensor);
    const json options = json::parse(given);
    const bool flips = options.value("flipY", false);
    const int width = options.value("width", 0), height = options.value("height", 0);
    if (image.backend() == BackendKind::webgpu) {
      webgpu::to_texture(image, numbered<WGPUTexture>(texture), {.flip_y = flips, .part = part_of(options)});
    } else if (texture == 0) {
      gles::to_texture(image, gles::HostFramebuffer{.width = width, .height = height}, {.flip_y = flips});
    } else {
      gles::to_texture(image,
                       gles::HostTexture{.texture = static_cast<unsigned>(texture),
                                         .width = width,
                                         .height = height,
                                         .internal_format = options.value("internalFormat", 0u),
                                         .part = part_of(options)},
                       {.flip_y = flips});
    }
    return 1;
  });
}
EMSCRIPTEN_KEEPALIVE const char* tessera_js_from_buffer(int context, int buffer, const char* shape, const char* dtype,
                                                        double offset) {
  return told([&] {
    return added(webgpu::from_buffer(contexts.at(context), numbered<WGPUBuffer>(buffer), shape_of(json::parse(shape)),
                                     dtype_named(dtype), {.offset = static_cast<std::uint64_t>(offset)}));
  });
}
EMSCRIPTEN_KEEPALIVE int tessera_js_to_buffer(int tensor, int buffer, double offset) {
  return guarded([&] {
    webgpu::to_buffer(tensors.at(tensor), numbered<WGPUBuffer>(buffer), {.offset = static_cast<std::uint64_t>(offset)});
    return 1;
  });
}
// The buffer or texture that a tensor is in. The tensor `lent` in the answer keeps it.
EMSCRIPTEN_KEEPALIVE const char* tessera_js_gpu_data(int tensor) {
  return told([&] {
    const Tensor& wanted = tensors.at(tensor);
    if (wanted.backend() == BackendKind::webgpu) {
      const webgpu::GpuData data = webgpu::data_to_gpu(wanted);
      return json{{"lent", tensors.add(data.tensor_ref)},
                  {"buffer", number_of(data.buffer)},
                  {"offset", data.offset},
                  {"size", data.buf_size}};
    }
    const gles::GpuData data = gles::data_to_gpu(wanted);
    return json{{"lent", tensors.add(data.tensor_ref)},
                {"texture", data.texture},
                {"width", data.tex_shape.width},
                {"height", data.tex_shape.height},
                {"internalFormat", data.internal_format}};
  });
}

// ---- models, from files in Emscripten's memory
EMSCRIPTEN_KEEPALIVE int tessera_js_load_model(int context, const char* path) {
  return guarded([&] { return models.add(Model::load(contexts.at(context), path)); });
}
EMSCRIPTEN_KEEPALIVE const char* tessera_js_describe_model(int model) {
  return told([&] {
    const auto values = [](const std::vector<ModelValue>& all) {
      json list = json::array();
      for (const ModelValue& value : all) {
        json sizes = nullptr;
        if (value.shape) {
          sizes = json::array();
          for (const ModelSize& size : *value.shape) sizes.push_back(size.size ? json(*size.size) : json(nullptr));
        }
        list.push_back({{"name", value.name}, {"dtype", to_string(value.dtype)}, {"shape", sizes}});
      }
      return list;
    };
    return json{{"inputs", values(models.at(model).inputs())}, {"outputs", values(models.at(model).outputs())}};
  });
}
EMSCRIPTEN_KEEPALIVE const char* tessera_js_run_model(int model, const char* inputs) {
  return told([&] {
    std::map<std::string, Tensor> given;
    const auto numbers = json::parse(inputs).get<std::map<std::string, int>>();
    for (const auto& [name, number] : numbers) given[name] = tensors.at(number);
    json outputs = json::object();
    for (auto& [name, output] : models.at(model)(given)) outputs[name] = added(std::move(output));
    return outputs;
  });
}
EMSCRIPTEN_KEEPALIVE void tessera_js_dispose_model(int model) { models.remove(model); }

}  // extern "C"

int main() {}
