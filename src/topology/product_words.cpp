#include "product_words.hpp"

#include <algorithm>

namespace rankward::topology {

namespace {

constexpr std::string_view kJoints = "- _";

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return upper(x) == upper(y); });
}

}  // namespace

ProductWords::ProductWords(std::string_view product) {
  while (!product.empty() && size_ < words_.size()) {
    const std::size_t end = std::min(product.find_first_of(kJoints), product.size());
    if (end > 0) words_[size_++] = product.substr(0, end);
    product.remove_prefix(std::min(end + 1, product.size()));
  }
}

bool ProductWords::has(std::span<const std::string_view> words) const {
  const std::span<const std::string_view> own(words_.data(), size_);
  return std::all_of(words.begin(), words.end(), [own](std::string_view word) {
    return word.empty() || std::any_of(own.begin(), own.end(), [word](std::string_view mine) {
             return same_letters(mine, word);
           });
  });
}

bool same_product(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const bool joint = kJoints.find(x) != std::string_view::npos;
    return joint ? kJoints.find(y) != std::string_view::npos : upper(x) == upper(y);
  });
}

}  // namespace rankward::topology
