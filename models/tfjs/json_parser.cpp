// Text into the values of a JsonDocument, in one pass.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "models/tfjs/json.h"

namespace tessera::tfjs {

class JsonParser {
 public:
  JsonParser(JsonDocument& document, std::string_view file)
      : document_(document), begin_(file.data()), at_(begin_), end_(begin_ + file.size()) {}

  Json document() {
    const Json root = value(0);
    skip_spaces();
    if (at_ != end_) fail("something follows its end");
    return root;
  }

 private:
  static constexpr int deepest = 256;
  static constexpr std::size_t block = 4096;

  [[noreturn]] void fail(const char* why) const {
    fail_reading(std::string("it is no JSON: ") + why + ", at byte " + std::to_string(at_ - begin_) + ".");
  }

  void skip_spaces() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  char next() {  // which is no space, and is looked at again
    skip_spaces();
    if (at_ == end_) fail("it ends too early");
    return *at_;
  }
  void take(char wanted) {
    if (next() != wanted) fail("a mark is missing");
    ++at_;
  }
  bool takes(std::string_view word) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > deepest) fail("it is too deep");
    Json result;
    switch (next()) {
      case '{': return children(depth, '}', Json::Kind::object);
      case '[': return children(depth, ']', Json::Kind::list);
      case '"': return text();
      case 't':
      case 'f':
        result.kind_ = Json::Kind::truth;
        result.whole_ = *at_ == 't';
        if (!takes(*at_ == 't' ? "true" : "false")) fail("there is no such word");
        return result;
      case 'n':
        if (!takes("null")) fail("there is no such word");
        return result;
      default: return number();
    }
  }

  // Those that are open wait in one list for all depths.
  Json children(int depth, char closing, Json::Kind kind) {
    ++at_;
    const std::size_t first = open_.size();
    Json result;
    result.kind_ = kind;
    for (bool is_first = true; next() != closing; is_first = false) {
      if (!is_first) take(',');
      if (kind == Json::Kind::object) {
        if (next() != '"') fail("a name is missing");
        open_.push_back(text());
        take(':');
      }
      open_.push_back(value(depth + 1));
      ++result.count_;
    }
    ++at_;
    result.children_ = kept(first);
    return result;
  }

  const Json* kept(std::size_t first) {
    const std::size_t count = open_.size() - first;
    if (room_ < count) {
      room_ = std::max(block, count);
      document_.blocks_.push_back(std::make_unique<Json[]>(room_));
      free_ = document_.blocks_.back().get();
    }
    Json* const begin = free_;
    free_ = std::copy(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end(), begin);
    room_ -= count;
    open_.resize(first);
    return begin;
  }

  Json text() {
    const char* const first = ++at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    if (at_ == end_) fail("a text has no end");
    Json result;
    result.kind_ = Json::Kind::text;
    result.text_ = first;
    result.count_ = static_cast<std::size_t>(at_ - first);
    if (*at_ == '\\') {
      const std::string& whole = document_.texts_.emplace_back(unescaped(first));
      result.text_ = whole.data();
      result.count_ = whole.size();
    }
    ++at_;
    return result;
  }

  // Texts with escaped letters are few.
  std::string unescaped(const char* first) {
    while (at_ != end_ && *at_ != '"') at_ += *at_ == '\\' && at_ + 1 != end_ ? 2 : 1;
    if (at_ == end_) fail("a text has no end");
    return read_by_nlohmann<std::string>(first - 1, at_ + 1);
  }

  Json number() {
    const char* const first = at_;
    bool is_whole = true;
    for (; at_ != end_ &&
           (*at_ == '-' || *at_ == '+' || *at_ == '.' || (*at_ | 0x20) == 'e' || (*at_ >= '0' && *at_ <= '9'));
         ++at_)
      is_whole = is_whole && *at_ != '.' && (*at_ | 0x20) != 'e';
    Json result;
    result.kind_ = Json::Kind::whole;
    const auto [end, error] = std::from_chars(first, at_, result.whole_);
    if (is_whole && error == std::errc{} && end == at_) return result;
    if (first == at_) fail("there is no such value");
    result.kind_ = Json::Kind::number;
    result.number_ = read_by_nlohmann<double>(first, at_);  // whatever the host's locale is
    return result;
  }

  template <class T>
  T read_by_nlohmann(const char* first, const char* last) const {
    const nlohmann::json value = nlohmann::json::parse(first, last, nullptr, false);
    if (!(std::is_same_v<T, double> ? value.is_number() : value.is_string())) fail("there is no such value");
    return value.get<T>();
  }

  JsonDocument& document_;
  const char *begin_, *at_, *end_;
  std::vector<Json> open_;
  Json* free_ = nullptr;
  std::size_t room_ = 0;
};

JsonDocument::JsonDocument(onnx::Bytes bytes) {
  root_ = JsonParser(*this, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).document();
}

}  // namespace tessera::tfjs
