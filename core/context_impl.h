// What a Context handle refers to.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/execute.h"
#include "core/node.h"
#include "core/pool.h"
#include "core/reader.h"

namespace tessera {

// Messages wait here until no lock is held: a host's callback may call back into tessera.
class Messages {
 public:
  explicit Messages(std::function<void(const Message&)> callback) : callback_(std::move(callback)) {}
  void add(Message::Level, std::string text);
  void deliver() noexcept;  // an exception of the host's callback stops here

 private:
  std::function<void(const Message&)> callback_;
  std::mutex lock_;
  std::vector<Message> waiting_;
};

struct ContextImpl : std::enable_shared_from_this<ContextImpl> {
  ContextImpl(std::unique_ptr<Backend>, std::shared_ptr<Messages>);

  std::mutex lock;  // held around every use of what follows; see Session
  std::shared_ptr<Messages> messages;
  std::unique_ptr<Backend> backend;
  std::shared_ptr<Pool> pool;
  PlanCache plans;
  Stats stats{};
  std::uint64_t kernels_compiled_before = 0, plans_reused_before = 0;  // the counts when the statistics were reset
  Reader reader;  // last: it finishes its work while the rest still stands
};

// One call into a context: holds its lock, and delivers messages once the lock is free again.
class Session {
 public:
  explicit Session(ContextImpl& context) : context_(context), hold_(context.lock) {}
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
  static Context context(std::shared_ptr<ContextImpl> impl) { return Context(std::move(impl)); }
};

// A context on the backend that `open` gives.
Context make_context(const ContextOptions&, const std::function<std::unique_ptr<Backend>(const MessageSink&)>& open);

// Opens the first of the preferred backends that works, and tells why others were passed over.
std::unique_ptr<Backend> open_backend(const ContextOptions&, const MessageSink&);

}  // namespace tessera
