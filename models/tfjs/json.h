// A JSON document that nobody vouches for. Texts are those of the file itself where nothing in them is escaped, and
// values lie one after the other: reading a model costs little more than looking at its bytes.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "models/wire.h"

namespace tessera::tfjs {

// A value of a document, which lives as long as that.
class Json {
 public:
  enum class Kind : std::uint8_t { null, truth, whole, number, text, list, object };

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_string() const { return kind_ == Kind::text; }
  bool is_array() const { return kind_ == Kind::list; }
  bool is_object() const { return kind_ == Kind::object; }

  // Of their own kinds only.
  bool truth() const { return whole_ != 0; }
  std::int64_t whole() const { return whole_; }
  double number() const { return number_; }
  std::string_view view() const { return {text_, count_}; }
  std::string text() const { return std::string(view()); }

  // The elements of a list; other values have none.
  const Json* begin() const { return is_array() ? children_ : nullptr; }
  const Json* end() const { return is_array() ? children_ + count_ : nullptr; }
  std::size_t size() const { return is_array() ? count_ : 0; }
  bool empty() const { return size() == 0; }
  const Json& operator[](std::size_t i) const { return children_[i]; }

  // The members of an object, in the order of the file; other values have none.
  struct Member {
    std::string_view name;
    const Json& value;
  };
  class Members {
   public:
    explicit Members(const Json& object) : object_(object) {}
    struct Iterator {
      const Json* at;
      Member operator*() const { return {at[0].view(), at[1]}; }
      Iterator& operator++() {
        at += 2;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return at != other.at; }
    };
    std::size_t size() const { return object_.is_object() ? object_.count_ : 0; }
    Iterator begin() const { return {object_.is_object() ? object_.children_ : nullptr}; }
    Iterator end() const { return {object_.is_object() ? object_.children_ + 2 * object_.count_ : nullptr}; }

   private:
    const Json& object_;
  };
  Members items() const { return Members(*this); }
  const Json* find(std::string_view name) const;  // the last one of that name, null where there is none

 private:
  friend class JsonParser;
  Kind kind_ = Kind::null;
  std::size_t count_ = 0;  // letters, elements or members
  union {
    std::int64_t whole_ = 0;
    double number_;
    const char* text_;
    const Json* children_;  // of an object names and values in turns
  };
};

class JsonDocument {
 public:
  explicit JsonDocument(onnx::Bytes);  // which the document refers to. Throws io where it is no JSON
  const Json& root() const { return root_; }

 private:
  friend class JsonParser;
  std::vector<std::vector<Json>> blocks_;  // which never grow beyond what they have reserved
  std::deque<std::string> texts_;          // those with escaped letters
  Json root_;
};

// One that is not of the kind that is asked for is an io error.
const Json* member(const Json& object, std::string_view name);  // null where it is not there, or null itself
const Json& needed(const Json& object, std::string_view name);
const Json& list_in(const Json& object, std::string_view name);

// Names a value for an error: {"the shape of the weight", name}. The words are put together where there is one.
class What {
 public:
  What(std::string_view words) : words_(words) {}
  What(const std::string& words) : words_(words) {}
  What(const char* words) : words_(words) {}
  What(std::string_view words, std::string_view name) : words_(words), name_(name), has_name_(true) {}

  std::string text() const;

 private:
  std::string_view words_, name_;
  bool has_name_ = false;
};

// Whole numbers may be texts, as JSON of 64-bit integers is.
std::int64_t whole_number(const Json&, const What&);
std::int64_t whole_number(std::string_view digits, const What&);
double number(const Json&, const What&);  // also "NaN", "Infinity" and "-Infinity"
std::string text(const Json&, const What&);
std::string_view view(const Json&, const What&);  // of a text in the document
bool truth(const Json&, const What&);
std::vector<std::int64_t> whole_numbers(const Json&, const What&);

[[noreturn]] void fail_reading(const std::string& sentence);

}  // namespace tessera::tfjs
