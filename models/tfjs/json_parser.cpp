// Text into the values of a JsonDocument, in one pass.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
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
    bool has_more = next() != closing;
    while (has_more) {
      if (kind == Json::Kind::object) {
        if (next() != '"') fail("a name is missing");
        open_.push_back(text());
        take(':');
      }
      open_.push_back(value(depth + 1));
      ++result.count_;
      has_more = next() != closing;
      if (has_more) take(',');
    }
    ++at_;
    result.children_ = kept(first);
    return result;
  }

  const Json* kept(std::size_t first) {
    const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = open_.size() - first;
    std::vector<std::vector<Json>>& blocks = document_.blocks_;
    if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < count)
      blocks.emplace_back().reserve(std::max(block, count));
    std::vector<Json>& values = blocks.back();
    values.insert(values.end(), begin, open_.end());
    open_.erase(begin, open_.end());
    return values.data() + values.size() - count;
  }

  // Goes to the next quotation mark or backslash, or to the end: eight letters at a time, for most of a file is texts.
  void skip_plain_text() {
    constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    for (; end_ - at_ >= 8; at_ += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, at_, sizeof eight);
      // The top bit of the first byte that is the mark; those of later ones mean nothing.
      const auto places_of = [&](char mark) {
        const std::uint64_t zero_there = eight ^ (ones * static_cast<unsigned char>(mark));
        return (zero_there - ones) & ~zero_there & tops;
      };
      const std::uint64_t places = places_of('"') | places_of('\\');
      if (places == 0) continue;
      if constexpr (std::endian::native == std::endian::little) at_ += std::countr_zero(places) / 8;
      break;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
  }

  Json text() {
    const char* const first = ++at_;
    skip_plain_text();
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
};

JsonDocument::JsonDocument(onnx::Bytes bytes) {
  root_ = JsonParser(*this, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).document();
}

}  // namespace tessera::tfjs
