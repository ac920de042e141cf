#include "node_names.hpp"

#include <bit>
#include <functional>

namespace rankward::placement {

void NodeNames::add(std::string_view name) {
  letters_ += name;
  ends_.push_back(static_cast<std::uint32_t>(letters_.size()));
}

void NodeNames::close() {
  const auto count = static_cast<std::uint32_t>(ends_.size() - 1);
  slots_.assign(std::bit_ceil(std::size_t{2} * count + 1), {});
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::size_t hash = std::hash<std::string_view>{}(name(number));
    std::size_t at = hash & mask;
    while (slots_[at].number != 0)
      at = (at + 1) & mask;
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), number + 1};
  }
}

std::optional<std::uint32_t> NodeNames::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  const std::size_t hash = std::hash<std::string_view>{}(name);
  for (std::size_t at = hash & mask; slots_[at].number != 0; at = (at + 1) & mask) {
    const std::uint32_t number = slots_[at].number - 1;
    if (slots_[at].hash == hash >> 32U && this->name(number) == name) return number;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> NodeNames::find(std::string_view name, std::uint32_t guess) const {
  if (guess < ends_.size() - 1 && this->name(guess) == name) return guess;
  return find(name);
}

}  // namespace rankward::placement
