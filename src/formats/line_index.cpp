#include <algorithm>

#include "rankward/formats/documents.hpp"

namespace rankward::formats {
namespace {

// Takes the first part off a path: `spec`, `[0]`, `["a/b"]`. Empty at the end or where the path is
// malformed.
std::string_view take_segment(std::string_view& path) {
  if (!path.empty() && path.front() == '.') path.remove_prefix(1);
  std::string_view segment;
  if (path.substr(0, 2) == "[\"") {
    const std::size_t end = path.find("\"]");
    if (end == std::string_view::npos || end < 2) return {};
    segment = path.substr(2, end - 2);
    path.remove_prefix(end + 2);
  } else if (!path.empty() && path.front() == '[') {
    const std::size_t end = path.find(']');
    if (end == std::string_view::npos) return {};
    segment = path.substr(1, end - 1);
    path.remove_prefix(end + 1);
  } else {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    segment = path.substr(0, end);
    path.remove_prefix(end);
  }
  return segment;
}

}  // namespace

std::uint32_t LineIndex::add(std::uint32_t parent, std::string_view key, std::size_t line) {
  const auto number = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({std::string(key), static_cast<std::uint32_t>(line), 0, 0, 0});
  Entry& above = entries_[parent];
  if (above.first_child == 0) {
    above.first_child = number;
  } else {
    entries_[above.last_child].next = number;
  }
  above.last_child = number;
  return number;
}

std::uint32_t LineIndex::child(std::uint32_t parent, std::string_view key) const {
  std::uint32_t at = entries_[parent].first_child;
  while (at != 0 && entries_[at].key != key)
    at = entries_[at].next;
  return at;
}

std::optional<std::size_t> LineIndex::line_of(std::string_view field_path) const {
  std::uint32_t at = kRoot;
  while (!field_path.empty()) {
    const std::uint32_t below = child(at, take_segment(field_path));
    if (below == 0) break;
    at = below;
  }
  if (at == kRoot) return {};
  return entries_[at].line;
}

}  // namespace rankward::formats
