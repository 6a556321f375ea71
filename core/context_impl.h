// What a Context handle refers to.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/background.h"
#include "core/crossing.h"
#include "core/plan_cache.h"
#include "core/host_memory.h"
#include "core/messages.h"
#include "core/node.h"
#include "core/pool.h"

namespace tessera {

// Nodes that nothing but lineage refers to any more, from any thread.
class Unheld {
 public:
  void add(const NodePtr&) noexcept;
  std::vector<NodePtr> take();

 private:
  std::mutex lock_;
  std::vector<std::weak_ptr<Node>> nodes_;
};

using OpenBackend = std::function<std::unique_ptr<Backend>(const ContextOptions&, const MessageSink&)>;

struct MonitorState;

struct ContextImpl : std::enable_shared_from_this<ContextImpl> {
  // `open` gives the first backend, and the one that replaces a lost device; a host's device cannot be replaced.
  ContextImpl(const ContextOptions&, OpenBackend open, bool is_hosts);

  // Runs `work`, and again on a new device where the device is lost on the way. The caller holds the lock.
  template <class Work>
  auto resilient(const Work& work) {
    for (int attempt = 1;; ++attempt) {
      try {
        return with_host_memory("compute", work);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory && stop_forgetting()) continue;
        if (!backend->is_lost() || attempt > 3) throw;
        replace_device();
      }
    }
  }
  // Runs `work` on what a host has made on this very device, such as its textures and command encoders. Where the
  // device is lost on the way, the context goes on with a new one and device_lost is thrown: `advice`, a sentence,
  // tells the host what to make again there. The caller holds the lock.
  template <class Work>
  void on_this_device(std::string_view advice, const Work& work) {
    for (;;) {
      try {
        return work();
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory && stop_forgetting()) continue;
        if (!backend->is_lost()) throw;
      }
      const std::string lost = backend->device().name;
      replace_device();
      throw Error(ErrorCode::device_lost, std::string(advice) + " The device " + lost + " was lost on the way; " +
                                              backend->device().name + " takes its place.");
    }
  }
  void replace_device();  // throws device_lost where there is none
  void switch_to(const ContextOptions&);
  void require_nothing_lent();
  void close();
  void require_open() const;
  void use_backend(std::unique_ptr<Backend>);
  std::string device_name();  // for messages of callers that do not hold the lock
  Stats stats_now() const;
  MemoryInfo memory_now() const;
  void trim();
  void about_to_submit();  // and here tests may lose the device
  void submitted();
  void release_unheld();
  void release(Node&);
  bool stop_forgetting();  // see Pool: what was forgotten goes to the host. False where that makes no difference

  // Values that are computed on a device that may be lost remember how.
  bool keeps_lineage() const;
  void has_computed(const NodePtr&);  // a node that has just got its value
  void bound_lineage(const NodePtr& computed);

  std::mutex lock;  // held around every use of what follows; see Session
  std::shared_ptr<Messages> messages;
  ContextOptions options;
  OpenBackend open;
  bool is_hosts;
  bool is_closed = false;
  std::unique_ptr<Backend> backend;
  std::list<DeviceInfo> devices;  // of the backends so far: references to them stay valid
  std::uint64_t epoch = 0;        // counts the backends
  Stats stats{};
  std::shared_ptr<Pool> pool;
  PlanCache plans{messages->sink()};
  Unheld unheld;
  std::vector<std::weak_ptr<Node>> rebuildable;  // computed ones that have a lineage
  int checkpoints_under_way = 0;
  struct {
    int submissions = 0;  // until a test wants the device to be lost
    bool is_after = false;
  } loss_on_demand;
  Crossings crossings;
  std::shared_ptr<MonitorState> monitor;                               // nothing where nobody watches
  std::uint64_t kernels_compiled_before = 0, plans_reused_before = 0;  // the counts when the statistics were reset
  Background background;  // last: it finishes its work while the rest still stands
};

// One call into a context: holds its lock, and delivers messages once the lock is free again.
class Session {
 public:
  // A context that was closed refuses all calls but those that only let go or ask.
  enum class Closed { refused, allowed };
  explicit Session(ContextImpl& context, Closed closed = Closed::refused) : context_(context), hold_(context.lock) {
    if (closed == Closed::refused) context.require_open();
    context.release_unheld();
  }
  ~Session() {
    hold_.unlock();
    context_.messages->deliver();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  ContextImpl& context_;
  std::unique_lock<std::mutex> hold_;
};

struct ContextAccess {
  static ContextImpl& impl(const Context& context) { return *context.impl_; }
  static Context make(const ContextOptions&, OpenBackend, bool is_hosts);
};

// Opens the first of the preferred backends that works, and tells why others were passed over.
std::unique_ptr<Backend> open_backend(const ContextOptions&, const MessageSink&);

}  // namespace tessera
