// A context outlives its devices: it replaces a lost device, rebuilds lost tensors from their lineage, the operations
// that made them, and cuts long lineages by copies on the host. Only the host can replace its own device: there is no
// lineage then.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/host_memory.h"
#include "core/base/messages.h"
#include "core/graph/node.h"

namespace tessera {

using OpenBackend = std::function<std::unique_ptr<Backend>(const ContextOptions&, const MessageSink&)>;

// Nodes whose last hold went, on any thread: only lineage refers to them.
class DroppedNodes {
 public:
  void add(const NodePtr&) noexcept;

  // Calls release(node) for each, until no more are dropped. Under the context's lock.
  template <class Release>
  void release_all(const Release& release) {
    while (are_some_) {
      take();
      for (const std::weak_ptr<Node>& weak : taken_)
        if (const NodePtr node = weak.lock()) release(*node);
      taken_.clear();
    }
  }

 private:
  void take();

  std::mutex lock_;
  std::vector<std::weak_ptr<Node>> nodes_;
  std::vector<std::weak_ptr<Node>> taken_;  // guarded by the context's lock; keeps its memory, as does the other one
  std::atomic<bool> are_some_ = false;
};

class Recovery {
 public:
  explicit Recovery(ContextState&);

  // ---- losses
  // Runs `work`, and again on a new device where the device is lost on the way.
  template <class Work>
  auto run(const Work& work) {
    for (int attempt = 1;; ++attempt) {
      try {
        return with_host_memory("compute", work);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory && stop_forgetting()) continue;
        if (!device_is_lost() || attempt > 3) throw;
        replace_device();
      }
    }
  }
  // Runs `work` on objects of the host's on this very device, such as its textures and command encoders. Where the
  // device is lost on the way, the context goes on with a new one and device_lost is thrown: `advice`, a sentence,
  // tells the host what to make again there.
  template <class Work>
  void run_on_this_device(std::string_view advice, const Work& work) {
    for (;;) {
      try {
        return work();
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory && stop_forgetting()) continue;
        if (!device_is_lost()) throw;
      }
      replace_device_for_host(advice);
    }
  }
  void replace_device();  // throws device_lost where there is no other

  // ---- lineage
  bool keeps_lineage() const;
  void computed(const NodePtr&);  // a node that has just got its value
  void release(Node&);            // gives back what only the holders of a dropped node needed
  // The node's storage has the elements of another node now; `copies` are left of the node's own, if any.
  void overwritten(const NodePtr&, std::shared_ptr<Buffer> copies);
  // Whether a tensor may leave the device without a copy: with Priority::memory, if a few cheap operations make it
  // again, from sources that take no more than `room` together with it.
  bool can_forget(const Buffer&, std::uint64_t room) const;

  // ---- tests
  void lose_device_at(int submission, bool is_after);  // counted from 1; before it, or after it
  void about_to_submit();
  void submitted();

 private:
  bool device_is_lost() const;
  [[noreturn]] void replace_device_for_host(std::string_view advice);
  bool stop_forgetting();  // moves tensors to the host from now on, forgotten ones too; false: they moved already
  void bound_lineage(const NodePtr& computed);
  void checkpoint(Node&);
  void start_checkpoint(const NodePtr&);

  ContextState& context_;
  bool forgets_;                                  // until that takes more memory than it saves
  std::vector<std::weak_ptr<Node>> rebuildable_;  // computed nodes that have a lineage
  int checkpoints_under_way_ = 0;
  int submissions_until_loss_ = 0;  // 0: no test wants the device to be lost
  bool is_lost_after_ = false;
};

}  // namespace tessera
