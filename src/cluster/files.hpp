// Small files, whole.
#pragma once

#include <cstddef>
#include <string>

#include "rankward/result.hpp"

namespace rankward::cluster {

// kNotFound where there is none, kTooLarge above `max_bytes`, kUnavailable where it cannot be read.
// Errors carry the path as their source.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace rankward::cluster
