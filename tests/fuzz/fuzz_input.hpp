// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace rankward::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A broken promise is a crash, which is what libFuzzer looks for.
inline void check(bool promise) {
  if (!promise) std::abort();
}

// Whether a view lies inside a text, as views that readers give must.
inline bool inside(std::string_view view, std::string_view text) {
  return view.empty() ||
         (view.data() >= text.data() && view.data() + view.size() <= text.data() + text.size());
}

}  // namespace rankward::fuzz
