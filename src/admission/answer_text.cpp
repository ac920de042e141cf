#include "answer_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "rankward/admission/judge.hpp"

namespace rankward::admission {
namespace {

// The line of one finding; `told` holds the reasons and remedies that an earlier line has given.
using Told = std::set<std::pair<std::string_view, std::string_view>>;

std::string line_of(const Finding& finding, Told& told) {
  std::string out = "[";
  out.append(finding.rule).append("] ").append(finding.what);
  const bool new_why = told.emplace(finding.rule, finding.why).second;
  const bool new_fix = told.emplace(finding.rule, finding.fix).second;
  if (new_why) out.append(" ").append(finding.why);
  if (new_fix) out.append(" Fix: ").append(finding.fix);
  return out;
}

std::string more(std::size_t left) {
  return "and " + std::to_string(left) + (left == 1 ? " more finding" : " more findings");
}

// Room for the line that counts what was cut off.
constexpr std::size_t kReserve = 40;

// Pieces of at most `width` characters, cut at blanks where there are any; the following ones are
// indented.
std::vector<std::string> wrapped(std::string_view line, std::size_t width) {
  std::vector<std::string> out;
  while (!line.empty()) {
    std::string piece = out.empty() ? "" : "  ";
    const std::size_t room = width - piece.size();
    std::size_t cut = line.size();
    if (cut > room) {
      cut = line.rfind(' ', room);
      if (cut == std::string_view::npos || cut == 0) cut = room;
    }
    piece.append(line.substr(0, cut));
    line.remove_prefix(cut);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    out.push_back(std::move(piece));
  }
  return out;
}

}  // namespace

std::string denial_message(std::span<const Finding* const> denying,
                           std::span<const Finding* const> warning) {
  std::string out;
  Told told;
  std::size_t left = denying.size() + warning.size();
  const auto add = [&](const Finding& finding, std::string_view prefix) {
    std::string line(prefix);
    line += line_of(finding, told);
    const bool is_last = left == 1;
    const std::size_t room = kMessageLength - (is_last ? 0 : kReserve);
    if (!out.empty() && out.size() + 1 + line.size() > room) return false;
    if (!out.empty()) out += '\n';
    out += line;
    --left;
    return true;
  };
  for (const Finding* finding : denying)
    if (!add(*finding, "")) return out + "\n" + more(left);
  for (const Finding* finding : warning)
    if (!add(*finding, "Warning: ")) return out + "\n" + more(left);
  return out;
}

std::vector<std::string> warning_lines(std::string_view heading,
                                       std::span<const Finding* const> findings) {
  std::vector<std::string> out;
  std::size_t length = 0;
  Told told;
  std::size_t left = findings.size();
  const auto add = [&](std::string_view line) {
    std::vector<std::string> pieces = wrapped(line, kWarningLength);
    std::size_t more_length = 0;
    for (const std::string& piece : pieces)
      more_length += piece.size();
    if (length + more_length + kReserve > kWarningsLength) return false;
    length += more_length;
    for (std::string& piece : pieces)
      out.push_back(std::move(piece));
    return true;
  };
  if (findings.empty()) return out;
  if (!heading.empty()) add(heading);
  for (const Finding* finding : findings) {
    if (!add(line_of(*finding, told))) {
      out.push_back(more(left));
      return out;
    }
    --left;
  }
  return out;
}

}  // namespace rankward::admission
