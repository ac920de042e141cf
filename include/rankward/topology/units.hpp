// Units carried in types, so that MiB, GiB and GB can never be mixed up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace rankward::topology {

// Memory or message size. GiB is 2^30, GB is 1e9; messages show both.
struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
};
inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
inline constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

// "9.75 GiB (10.47 GB)"
[[nodiscard]] std::string to_string(Bytes bytes);

// One direction, 1e9 bytes a second. Infinite where nothing has to be sent.
struct GigabytesPerSecond {
  double value = 0;
  friend auto operator<=>(GigabytesPerSecond, GigabytesPerSecond) = default;
};

struct Seconds {
  double value = 0;
  friend auto operator<=>(Seconds, Seconds) = default;
};

}  // namespace rankward::topology
