// webgpu.h over the page's WebGPU, as far as tessera calls it. Descriptors become JSON; calls of each frame go
// straight.
#include <webgpu/webgpu.h>

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "backend_webgpu/web/names.h"
#include "backend_webgpu/web/page_gpu.h"

// clang-format off
EM_JS(int, tessera_gpu_opened, (int device), {
  const object = device ? Module.tesseraGpuDevice : Module.tesseraGpuAdapter;
  return object ? Module.tesseraGpu.add(object) : 0;
});
EM_JS(void, tessera_gpu_watch, (int device, void* state), {
  const d = Module.tesseraGpu.objects[device];
  d.tesseraError = (error) => {
    const at = Module.tesseraGpu.text(error.message);
    _tessera_gpu_error(state, error instanceof GPUOutOfMemoryError ? 1 : 0, at);
    _free(at);
  };
  d.onuncapturederror = (event) => d.tesseraError(event.error);
});
EM_JS(void, tessera_gpu_destroy_device, (int device), {
  const d = Module.tesseraGpu.objects[device];
  d.tesseraError = d.onuncapturederror = null;
  d.destroy();
});
EM_JS(int, tessera_gpu_kind_of_error, (int error), {
  const e = Module.tesseraGpu.objects[error];
  return e instanceof GPUValidationError ? 2 : e instanceof GPUOutOfMemoryError ? 3 : 4;
});
EM_JS(int, tessera_gpu_adapter_of, (int device), {
  const d = Module.tesseraGpu.objects[device];
  return Module.tesseraGpu.add(d.tesseraAdapter || { info: d.adapterInfo || {}, limits: d.limits, features: d.features });
});
EM_JS(void, tessera_gpu_note_adapter, (int device, int adapter), { Module.tesseraGpu.objects[device].tesseraAdapter = Module.tesseraGpu.objects[adapter]; });
EM_JS(int, tessera_gpu_queue, (int device), { return Module.tesseraGpu.add(Module.tesseraGpu.objects[device].queue); });
EM_JS(void, tessera_gpu_own, (int object), { Module.tesseraGpu.objects[object].tesseraOwns = true; });
EM_JS(void, tessera_gpu_read_mapped, (int buffer, double offset, double size, void* to), { HEAPU8.set(new Uint8Array(Module.tesseraGpu.objects[buffer].getMappedRange(offset, size)), to); });
EM_JS(void, tessera_gpu_write, (int queue, int buffer, double offset, const void* data, int size), { Module.tesseraGpu.objects[queue].writeBuffer(Module.tesseraGpu.objects[buffer], offset, HEAPU8, data, size); });
EM_JS(void, tessera_gpu_submit, (int queue, int commands), { Module.tesseraGpu.objects[queue].submit([Module.tesseraGpu.objects[commands]]); });
EM_JS(int, tessera_gpu_encoder, (int device), { return Module.tesseraGpu.add(Module.tesseraGpu.objects[device].createCommandEncoder()); });
EM_JS(int, tessera_gpu_compute_pass, (int encoder, int queries, int begin, int end), {
  const o = Module.tesseraGpu.objects;
  return Module.tesseraGpu.add(o[encoder].beginComputePass(queries ? { timestampWrites: { querySet: o[queries], beginningOfPassWriteIndex: begin, endOfPassWriteIndex: end } } : {}));
});
EM_JS(void, tessera_gpu_set_pipeline, (int pass, int pipeline), { Module.tesseraGpu.objects[pass].setPipeline(Module.tesseraGpu.objects[pipeline]); });
EM_JS(void, tessera_gpu_set_group, (int pass, int index, int group, const uint32_t* offsets, int count), {
  Module.tesseraGpu.objects[pass].setBindGroup(index, Module.tesseraGpu.objects[group], HEAPU32, offsets >> 2, count);
});
EM_JS(void, tessera_gpu_dispatch, (int pass, int x, int y, int z), { Module.tesseraGpu.objects[pass].dispatchWorkgroups(x, y, z); });
EM_JS(int, tessera_gpu_render_pass, (int encoder, int view, int load, double r, double g, double b, double a, int slice), {
  const attachment = { view: Module.tesseraGpu.objects[view], loadOp: load ? "load" : "clear", storeOp: "store", clearValue: [r, g, b, a] };
  if (slice >= 0) attachment.depthSlice = slice;
  return Module.tesseraGpu.add(Module.tesseraGpu.objects[encoder].beginRenderPass({ colorAttachments: [attachment] }));
});
EM_JS(void, tessera_gpu_draw, (int pass, int vertices, int instances), { Module.tesseraGpu.objects[pass].draw(vertices, instances); });
EM_JS(void, tessera_gpu_scissor, (int pass, int x, int y, int width, int height), { Module.tesseraGpu.objects[pass].setScissorRect(x, y, width, height); });
EM_JS(void, tessera_gpu_end, (int pass), { Module.tesseraGpu.objects[pass].end(); });
EM_JS(int, tessera_gpu_finish, (int encoder), { return Module.tesseraGpu.add(Module.tesseraGpu.objects[encoder].finish()); });
// clang-format on

namespace tessera::webgpu {
namespace {

using nlohmann::json;

template <class Handle>
PageObject id(Handle handle) {
  return static_cast<PageObject>(reinterpret_cast<std::uintptr_t>(handle));
}
template <class Handle>
Handle handle(PageObject object) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(object));
}
template <class Handle>
std::string ref(Handle object) {
  return reference(id(object));
}

std::string text_of(WGPUStringView view) {
  if (!view.data) return {};
  return view.length == WGPU_STRLEN ? std::string(view.data) : std::string(view.data, view.length);
}
WGPUStringView view(const std::string& text) { return {text.data(), text.size()}; }
WGPUStringView kept_copy(const json& text) {  // until wgpuAdapterInfoFreeMembers()
  const std::string value = text.is_string() ? text.get<std::string>() : std::string();
  char* const copy = static_cast<char*>(std::malloc(value.size() + 1));
  std::memcpy(copy, value.c_str(), value.size() + 1);
  return {copy, value.size()};
}
WGPUFuture future(int number) { return {static_cast<std::uint64_t>(number)}; }
bool is_spontaneous(WGPUCallbackMode mode) { return mode == WGPUCallbackMode_AllowSpontaneous; }

void read_limits(PageObject object, WGPULimits& limits) {
  each_limit(limits, [&, all = get(object, "limits")](const char* name, auto& member) {
    // Browsers have them as properties of a prototype, which JSON does not see.
    const json value = all.contains(name) ? all[name] : get(object, (std::string("limits.") + name).c_str());
    member = value.is_number() ? value.get<std::remove_reference_t<decltype(member)>>() : 0;
  });
}

constexpr PageObject the_instance = 1;

struct DeviceCallbacks {
  WGPUUncapturedErrorCallbackInfo on_error{};
  int lost = 0;
};
std::map<PageObject, std::unique_ptr<DeviceCallbacks>>& devices() {
  static auto& all = *new std::map<PageObject, std::unique_ptr<DeviceCallbacks>>;
  return all;
}
std::map<PageObject, int>& maps_under_way() {  // futures of buffers
  static auto& all = *new std::map<PageObject, int>;
  return all;
}
std::map<PageObject, std::vector<std::byte>>& mapped_bytes() {  // a page's buffers are not in the program's memory
  static auto& all = *new std::map<PageObject, std::vector<std::byte>>;
  return all;
}

void watch(PageObject device, const WGPUDeviceDescriptor& descriptor) {
  auto& callbacks = devices()[device] = std::make_unique<DeviceCallbacks>();
  callbacks->on_error = descriptor.uncapturedErrorCallbackInfo;
  callbacks->lost = when_lost(device, [lost = descriptor.deviceLostCallbackInfo](const PageAnswer& answer) {
    if (lost.callback && !answer.is_called_off)
      lost.callback(nullptr, WGPUDeviceLostReason_Unknown, view(answer.failure), lost.userdata1, lost.userdata2);
  });
  if (callbacks->on_error.callback) tessera_gpu_watch(device, callbacks.get());
}

json entry_of(const WGPUBindGroupLayoutEntry& entry) {
  static constexpr const char* buffers[] = {"", "", "uniform", "storage", "read-only-storage"};
  static constexpr const char* samplers[] = {"", "", "filtering", "non-filtering", "comparison"};
  static constexpr const char* samples[] = {"", "", "float", "unfilterable-float", "depth", "sint", "uint"};
  static constexpr const char* accesses[] = {"", "", "write-only", "read-only", "read-write"};
  json made{{"binding", entry.binding}, {"visibility", static_cast<std::uint32_t>(entry.visibility)}};
  if (entry.buffer.type)
    made["buffer"] = {{"type", buffers[entry.buffer.type]}, {"hasDynamicOffset", entry.buffer.hasDynamicOffset != 0}};
  if (entry.sampler.type) made["sampler"] = {{"type", samplers[entry.sampler.type]}};
  if (entry.texture.sampleType)
    made["texture"] = {{"sampleType", samples[entry.texture.sampleType]},
                       {"viewDimension", name_of(entry.texture.viewDimension)},
                       {"multisampled", entry.texture.multisampled != 0}};
  if (entry.storageTexture.access)
    made["storageTexture"] = {{"access", accesses[entry.storageTexture.access]},
                              {"format", name_of(entry.storageTexture.format)},
                              {"viewDimension", name_of(entry.storageTexture.viewDimension)}};
  return made;
}

json constants_of(std::size_t count, const WGPUConstantEntry* entries) {
  json made = json::object();
  for (std::size_t i = 0; i < count; ++i) made[text_of(entries[i].key)] = entries[i].value;
  return made;
}

json layout_of(WGPUPipelineLayout layout) { return layout ? json(ref(layout)) : json("auto"); }

}  // namespace
}  // namespace tessera::webgpu

using namespace tessera::webgpu;
using nlohmann::json;

extern "C" {

EMSCRIPTEN_KEEPALIVE void tessera_gpu_error(void* state, int is_memory, const char* text) {
  const WGPUUncapturedErrorCallbackInfo& info = static_cast<DeviceCallbacks*>(state)->on_error;
  info.callback(nullptr, is_memory ? WGPUErrorType_OutOfMemory : WGPUErrorType_Validation, {text, WGPU_STRLEN},
                info.userdata1, info.userdata2);
}

// ---- references
#define TESSERA_RELEASE(Type, destroys) \
  void wgpu##Type##Release(WGPU##Type object) { release_object(id(object), destroys); }
#define TESSERA_ADD_REF(Type) \
  void wgpu##Type##AddRef(WGPU##Type object) { add_reference_to(id(object)); }
TESSERA_RELEASE(Adapter, false)
TESSERA_RELEASE(BindGroup, false)
TESSERA_RELEASE(BindGroupLayout, false)
TESSERA_RELEASE(Buffer, true)
TESSERA_RELEASE(CommandBuffer, false)
TESSERA_RELEASE(CommandEncoder, false)
TESSERA_RELEASE(ComputePassEncoder, false)
TESSERA_RELEASE(ComputePipeline, false)
TESSERA_RELEASE(Device, false)
TESSERA_RELEASE(PipelineLayout, false)
TESSERA_RELEASE(QuerySet, false)
TESSERA_RELEASE(Queue, false)
TESSERA_RELEASE(RenderPassEncoder, false)
TESSERA_RELEASE(RenderPipeline, false)
TESSERA_RELEASE(Sampler, false)
TESSERA_RELEASE(ShaderModule, false)
TESSERA_RELEASE(Texture, true)
TESSERA_RELEASE(TextureView, false)
TESSERA_ADD_REF(BindGroup)
TESSERA_ADD_REF(Buffer)
TESSERA_ADD_REF(Device)
TESSERA_ADD_REF(Texture)
TESSERA_ADD_REF(TextureView)
void wgpuInstanceRelease(WGPUInstance) {}
void wgpuInstanceAddRef(WGPUInstance) {}
void wgpuSharedFenceRelease(WGPUSharedFence) {}  // nobody makes one
void wgpuSharedTextureMemoryRelease(WGPUSharedTextureMemory) {}

// ---- instance and adapter
WGPUInstance wgpuCreateInstance(const WGPUInstanceDescriptor*) {
  take_answer(answer_at_once([](const PageAnswer&) {}));  // makes the table of objects
  return handle<WGPUInstance>(the_instance);
}
WGPUFuture wgpuInstanceRequestAdapter(WGPUInstance, const WGPURequestAdapterOptions*,
                                      WGPURequestAdapterCallbackInfo info) {
  const auto tell = [info](PageObject adapter, const std::string& failure) {
    info.callback(adapter ? WGPURequestAdapterStatus_Success : WGPURequestAdapterStatus_Unavailable,
                  handle<WGPUAdapter>(adapter), view(failure), info.userdata1, info.userdata2);
  };
  if (const PageObject opened = tessera_gpu_opened(0))  // by the page, before the program began
    return future(answer_at_once([=](const PageAnswer&) { tell(opened, {}); }));
  return future(call_later(the_instance, "requestAdapter", {{{"powerPreference", "high-performance"}}},
                           is_spontaneous(info.mode),
                           [=](const PageAnswer& answer) { tell(answer.object, answer.failure); }));
}
WGPUStatus wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo* info) {
  const auto text = [&](const char* name) { return kept_copy(get(id(adapter), name)); };
  *info = {};
  info->vendor = text("info.vendor");
  info->architecture = text("info.architecture");
  info->device = text("info.device");
  info->description = text("info.description");
  info->backendType = WGPUBackendType_WebGPU;
  const bool is_fallback =
      get(id(adapter), "info.isFallbackAdapter") == true || get(id(adapter), "isFallbackAdapter") == true;
  info->adapterType = is_fallback ? WGPUAdapterType_CPU : WGPUAdapterType_Unknown;
  return WGPUStatus_Success;
}
void wgpuAdapterInfoFreeMembers(WGPUAdapterInfo info) {
  for (const WGPUStringView& text : {info.vendor, info.architecture, info.device, info.description})
    std::free(const_cast<char*>(text.data));
}
WGPUStatus wgpuAdapterGetLimits(WGPUAdapter adapter, WGPULimits* limits) {
  read_limits(id(adapter), *limits);
  return WGPUStatus_Success;
}
WGPUBool wgpuAdapterHasFeature(WGPUAdapter adapter, WGPUFeatureName feature) {
  const std::string name = name_of(feature);
  return !name.empty() && has_feature(id(adapter), name);
}
WGPUInstance wgpuAdapterGetInstance(WGPUAdapter) { return handle<WGPUInstance>(the_instance); }

WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, const WGPUDeviceDescriptor* descriptor,
                                    WGPURequestDeviceCallbackInfo info) {
  add_reference_to(id(adapter));
  const auto tell = [info, adapter, wanted = *descriptor](PageObject device, const std::string& failure) {
    if (device) {
      tessera_gpu_note_adapter(device, id(adapter));
      watch(device, wanted);
    }
    release_object(id(adapter));
    info.callback(device ? WGPURequestDeviceStatus_Success : WGPURequestDeviceStatus_Error, handle<WGPUDevice>(device),
                  view(failure), info.userdata1, info.userdata2);
  };
  if (const PageObject opened = tessera_gpu_opened(1))
    return future(answer_at_once([=](const PageAnswer&) { tell(opened, {}); }));
  json wanted_features = json::array(), wanted_limits = json::object();
  for (std::size_t i = 0; i < descriptor->requiredFeatureCount; ++i)
    wanted_features.push_back(name_of(descriptor->requiredFeatures[i]));
  each_limit(*descriptor->requiredLimits, [&](const char* name, auto value) {
    if (value) wanted_limits[name] = value;
  });
  return future(
      call_later(id(adapter), "requestDevice",
                 {{{"label", "tessera"}, {"requiredFeatures", wanted_features}, {"requiredLimits", wanted_limits}}},
                 is_spontaneous(info.mode), [=](const PageAnswer& answer) { tell(answer.object, answer.failure); }));
}

// ---- device
WGPUStatus wgpuDeviceGetLimits(WGPUDevice device, WGPULimits* limits) {
  read_limits(id(device), *limits);
  return WGPUStatus_Success;
}
WGPUBool wgpuDeviceHasFeature(WGPUDevice device, WGPUFeatureName feature) {
  const std::string name = name_of(feature);
  return !name.empty() && has_feature(id(device), name);
}
WGPUQueue wgpuDeviceGetQueue(WGPUDevice device) { return handle<WGPUQueue>(tessera_gpu_queue(id(device))); }
WGPUAdapter wgpuDeviceGetAdapter(WGPUDevice device) { return handle<WGPUAdapter>(tessera_gpu_adapter_of(id(device))); }
WGPUFuture wgpuDeviceGetLostFuture(WGPUDevice device) {
  if (!devices().contains(id(device))) watch(id(device), {});
  return future(devices()[id(device)]->lost);
}
void wgpuDeviceDestroy(WGPUDevice device) {
  if (const auto callbacks = devices().extract(id(device))) forget_answer(callbacks.mapped()->lost);
  tessera_gpu_destroy_device(id(device));
}
void wgpuDeviceForceLoss(WGPUDevice device, WGPUDeviceLostReason, WGPUStringView) {
  tessera_gpu_destroy_device(id(device));
}
void wgpuDevicePushErrorScope(WGPUDevice device, WGPUErrorFilter filter) {
  static constexpr const char* filters[] = {"", "validation", "out-of-memory", "internal"};
  call(id(device), "pushErrorScope", json::array({filters[filter]}));
}
WGPUFuture wgpuDevicePopErrorScope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo info) {
  return future(call_later(
      id(device), "popErrorScope", json::array(), is_spontaneous(info.mode), [info](const PageAnswer& answer) {
        const std::string text = answer.object ? get(answer.object, "message").get<std::string>() : std::string();
        const auto type = answer.object ? static_cast<WGPUErrorType>(tessera_gpu_kind_of_error(answer.object))
                                        : WGPUErrorType_NoError;
        if (answer.object) release_object(answer.object);
        info.callback(WGPUPopErrorScopeStatus_Success, type, view(text), info.userdata1, info.userdata2);
      }));
}
WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice device, const WGPUBufferDescriptor* d) {
  const PageObject buffer =
      call(id(device), "createBuffer",
           {{{"label", text_of(d->label)}, {"usage", static_cast<std::uint32_t>(d->usage)}, {"size", d->size}}});
  if (buffer) tessera_gpu_own(buffer);
  return handle<WGPUBuffer>(buffer);
}
WGPUTexture wgpuDeviceCreateTexture(WGPUDevice device, const WGPUTextureDescriptor* d) {
  const PageObject texture = call(id(device), "createTexture",
                                  {{{"label", text_of(d->label)},
                                    {"usage", static_cast<std::uint32_t>(d->usage)},
                                    {"dimension", d->dimension == WGPUTextureDimension_3D ? "3d" : "2d"},
                                    {"size", {d->size.width, d->size.height, d->size.depthOrArrayLayers}},
                                    {"format", name_of(d->format)},
                                    {"mipLevelCount", d->mipLevelCount},
                                    {"sampleCount", d->sampleCount}}});
  if (texture) tessera_gpu_own(texture);
  return handle<WGPUTexture>(texture);
}
WGPUSampler wgpuDeviceCreateSampler(WGPUDevice device, const WGPUSamplerDescriptor* d) {
  static constexpr const char* addresses[] = {"clamp-to-edge", "clamp-to-edge", "repeat", "mirror-repeat"};
  static constexpr const char* filters[] = {"nearest", "nearest", "linear"};
  return handle<WGPUSampler>(call(id(device), "createSampler",
                                  {{{"label", text_of(d->label)},
                                    {"addressModeU", addresses[d->addressModeU]},
                                    {"addressModeV", addresses[d->addressModeV]},
                                    {"addressModeW", addresses[d->addressModeW]},
                                    {"magFilter", filters[d->magFilter]},
                                    {"minFilter", filters[d->minFilter]},
                                    {"mipmapFilter", filters[d->mipmapFilter]}}}));
}
WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice device, const WGPUShaderModuleDescriptor* d) {
  const auto& source = *reinterpret_cast<const WGPUShaderSourceWGSL*>(d->nextInChain);
  return handle<WGPUShaderModule>(
      call(id(device), "createShaderModule", {{{"label", text_of(d->label)}, {"code", text_of(source.code)}}}));
}
WGPUBindGroupLayout wgpuDeviceCreateBindGroupLayout(WGPUDevice device, const WGPUBindGroupLayoutDescriptor* d) {
  json entries = json::array();
  for (std::size_t i = 0; i < d->entryCount; ++i) entries.push_back(entry_of(d->entries[i]));
  return handle<WGPUBindGroupLayout>(
      call(id(device), "createBindGroupLayout", {{{"label", text_of(d->label)}, {"entries", entries}}}));
}
WGPUPipelineLayout wgpuDeviceCreatePipelineLayout(WGPUDevice device, const WGPUPipelineLayoutDescriptor* d) {
  json layouts = json::array();
  for (std::size_t i = 0; i < d->bindGroupLayoutCount; ++i) layouts.push_back(ref(d->bindGroupLayouts[i]));
  return handle<WGPUPipelineLayout>(call(id(device), "createPipelineLayout", {{{"bindGroupLayouts", layouts}}}));
}
WGPUBindGroup wgpuDeviceCreateBindGroup(WGPUDevice device, const WGPUBindGroupDescriptor* d) {
  json entries = json::array();
  for (std::size_t i = 0; i < d->entryCount; ++i) {
    const WGPUBindGroupEntry& entry = d->entries[i];
    json resource;
    if (entry.textureView) resource = ref(entry.textureView);
    else if (entry.sampler) resource = ref(entry.sampler);
    else {
      resource = {{"buffer", ref(entry.buffer)}, {"offset", entry.offset}};
      if (entry.size != WGPU_WHOLE_SIZE) resource["size"] = entry.size;
    }
    entries.push_back({{"binding", entry.binding}, {"resource", resource}});
  }
  return handle<WGPUBindGroup>(
      call(id(device), "createBindGroup",
           {{{"label", text_of(d->label)}, {"layout", ref(d->layout)}, {"entries", entries}}}));
}
WGPUComputePipeline wgpuDeviceCreateComputePipeline(WGPUDevice device, const WGPUComputePipelineDescriptor* d) {
  return handle<WGPUComputePipeline>(
      call(id(device), "createComputePipeline",
           {{{"label", text_of(d->label)},
             {"layout", layout_of(d->layout)},
             {"compute",
              {{"module", ref(d->compute.module)},
               {"entryPoint", text_of(d->compute.entryPoint)},
               {"constants", constants_of(d->compute.constantCount, d->compute.constants)}}}}}));
}
WGPURenderPipeline wgpuDeviceCreateRenderPipeline(WGPUDevice device, const WGPURenderPipelineDescriptor* d) {
  json targets = json::array();
  for (std::size_t i = 0; i < d->fragment->targetCount; ++i)
    targets.push_back({{"format", name_of(d->fragment->targets[i].format)},
                       {"writeMask", static_cast<std::uint32_t>(d->fragment->targets[i].writeMask)}});
  return handle<WGPURenderPipeline>(
      call(id(device), "createRenderPipeline",
           {{{"label", text_of(d->label)},
             {"layout", layout_of(d->layout)},
             {"vertex", {{"module", ref(d->vertex.module)}, {"entryPoint", text_of(d->vertex.entryPoint)}}},
             {"fragment",
              {{"module", ref(d->fragment->module)},
               {"entryPoint", text_of(d->fragment->entryPoint)},
               {"targets", targets}}},
             {"primitive", {{"topology", "triangle-list"}}}}}));
}
WGPUBindGroupLayout wgpuComputePipelineGetBindGroupLayout(WGPUComputePipeline pipeline, uint32_t index) {
  return handle<WGPUBindGroupLayout>(call(id(pipeline), "getBindGroupLayout", json::array({index})));
}
WGPUQuerySet wgpuDeviceCreateQuerySet(WGPUDevice device, const WGPUQuerySetDescriptor* d) {
  return handle<WGPUQuerySet>(call(id(device), "createQuerySet", {{{"type", "timestamp"}, {"count", d->count}}}));
}

// ---- commands
WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(WGPUDevice device, const WGPUCommandEncoderDescriptor*) {
  return handle<WGPUCommandEncoder>(tessera_gpu_encoder(id(device)));
}
WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(WGPUCommandEncoder encoder,
                                                          const WGPUComputePassDescriptor* d) {
  const WGPUPassTimestampWrites* const times = d ? d->timestampWrites : nullptr;
  return handle<WGPUComputePassEncoder>(
      times ? tessera_gpu_compute_pass(id(encoder), id(times->querySet),
                                       static_cast<int>(times->beginningOfPassWriteIndex),
                                       static_cast<int>(times->endOfPassWriteIndex))
            : tessera_gpu_compute_pass(id(encoder), 0, 0, 0));
}
WGPURenderPassEncoder wgpuCommandEncoderBeginRenderPass(WGPUCommandEncoder encoder, const WGPURenderPassDescriptor* d) {
  if (d->colorAttachmentCount == 1 && !d->timestampWrites) {  // as in each frame
    const WGPURenderPassColorAttachment& one = d->colorAttachments[0];
    const int slice = one.depthSlice == WGPU_DEPTH_SLICE_UNDEFINED ? -1 : static_cast<int>(one.depthSlice);
    return handle<WGPURenderPassEncoder>(
        tessera_gpu_render_pass(id(encoder), id(one.view), one.loadOp == WGPULoadOp_Load, one.clearValue.r,
                                one.clearValue.g, one.clearValue.b, one.clearValue.a, slice));
  }
  json attachments = json::array();
  for (std::size_t i = 0; i < d->colorAttachmentCount; ++i) {
    const WGPURenderPassColorAttachment& attachment = d->colorAttachments[i];
    const WGPUColor& clear = attachment.clearValue;
    json made{{"view", ref(attachment.view)},
              {"loadOp", attachment.loadOp == WGPULoadOp_Load ? "load" : "clear"},
              {"storeOp", "store"},
              {"clearValue", {clear.r, clear.g, clear.b, clear.a}}};
    if (attachment.depthSlice != WGPU_DEPTH_SLICE_UNDEFINED) made["depthSlice"] = attachment.depthSlice;
    attachments.push_back(std::move(made));
  }
  json pass{{"colorAttachments", attachments}};
  if (const WGPUPassTimestampWrites* const times = d->timestampWrites)
    pass["timestampWrites"] = {{"querySet", ref(times->querySet)},
                               {"beginningOfPassWriteIndex", times->beginningOfPassWriteIndex},
                               {"endOfPassWriteIndex", times->endOfPassWriteIndex}};
  return handle<WGPURenderPassEncoder>(call(id(encoder), "beginRenderPass", json::array({pass})));
}
void wgpuComputePassEncoderSetPipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline) {
  tessera_gpu_set_pipeline(id(pass), id(pipeline));
}
void wgpuRenderPassEncoderSetPipeline(WGPURenderPassEncoder pass, WGPURenderPipeline pipeline) {
  tessera_gpu_set_pipeline(id(pass), id(pipeline));
}
void wgpuComputePassEncoderSetBindGroup(WGPUComputePassEncoder pass, uint32_t index, WGPUBindGroup group, size_t count,
                                        const uint32_t* offsets) {
  tessera_gpu_set_group(id(pass), static_cast<int>(index), id(group), offsets, static_cast<int>(count));
}
void wgpuRenderPassEncoderSetBindGroup(WGPURenderPassEncoder pass, uint32_t index, WGPUBindGroup group, size_t count,
                                       const uint32_t* offsets) {
  tessera_gpu_set_group(id(pass), static_cast<int>(index), id(group), offsets, static_cast<int>(count));
}
void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t x, uint32_t y, uint32_t z) {
  tessera_gpu_dispatch(id(pass), static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
}
// Browsers show these to nobody.
void wgpuComputePassEncoderPushDebugGroup(WGPUComputePassEncoder, WGPUStringView) {}
void wgpuComputePassEncoderPopDebugGroup(WGPUComputePassEncoder) {}
void wgpuRenderPassEncoderDraw(WGPURenderPassEncoder pass, uint32_t vertices, uint32_t instances, uint32_t, uint32_t) {
  tessera_gpu_draw(id(pass), static_cast<int>(vertices), static_cast<int>(instances));
}
void wgpuRenderPassEncoderSetScissorRect(WGPURenderPassEncoder pass, uint32_t x, uint32_t y, uint32_t width,
                                         uint32_t height) {
  tessera_gpu_scissor(id(pass), static_cast<int>(x), static_cast<int>(y), static_cast<int>(width),
                      static_cast<int>(height));
}
void wgpuComputePassEncoderEnd(WGPUComputePassEncoder pass) { tessera_gpu_end(id(pass)); }
void wgpuRenderPassEncoderEnd(WGPURenderPassEncoder pass) { tessera_gpu_end(id(pass)); }
void wgpuCommandEncoderClearBuffer(WGPUCommandEncoder encoder, WGPUBuffer buffer, uint64_t offset, uint64_t size) {
  call(id(encoder), "clearBuffer",
       size == WGPU_WHOLE_SIZE ? json::array({ref(buffer), offset}) : json::array({ref(buffer), offset, size}));
}
void wgpuCommandEncoderCopyBufferToBuffer(WGPUCommandEncoder encoder, WGPUBuffer from, uint64_t from_offset,
                                          WGPUBuffer to, uint64_t to_offset, uint64_t size) {
  call(id(encoder), "copyBufferToBuffer", json::array({ref(from), from_offset, ref(to), to_offset, size}));
}
void wgpuCommandEncoderResolveQuerySet(WGPUCommandEncoder encoder, WGPUQuerySet queries, uint32_t first, uint32_t count,
                                       WGPUBuffer to, uint64_t offset) {
  call(id(encoder), "resolveQuerySet", json::array({ref(queries), first, count, ref(to), offset}));
}
WGPUCommandBuffer wgpuCommandEncoderFinish(WGPUCommandEncoder encoder, const WGPUCommandBufferDescriptor*) {
  return handle<WGPUCommandBuffer>(tessera_gpu_finish(id(encoder)));
}

// ---- queue
void wgpuQueueSubmit(WGPUQueue queue, size_t count, const WGPUCommandBuffer* commands) {
  for (size_t i = 0; i < count; ++i) tessera_gpu_submit(id(queue), id(commands[i]));
}
void wgpuQueueWriteBuffer(WGPUQueue queue, WGPUBuffer buffer, uint64_t offset, const void* data, size_t size) {
  tessera_gpu_write(id(queue), id(buffer), static_cast<double>(offset), data, static_cast<int>(size));
}
WGPUFuture wgpuQueueOnSubmittedWorkDone(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo info) {
  return future(call_later(
      id(queue), "onSubmittedWorkDone", json::array(), is_spontaneous(info.mode), [info](const PageAnswer& answer) {
        info.callback(answer.failure.empty() ? WGPUQueueWorkDoneStatus_Success : WGPUQueueWorkDoneStatus_Error,
                      view(answer.failure), info.userdata1, info.userdata2);
      }));
}

// ---- buffers
uint64_t wgpuBufferGetSize(WGPUBuffer buffer) { return get(id(buffer), "size").get<uint64_t>(); }
WGPUBufferUsage wgpuBufferGetUsage(WGPUBuffer buffer) { return get(id(buffer), "usage").get<WGPUBufferUsage>(); }
WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUMapMode mode, size_t offset, size_t size,
                              WGPUBufferMapCallbackInfo info) {
  const int number = call_later(id(buffer), "mapAsync", json::array({static_cast<std::uint32_t>(mode), offset, size}),
                                is_spontaneous(info.mode), [info, buffer](const PageAnswer& answer) {
                                  maps_under_way().erase(id(buffer));
                                  info.callback(answer.is_called_off     ? WGPUMapAsyncStatus_Aborted
                                                : answer.failure.empty() ? WGPUMapAsyncStatus_Success
                                                                         : WGPUMapAsyncStatus_Error,
                                                view(answer.failure), info.userdata1, info.userdata2);
                                });
  maps_under_way()[id(buffer)] = number;
  return future(number);
}
const void* wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t offset, size_t size) {
  std::vector<std::byte>& bytes = mapped_bytes()[id(buffer)];
  bytes.resize(size);
  tessera_gpu_read_mapped(id(buffer), static_cast<double>(offset), static_cast<double>(size), bytes.data());
  return bytes.data();
}
void wgpuBufferUnmap(WGPUBuffer buffer) {
  if (const auto map = maps_under_way().find(id(buffer)); map != maps_under_way().end()) forget_answer(map->second);
  mapped_bytes().erase(id(buffer));
  call(id(buffer), "unmap", json::array());
}

// ---- textures
uint32_t wgpuTextureGetWidth(WGPUTexture texture) { return get(id(texture), "width"); }
uint32_t wgpuTextureGetHeight(WGPUTexture texture) { return get(id(texture), "height"); }
uint32_t wgpuTextureGetDepthOrArrayLayers(WGPUTexture texture) { return get(id(texture), "depthOrArrayLayers"); }
uint32_t wgpuTextureGetMipLevelCount(WGPUTexture texture) { return get(id(texture), "mipLevelCount"); }
uint32_t wgpuTextureGetSampleCount(WGPUTexture texture) { return get(id(texture), "sampleCount"); }
WGPUTextureUsage wgpuTextureGetUsage(WGPUTexture texture) { return get(id(texture), "usage").get<WGPUTextureUsage>(); }
WGPUTextureDimension wgpuTextureGetDimension(WGPUTexture texture) {
  const json dimension = get(id(texture), "dimension");
  return dimension == "3d"   ? WGPUTextureDimension_3D
         : dimension == "1d" ? WGPUTextureDimension_1D
                             : WGPUTextureDimension_2D;
}
WGPUTextureFormat wgpuTextureGetFormat(WGPUTexture texture) {
  return format_named(get(id(texture), "format").get<std::string>());
}
WGPUTextureView wgpuTextureCreateView(WGPUTexture texture, const WGPUTextureViewDescriptor* d) {
  json arguments = json::array();
  if (d) {
    static constexpr const char* aspects[] = {"all", "all", "stencil-only", "depth-only"};
    json made{{"baseMipLevel", d->baseMipLevel}, {"baseArrayLayer", d->baseArrayLayer}, {"aspect", aspects[d->aspect]}};
    if (d->dimension) made["dimension"] = name_of(d->dimension);
    if (d->format) made["format"] = name_of(d->format);
    if (d->mipLevelCount != WGPU_MIP_LEVEL_COUNT_UNDEFINED) made["mipLevelCount"] = d->mipLevelCount;
    if (d->arrayLayerCount != WGPU_ARRAY_LAYER_COUNT_UNDEFINED) made["arrayLayerCount"] = d->arrayLayerCount;
    arguments.push_back(std::move(made));
  }
  return handle<WGPUTextureView>(call(id(texture), "createView", arguments));
}

}  // extern "C"
