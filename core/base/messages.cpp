#include "core/base/messages.h"

#include <array>
#include <cstdio>
#include <utility>

namespace tessera {

Messages::Messages(const ContextOptions& options)
    : callback_(options.on_message), least_(options.message_level), with_shaders_(options.log_shaders) {}

void Messages::add(Message::Level level, std::string text) {
  if (!wants(level)) return;
  const std::scoped_lock hold(lock_);
  waiting_.push_back({level, std::move(text)});
  are_waiting_ = true;
}

MessageSink Messages::sink() { return MessageSink(shared_from_this()); }

void Messages::deliver() noexcept {
  if (!are_waiting_) return;
  std::vector<Message> messages;
  {
    const std::scoped_lock hold(lock_);
    messages.swap(waiting_);
    are_waiting_ = false;
  }
  for (const Message& message : messages) {
    try {
      callback_(message);
    } catch (...) {
    }
  }
}

std::string Compilation::line(const std::string& name, std::string_view text, bool is_from_cache) const {
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began_).count();
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " in %.1f ms from %zu bytes of text", milliseconds, text.size());
  std::string line = (is_from_cache ? "from cache: " : "compile: ") + name + numbers.data();
  if (messages_.wants_shaders()) line += ":\n" + std::string(text);
  else line += '.';
  return line;
}

}  // namespace tessera
