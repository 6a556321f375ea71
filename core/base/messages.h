// The messages of a context to its host. A log that nobody wants costs nothing: its texts are not made.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/context.h>

namespace tessera {

class MessageSink;

// Messages wait here until no lock is held: a host's callback may call back into tessera. Any thread may add.
class Messages : public std::enable_shared_from_this<Messages> {
 public:
  explicit Messages(const ContextOptions&);

  bool wants(Message::Level level) const { return callback_ && level >= least_; }
  bool wants_shaders() const { return with_shaders_; }
  void add(Message::Level, std::string text);
  template <class Text>
  void debug(const Text& text) {  // a function that gives the text
    if (wants(Message::Level::debug)) add(Message::Level::debug, text());
  }
  MessageSink sink();       // adds to these
  void deliver() noexcept;  // an exception of the host's callback stops here

 private:
  const std::function<void(const Message&)> callback_;
  const Message::Level least_;
  const bool with_shaders_;
  std::mutex lock_;
  std::vector<Message> waiting_;
  std::atomic<bool> are_waiting_ = false;
};

// Takes messages of code that does not know the context. An empty sink drops them.
class MessageSink {
 public:
  MessageSink() = default;
  explicit MessageSink(std::shared_ptr<Messages> messages) : messages_(std::move(messages)) {}

  void operator()(Message::Level level, std::string text) const {
    if (messages_) messages_->add(level, std::move(text));
  }
  template <class Text>
  void debug(const Text& text) const {
    if (messages_) messages_->debug(text);
  }
  bool wants_shaders() const { return messages_ && messages_->wants_shaders(); }

 private:
  std::shared_ptr<Messages> messages_;
};

// One kernel on its way through a driver's compiler, for the log.
class Compilation {
 public:
  explicit Compilation(const MessageSink& messages) : messages_(messages) {}

  // `name` gives what was compiled, or came from the cache on disk, for people.
  template <class Name>
  void succeeded(const Name& name, std::string_view text, bool is_from_cache) const {
    messages_.debug([&] { return line(name(), text, is_from_cache); });
  }

 private:
  std::string line(const std::string& name, std::string_view text, bool is_from_cache) const;

  const MessageSink& messages_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace tessera
