// Copies of memory that nobody reads soon.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tessera {

// Writes to memory without reading the target into the caches first, which takes a third of a copy's traffic, and
// without driving out what they have.
inline void copy_past_caches(std::span<const std::byte> from, std::byte* to) {
#if defined(__SSE2__)
  constexpr std::size_t line = 64, vector = 16;
  const std::size_t before_line = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (from.size() > before_line + line) {
    std::memcpy(to, from.data(), before_line);
    from = from.subspan(before_line);
    to += before_line;
    for (; from.size() >= line; from = from.subspan(line), to += line)
      for (std::size_t at = 0; at < line; at += vector)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from.data() + at)));
    _mm_sfence();
  }
#endif
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace tessera
