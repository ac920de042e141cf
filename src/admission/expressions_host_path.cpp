#include "expressions_host_path.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "expressions_text.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kProcess = "/proc/(self|thread-self|[0-9]+)";

// Each segment of `pattern` and what closes it.
std::string path_pattern(std::string_view pattern, bool and_below) {
  if (pattern == "/") return and_below ? "^/" : "^/$";
  return "^" + cel::glob_pattern(pattern, "[^/]*") + (and_below ? "/" : "/$");
}

std::string_view take_segment(std::string_view& pattern) {
  pattern.remove_prefix(1);
  const std::string_view segment = pattern.substr(0, pattern.find('/'));
  pattern.remove_prefix(segment.size());
  return segment;
}

// Whether one name can match both; may err on the side of yes.
bool may_be_equal(std::string_view a, std::string_view b) {
  const std::size_t fixed = std::min({a.find('*'), b.find('*'), a.size(), b.size()});
  const bool open = a.find('*') != std::string_view::npos || b.find('*') != std::string_view::npos;
  return a.substr(0, fixed) == b.substr(0, fixed) && (open || a.size() == b.size());
}

// Whether one path can be in both; may err on the side of yes.
bool may_overlap(const HostPathEntry& a, const HostPathEntry& b) {
  std::string_view first = a.pattern == "/" ? std::string_view() : a.pattern;
  std::string_view second = b.pattern == "/" ? std::string_view() : b.pattern;
  while (!first.empty() && !second.empty())
    if (!may_be_equal(take_segment(first), take_segment(second))) return false;
  return (first.empty() || b.and_below) && (second.empty() || a.and_below);
}

void add_ancestors(std::string_view pattern, std::set<std::string>& out) {
  while (pattern != "/") {
    const std::size_t slash = pattern.rfind('/');
    if (slash == std::string_view::npos) return;
    pattern = slash == 0 ? "/" : pattern.substr(0, slash);
    out.insert(path_pattern(pattern, false));
  }
}

std::string joined(const std::vector<std::string>& patterns) {
  // They all begin with ^, which is said once.
  std::vector<std::string> rest;
  rest.reserve(patterns.size());
  for (const std::string& pattern : patterns)
    rest.push_back(pattern.substr(1));
  return rest.empty() ? std::string() : "^(" + cel::alternatives(rest) + ")";
}

// Entries by which an earlier one, of another kind, is not overruled.
void add_overruled(const HostPathEntry& entry, std::initializer_list<HostPathKind> kinds,
                   std::vector<std::string>& out) {
  for (const HostPathEntry& earlier : host_path_entries()) {
    if (&earlier == &entry) return;
    const bool other = std::find(kinds.begin(), kinds.end(), earlier.kind) == kinds.end();
    if (!other || !may_overlap(earlier, entry)) continue;
    std::string pattern = path_pattern(earlier.pattern, earlier.and_below);
    if (std::find(out.begin(), out.end(), pattern) == out.end()) out.push_back(std::move(pattern));
  }
}

}  // namespace

HostPathPattern host_path_pattern(std::initializer_list<HostPathKind> kinds, const Policy& policy) {
  std::vector<std::string> is;
  std::vector<std::string> is_not;
  std::set<std::string> below;
  const auto wanted = [&](HostPathKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  for (const HostPathEntry& entry : host_path_entries()) {
    if (!wanted(entry.kind)) continue;
    is.push_back(path_pattern(entry.pattern, entry.and_below));
    add_overruled(entry, kinds, is_not);
    add_ancestors(entry.pattern, below);
  }
  if (wanted(HostPathKind::kDeviceNode)) {
    for (const VendorOption& vendor : policy.options().vendors) {
      for (const std::string& path : vendor.device_paths) {
        is.push_back(path_pattern(path, true));
        add_ancestors(path, below);
      }
    }
  }
  // /proc/PID holds the link to the whole node, so everything can lie below it.
  const std::string process = "^" + std::string(kProcess) + "(/task(/[^/]+)?)?/$";
  if (wanted(HostPathKind::kHostRoot)) is.push_back(process);
  if (!below.empty()) below.insert({"^/proc/$", process});
  return {joined(is), joined(is_not), joined({below.begin(), below.end()})};
}

std::string known_root_pattern(const Policy& policy) {
  std::vector<std::string> roots{"$"};
  const auto add = [&](std::string_view pattern) {
    if (pattern == "/") return;
    std::string root = cel::glob_pattern(take_segment(pattern), "[^/]*") + "/";
    if (std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(std::move(root));
  };
  for (const HostPathEntry& entry : host_path_entries())
    add(entry.pattern);
  for (const VendorOption& vendor : policy.options().vendors)
    for (const std::string& path : vendor.device_paths)
      add(path);
  return "^/(" + cel::alternatives(roots) + ")";
}

std::string_view process_root_pattern() {
  static const std::string kPattern = "^(" + std::string(kProcess) + "(/task/[^/]+)?/(root|cwd))*/";
  return kPattern;
}

}  // namespace rankward::admission
