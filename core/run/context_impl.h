// The object behind a Context handle.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "core/base/messages.h"
#include "core/graph/node.h"
#include "core/run/background.h"
#include "core/run/context_lock.h"
#include "core/run/context_state.h"

namespace tessera {

struct ContextImpl : std::enable_shared_from_this<ContextImpl> {
  ContextImpl(const ContextOptions&, OpenBackend open, bool is_hosts);

  std::string device_name();  // for messages of callers that do not hold the lock

  const std::shared_ptr<Messages> messages;
  DroppedNodes dropped;

 private:
  friend class LockedContext;
  ContextLock lock_;
  ContextState state_;

 public:
  Background background;  // last, so that it finishes its work while the rest is alive
};

// One call into a context: holds its lock, and delivers messages once the lock is free again.
class LockedContext {
 public:
  // A closed context refuses all calls but those that only let go or ask.
  enum class Closed { refused, allowed };
  explicit LockedContext(ContextImpl&, Closed = Closed::refused);
  explicit LockedContext(const Context&, Closed = Closed::refused);
  explicit LockedContext(const Tensor&, Closed = Closed::refused);
  ~LockedContext();
  LockedContext(const LockedContext&) = delete;
  LockedContext& operator=(const LockedContext&) = delete;

  ContextState& operator*() const { return context_.state_; }
  ContextState* operator->() const { return &context_.state_; }

 private:
  ContextImpl& context_;
  std::unique_lock<ContextLock> hold_;
};

struct ContextAccess {
  static ContextImpl& impl(const Context& context) { return *context.impl_; }
  static Context make(const ContextOptions&, OpenBackend, bool is_hosts);
};

// Opens the first of the preferred backends that works, and tells why it passed over others.
std::unique_ptr<Backend> open_backend(const ContextOptions&, const MessageSink&);

}  // namespace tessera
