#include "backend_webgpu/web/page_gpu.h"

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "core/platform/web/page_events.h"

// clang-format off
#ifdef EM_JS_DEPS // what the functions below take of Emscripten's; older versions have it in every program
EM_JS_DEPS(tessera_gpu, "$UTF8ToString,$lengthBytesUTF8,$stringToUTF8");
#endif
EM_JS(void, tessera_gpu_start, (), {
  if (Module.tesseraGpu) return;
  const gpu = Module.tesseraGpu = {
    objects: [null, navigator.gpu || {}], counts: [0, 1], free: [], promises: new Map(), answers: new Map(),
    add(object) {
      if (object === null || typeof object != "object") return 0;
      const id = gpu.free.pop() || gpu.objects.length;
      gpu.objects[id] = object;
      gpu.counts[id] = 1;
      return id;
    },
    // Objects that the page has added itself are also the page's to remove.
    remove(id) {
      if (--gpu.counts[id]) return;
      gpu.objects[id] = null;
      gpu.free.push(id);
    },
    text(string) {
      const bytes = lengthBytesUTF8(string) + 1, at = _malloc(bytes);
      stringToUTF8(string, at, bytes);
      return at;
    },
    // Strings that begin with the character 1 are objects of the table.
    parse(at) { return JSON.parse(UTF8ToString(at), (key, value) => typeof value == "string" && value.charCodeAt(0) == 1 ? gpu.objects[+value.slice(1)] : value); },
    answer(id, promise) {
      gpu.promises.set(id, Promise.resolve(promise).then((value) => ({ value }), (error) => ({ failure: String(error && error.message || error) || "no reason was given" })).then((answer) => {
        gpu.answers.set(id, answer);
        _tessera_gpu_answered(id);
      }));
    },
  };
});
EM_JS(int, tessera_gpu_call, (int object, const char* method, const char* values), {
  const gpu = Module.tesseraGpu;
  try {
    return gpu.add(gpu.objects[object][UTF8ToString(method)](...gpu.parse(values)) || null);
  } catch (error) {
    console.error("WebGPU: " + UTF8ToString(method) + ": " + error.message);
    return 0;
  }
});
EM_JS(void, tessera_gpu_call_later, (int future, int object, const char* method, const char* values), {
  const gpu = Module.tesseraGpu;
  try {
    gpu.answer(future, gpu.objects[object][UTF8ToString(method)](...gpu.parse(values)));
  } catch (error) {
    gpu.answer(future, Promise.reject(error));
  }
});
EM_JS(void, tessera_gpu_when_lost, (int future, int device), {
  const gpu = Module.tesseraGpu;
  gpu.answer(future, gpu.objects[device].lost.then((info) => { throw new Error(info.message || "the browser gives no reason"); }));
});
EM_JS(char*, tessera_gpu_get, (int object, const char* path), {
  let value = Module.tesseraGpu.objects[object];
  for (const name of UTF8ToString(path).split(".")) value = value ? value[name] : undefined;
  return Module.tesseraGpu.text(JSON.stringify(value === undefined ? null : value));
});
EM_JS(int, tessera_gpu_has_feature, (int object, const char* name), { return Module.tesseraGpu.objects[object].features.has(UTF8ToString(name)) ? 1 : 0; });
EM_JS(void, tessera_gpu_reference, (int object), { ++Module.tesseraGpu.counts[object]; });
EM_JS(void, tessera_gpu_release, (int object, int destroy), {
  const gpu = Module.tesseraGpu;
  if (destroy && gpu.counts[object] == 1 && gpu.objects[object].tesseraOwns) gpu.objects[object].destroy();
  gpu.remove(object);
});
EM_JS(int, tessera_gpu_answer_object, (int future), { const gpu = Module.tesseraGpu; return gpu.add((gpu.answers.get(future) || {}).value || null); });
EM_JS(char*, tessera_gpu_answer_failure, (int future), { const gpu = Module.tesseraGpu; return gpu.text((gpu.answers.get(future) || {}).failure || ""); });
EM_JS(void, tessera_gpu_forget, (int future), { Module.tesseraGpu.promises.delete(future); Module.tesseraGpu.answers.delete(future); });
// Asyncify keeps the stack of one call that is suspended, whoever suspended it.
EM_JS(int, tessera_gpu_is_unwound, (), { return typeof Asyncify != "undefined" && Asyncify.currData ? 1 : 0; });
EM_JS(int, tessera_gpu_has_suspending, (), { return typeof Asyncify != "undefined" ? 1 : 0; }); // JSPI's too
EM_ASYNC_JS(void, tessera_gpu_suspend, (int future), { await Module.tesseraGpu.promises.get(future); });
// clang-format on

namespace tessera::webgpu {
namespace {

struct Future {
  PageCallback callback;
  bool is_answered = false, is_spontaneous = false;
};
std::map<int, Future>& futures() {
  static auto& all = *new std::map<int, Future>;
  return all;
}
int last_future = 0;
// Under JSPI all calls share one stack in the program's memory: a second one that waits would be in the way of the
// first.
bool is_waiting = false;

int add_future(PageCallback callback, bool is_spontaneous) {
  tessera_gpu_start();
  futures()[++last_future] = {std::move(callback), false, is_spontaneous};
  return last_future;
}

std::string take_text(char* text) {
  const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
  return owned.get();
}

void finish(int id, bool is_called_off) {
  const auto node = futures().extract(id);
  if (!node) return;
  PageAnswer answer{.is_called_off = is_called_off};
  if (!is_called_off) {
    answer.object = tessera_gpu_answer_object(id);
    answer.failure = take_text(tessera_gpu_answer_failure(id));
  }
  tessera_gpu_forget(id);
  node.mapped().callback(answer);
}

}  // namespace

std::string reference(PageObject object) { return '\x01' + std::to_string(object); }

PageObject call(PageObject object, const char* method, const nlohmann::json& arguments) {
  return tessera_gpu_call(object, method, arguments.dump().c_str());
}
nlohmann::json get(PageObject object, const char* path) {
  return nlohmann::json::parse(take_text(tessera_gpu_get(object, path)));
}
bool has_feature(PageObject object, const std::string& name) {
  return tessera_gpu_has_feature(object, name.c_str()) != 0;
}
void add_reference_to(PageObject object) { tessera_gpu_reference(object); }
void release_object(PageObject object, bool destroy) { tessera_gpu_release(object, destroy ? 1 : 0); }

int call_later(PageObject object, const char* method, const nlohmann::json& arguments, bool is_spontaneous,
               PageCallback callback) {
  const int future = add_future(std::move(callback), is_spontaneous);
  tessera_gpu_call_later(future, object, method, arguments.dump().c_str());
  return future;
}
int answer_at_once(PageCallback callback) {
  const int future = add_future(std::move(callback), false);
  futures()[future].is_answered = true;
  return future;
}
int when_lost(PageObject device, PageCallback callback) {
  const int future = add_future(std::move(callback), true);
  tessera_gpu_when_lost(future, device);
  return future;
}

bool take_answer(int future) {
  const auto known = futures().find(future);
  if (known != futures().end() && !known->second.is_answered) return false;
  finish(future, false);
  return true;
}
void forget_answer(int future) { finish(future, true); }

bool can_suspend() { return tessera_gpu_has_suspending() != 0 && !is_suspended() && !is_between_events(); }
bool is_suspended() { return is_waiting || tessera_gpu_is_unwound() != 0; }
void suspend_until_answer(int future) {
  struct Waiting {
    Waiting() { is_waiting = true; }
    ~Waiting() { is_waiting = false; }
  } const waiting;
  tessera_gpu_suspend(future);
}

}  // namespace tessera::webgpu

extern "C" EMSCRIPTEN_KEEPALIVE void tessera_gpu_answered(int id) {
  using namespace tessera::webgpu;
  const auto future = futures().find(id);
  if (future == futures().end()) return tessera_gpu_forget(id);
  future->second.is_answered = true;
  if (future->second.is_spontaneous) finish(id, false);
}
