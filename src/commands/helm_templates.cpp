#include "helm_templates.hpp"

#include <algorithm>

namespace rankward::commands {
namespace {

constexpr std::string_view kComment = "# Source: ";
constexpr std::string_view kSeparator = "---";
constexpr std::size_t kLongestName = 512;

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// A path as Helm writes it, so that nothing else of a comment comes into a report.
bool is_template_path(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("-_./").find(c) != std::string_view::npos;
         });
}

}  // namespace

HelmTemplates::HelmTemplates(std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!content.empty() && content.back() == '\r') content.remove_suffix(1);
    if (begins_with(content, kSeparator)) {
      if (!marks_.empty() && !marks_.back().name.empty()) marks_.push_back({line, {}});
    } else if (begins_with(content, kComment)) {
      content.remove_prefix(kComment.size());
      if (is_template_path(content)) marks_.push_back({line, std::string(content)});
    }
  }
}

std::string_view HelmTemplates::at(std::size_t line) const {
  const auto after =
      std::upper_bound(marks_.begin(), marks_.end(), line,
                       [](std::size_t wanted, const Mark& mark) { return wanted < mark.line; });
  return after == marks_.begin() ? std::string_view() : std::string_view((after - 1)->name);
}

}  // namespace rankward::commands
