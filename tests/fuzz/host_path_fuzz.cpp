// Host paths as people and attackers write them: cleaning changes nothing that is clean, and what a
// path is below, it stays below.
#include <string>

#include "fuzz_input.hpp"
#include "rankward/admission/host_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace admission = rankward::admission;
  using rankward::fuzz::check;
  const std::string_view path = rankward::fuzz::text_of(data, size);

  const std::string clean = admission::lexically_clean(path);
  check(!clean.empty() && clean.front() == '/');
  check(clean.size() == 1 || clean.back() != '/');
  check(clean.find("//") == std::string::npos);
  const std::string ends_marked = clean + "/";
  check(ends_marked.find("/./") == std::string::npos);
  check(ends_marked.find("/../") == std::string::npos);
  check(admission::lexically_clean(clean) == clean);
  // However it is written.
  check(admission::lexically_clean("/" + std::string(path) + "/.//") == clean);

  const std::string canonical = admission::canonical_host_path(path);
  check(admission::canonical_host_path(canonical) == canonical);
  check(admission::lexically_clean(canonical) == canonical);
  check(admission::is_within(canonical, canonical));
  check(admission::is_within(canonical, "/"));

  const std::size_t cut = path.find('\n');
  if (cut == std::string_view::npos) return 0;
  const std::string_view volume = path.substr(0, cut);
  const std::string_view sub_path = path.substr(cut + 1);
  const std::string joined = admission::join_sub_path(volume, sub_path);
  check(admission::canonical_host_path(joined) == joined);
  check(admission::join_sub_path(volume, "") == admission::canonical_host_path(volume));
  return 0;
}
