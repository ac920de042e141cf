#include "rankward/admission/finding.hpp"

#include <array>
#include <cstddef>

namespace rankward::admission {
namespace {

constexpr std::array<std::string_view, 4> kModeNames{"off", "audit", "warn", "enforce"};

}  // namespace

std::string_view to_string(Mode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

std::optional<Mode> mode_from_string(std::string_view text) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i)
    if (kModeNames[i] == text) return static_cast<Mode>(i);
  return std::nullopt;
}

std::span<const std::string_view> mode_names() {
  return kModeNames;
}

std::string Finding::message() const {
  std::string out = "[";
  out.append(rule).append("] ").append(what);
  if (!why.empty()) out.append(" ").append(why);
  if (!fix.empty()) out.append(" Fix: ").append(fix);
  return out;
}

}  // namespace rankward::admission
