// Product names as GFD ("NVIDIA-H100-80GB-HBM3") and NVML ("NVIDIA H100 80GB HBM3") write them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace rankward::topology {

// The words of one product name, split at blanks, '-' and '_'. A view: the name has to outlive it.
class ProductWords {
 public:
  explicit ProductWords(std::string_view product);

  // True where each of the words is among these whole words, whatever its case: "A100" is not in
  // "A100X", "H20" not in "H200". Empty words count as found.
  [[nodiscard]] bool has(std::span<const std::string_view> words) const;

 private:
  // The longest names known have 7 words; what is beyond tells no models apart.
  std::array<std::string_view, 12> words_;
  std::size_t size_ = 0;
};

// Whether two names differ only in case and in how their words are joined.
[[nodiscard]] bool same_product(std::string_view a, std::string_view b);

}  // namespace rankward::topology
