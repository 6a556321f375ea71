// The parameters of kernels, by name: declared once, written by operations, read by shaders and by the host.
//
//   struct RollParameters {
//     Unsigned size, distance;
//     TESSERA_PARAMETERS(size, distance);
//   };
//
// Shaders write `parameters.size`, see core/kernel/parameter_text.h; words_of() gives the 32-bit words of such a struct
// in the order of the names, from_words() the struct again. A member is Unsigned, Signed or a float, another such
// struct, a std::array of them or, as the last one of all, a std::vector, which has the words that are left. Options
// are alike.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/sizes.h"

namespace tessera {

// A whole number: 32 bits for a kernel, 64 for the host, where no product wraps.
template <class Bits>
struct WholeWord {
  WholeWord() = default;
  WholeWord(std::int64_t value) : bits(static_cast<Bits>(word_of(value))) {}
  operator std::int64_t() const { return bits; }

  Bits bits = 0;
};
using Unsigned = WholeWord<std::uint32_t>;
using Signed = WholeWord<std::int32_t>;

#define TESSERA_PARAMETERS(...)                          \
  auto members() { return std::tie(__VA_ARGS__); }       \
  auto members() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view member_names = #__VA_ARGS__

struct NoParameters {
  TESSERA_PARAMETERS();
};

template <class T>
concept ParameterWord = std::same_as<T, Unsigned> || std::same_as<T, Signed> || std::same_as<T, float>;
template <class T>
concept ParameterStruct = requires(T value) {
  value.members();
};
template <class T>
concept ParameterVector = std::same_as<T, std::vector<typename T::value_type>>;

template <ParameterStruct T, class Visit>
void for_each_member(T& value, const Visit& visit) {
  const auto visit_all = [&](auto&... member) {
    static_assert(sizeof...(member) == 0 || sizeof(T) < (sizeof(member) + ... + alignof(T)), "A member has no name.");
    (visit(member), ...);
  };
  std::apply(visit_all, value.members());
}

template <class T>
void append_words(std::vector<std::uint32_t>& words, const T& value) {
  if constexpr (ParameterWord<T>) words.push_back(std::bit_cast<std::uint32_t>(value));
  else if constexpr (ParameterStruct<T>)
    for_each_member(value, [&](const auto& member) { append_words(words, member); });
  else
    for (const auto& element : value) append_words(words, element);
}

template <ParameterStruct T>
std::vector<std::uint32_t> words_of(const T& parameters) {
  std::vector<std::uint32_t> words;
  append_words(words, parameters);
  return words;
}

template <class T>
void take_words(std::span<const std::uint32_t>& words, T& value) {
  if constexpr (ParameterWord<T>) {
    if (words.empty()) throw std::logic_error("A kernel has fewer words than its parameters.");
    value = std::bit_cast<T>(words.front());
    words = words.subspan(1);
  } else if constexpr (ParameterStruct<T>) {
    for_each_member(value, [&](auto& member) { take_words(words, member); });
  } else if constexpr (ParameterVector<T>) {
    while (!words.empty()) take_words(words, value.emplace_back());
  } else {
    for (auto& element : value) take_words(words, element);
  }
}

template <ParameterStruct T>
T from_words(std::span<const std::uint32_t> words) {
  T parameters{};
  take_words(words, parameters);
  if (!words.empty()) throw std::logic_error("A kernel has more words than its parameters.");
  return parameters;
}

// from_words() for options, which kernels have as signed numbers.
template <ParameterStruct T>
T from_options(std::span<const std::int32_t> options) {
  return from_words<T>(std::vector<std::uint32_t>(options.begin(), options.end()));
}

// The place of a parameter among the words, and how shaders read it.
struct Parameter {
  std::string path;                  // with empty brackets: "axes[].stride"
  std::size_t word = 0;              // of the first element, where there are brackets
  std::vector<std::size_t> strides;  // for each pair of brackets: words from one element to the next
  std::string_view reader;           // the function that reads it: "core_word", "core_int", "core_float"
};

class ParameterList {
 public:
  template <ParameterStruct T>
  static const ParameterList& of() {
    static const ParameterList list = [] {
      ParameterList parameters;
      parameters.add<T>({});
      return parameters;
    }();
    return list;
  }

  std::span<const Parameter> all() const { return parameters_; }

 private:
  // Adds all parameters of a T, which has this name and place.
  template <class T>
  void add(Parameter place) {
    if (has_vector_) throw std::logic_error("The parameter " + place.path + " follows a vector, which has all words.");
    if constexpr (ParameterWord<T>) {
      place.reader = std::same_as<T, Unsigned> ? "core_word" : std::same_as<T, Signed> ? "core_int" : "core_float";
      parameters_.push_back(std::move(place));
    } else if constexpr (ParameterStruct<T>) {
      std::string_view names = T::member_names;
      const T members{};
      for_each_member(members, [&]<class Member>(const Member& member) {
        const std::string dot = place.path.empty() ? "" : ".";
        add<Member>({place.path + dot + taken_name(names), place.word, place.strides, {}});
        place.word += word_count(member);
      });
    } else {
      using Element = typename T::value_type;
      place.path += "[]";
      place.strides.push_back(word_count(Element{}));
      add<Element>(std::move(place));
      has_vector_ = ParameterVector<T>;
    }
  }

  template <class T>
  static std::size_t word_count(const T& value) {
    std::vector<std::uint32_t> words;
    append_words(words, value);
    return words.size();
  }

  // Takes the first name off the list.
  static std::string taken_name(std::string_view& names) {
    const std::string name(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(names.size(), name.size() + 2));
    return name;
  }

  std::vector<Parameter> parameters_;
  bool has_vector_ = false;
};

}  // namespace tessera
