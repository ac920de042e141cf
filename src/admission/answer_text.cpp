#include "answer_text.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "rankward/admission/judge.hpp"

namespace rankward::admission {
namespace {

// How much of each finding is told, where there is not room for all of it.
enum class Detail : std::uint8_t { kAll, kWithoutReason, kBare };

// Reasons and remedies that an earlier line has given.
using Told = std::set<std::pair<std::string_view, std::string_view>>;

std::string line_of(const Finding& finding, Detail detail, Told& told) {
  std::string out = "[";
  out.append(finding.rule).append("] ").append(finding.what);
  if (detail == Detail::kAll && told.emplace(finding.rule, finding.why).second)
    out.append(" ").append(finding.why);
  if (detail != Detail::kBare && told.emplace(finding.rule, finding.fix).second)
    out.append(" Fix: ").append(finding.fix);
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

struct Lines {
  std::string text;
  std::size_t left = 0;  // findings that did not fit
};

Lines lines_of(std::span<const Finding* const> denying, std::span<const Finding* const> warning,
               Detail detail) {
  Lines out;
  out.left = denying.size() + warning.size();
  Told told;
  const auto add = [&](const Finding& finding, std::string_view prefix) {
    std::string line(out.text.empty() ? "" : "\n");
    line.append(prefix).append(line_of(finding, detail, told));
    const std::size_t room = kMessageLength - (out.left == 1 ? 0 : kReserve);
    if (!out.text.empty() && out.text.size() + line.size() > room) return false;
    out.text += line;
    --out.left;
    return true;
  };
  for (const Finding* finding : denying)
    if (!add(*finding, "")) return out;
  for (const Finding* finding : warning)
    if (!add(*finding, "Warning: ")) return out;
  return out;
}

}  // namespace

std::string denial_message(std::span<const Finding* const> denying,
                           std::span<const Finding* const> warning) {
  for (const Detail detail : {Detail::kAll, Detail::kWithoutReason}) {
    const Lines lines = lines_of(denying, warning, detail);
    if (lines.left == 0) return lines.text;
  }
  const Lines lines = lines_of(denying, warning, Detail::kBare);
  return lines.left == 0 ? lines.text : lines.text + "\n" + more(lines.left);
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
    if (!add(line_of(*finding, Detail::kAll, told))) {
      out.push_back(more(left));
      return out;
    }
    --left;
  }
  return out;
}

}  // namespace rankward::admission
