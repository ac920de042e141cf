#include "rankward/admission/host_path.hpp"

#include <algorithm>
#include <vector>

namespace rankward::admission {
namespace {

using Segments = std::vector<std::string_view>;

// Calls `push` for each segment that names something and `pop` for each `..`.
template <class Push, class Pop>
void walk(std::string_view path, Push push, Pop pop) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      pop();
    } else {
      push(segment);
    }
  }
}

void pop_segment(Segments& segments) {
  if (!segments.empty()) segments.pop_back();
}

std::string join(const Segments& segments) {
  if (segments.empty()) return "/";
  std::string out;
  for (const std::string_view segment : segments)
    out.append("/").append(segment);
  return out;
}

bool is_process_name(std::string_view segment) {
  return segment == "self" || segment == "thread-self" ||
         (!segment.empty() &&
          std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

// Replaces what the segments so far are another name of. /proc/PID/root is the root that the
// process sees, and the runtime mounts as a process whose root is the host's.
void resolve_alias(Segments& segments) {
  if (segments.size() == 2 && segments[0] == "var" && segments[1] == "run") {
    segments.erase(segments.begin());
    return;
  }
  const bool of_process = segments.size() == 3;
  const bool of_thread = segments.size() == 5 && segments[2] == "task";
  if ((of_process || of_thread) && segments[0] == "proc" && is_process_name(segments[1]) &&
      (segments.back() == "root" || segments.back() == "cwd"))
    segments.clear();
}

}  // namespace

std::string lexically_clean(std::string_view path) {
  Segments segments;
  walk(
      path, [&](std::string_view segment) { segments.push_back(segment); },
      [&] { pop_segment(segments); });
  return join(segments);
}

std::string canonical_host_path(std::string_view path) {
  Segments segments;
  walk(
      path,
      [&](std::string_view segment) {
        segments.push_back(segment);
        resolve_alias(segments);
      },
      [&] { pop_segment(segments); });
  return join(segments);
}

std::string join_sub_path(std::string_view volume_path, std::string_view sub_path) {
  std::string joined(volume_path);
  joined.append("/").append(sub_path);
  return canonical_host_path(joined);
}

bool is_within(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return true;
  return path.substr(0, ancestor.size()) == ancestor &&
         (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

}  // namespace rankward::admission
