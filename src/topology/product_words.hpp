// Product names as GFD ("NVIDIA-H100-80GB-HBM3") and NVML ("NVIDIA H100 80GB HBM3") write them.
#pragma once

#include <span>
#include <string_view>

namespace rankward::topology {

// True where each of the words stands in the product name as a whole word, whatever its case:
// "A100" is not in "A100X", "H20" not in "H200".
[[nodiscard]] bool has_words(std::string_view product, std::span<const std::string_view> words);

}  // namespace rankward::topology
