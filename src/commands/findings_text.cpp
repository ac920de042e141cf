#include "findings_text.hpp"

#include <ostream>
#include <string_view>

namespace rankward::commands {
namespace {

std::string place_of(const LocatedFinding& found) {
  return found.file + ":" + std::to_string(found.line);
}

std::string object_of(const LocatedFinding& found) {
  if (found.helm_template.empty()) return found.object();
  return found.object() + " (" + found.helm_template + ")";
}

void print_indented(std::string_view lines, std::string_view indent, const Console& console) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    console.out << indent << console.paint(Colour::kFaint, lines.substr(0, end)) << '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace

Colour colour_of(admission::Mode mode) {
  switch (mode) {
    case admission::Mode::kEnforce:
      return Colour::kRed;
    case admission::Mode::kWarn:
      return Colour::kYellow;
    default:
      return Colour::kFaint;
  }
}

void print_unreadable(const FindingsReport& report, const Console& console) {
  for (const Error& why : report.unreadable) {
    console.err << console.paint(Colour::kRed, "unreadable") << ": " << why.to_string() << '\n';
  }
}

void print_counts(const FindingsReport& report, const Console& console) {
  const ObjectCounts& counts = report.counts;
  std::string line = counted(counts.judged, "object") +
                     " checked: " + std::to_string(counts.denied) + " denied, " +
                     std::to_string(counts.warned) + " with warnings, " +
                     std::to_string(counts.clean()) + " clean";
  if (!report.exempt.empty()) line += "; " + counted(report.exempt.size(), "exempt finding");
  if (counts.excluded != 0) {
    line += "; " + counted(counts.excluded, "object") + " in excluded namespaces";
  }
  if (counts.not_judged != 0) {
    line += "; " + counted(counts.not_judged, "object") + " not judged: no pods are made of " +
            (counts.not_judged == 1 ? "it" : "them");
  }
  console.out << line << '\n';
}

void print_text(const FindingsReport& report, const Console& console) {
  for (const LocatedFinding& found : report.standing) {
    const admission::Mode mode = found.finding.mode;
    console.out << place_of(found) << ": " << console.paint(colour_of(mode), outcome_of(mode))
                << ": " << object_of(found) << ": " << found.finding.message() << '\n';
    print_indented(found.fix_hint, "    ", console);
  }
  print_unreadable(report, console);
  print_counts(report, console);
}

void print_table(const FindingsReport& report, const Console& console) {
  Table table({"PLACE", "OBJECT", "RULE", "OUTCOME", "FINDING"});
  for (const LocatedFinding& found : report.standing) {
    const admission::Mode mode = found.finding.mode;
    table.add({{place_of(found)},
               {object_of(found)},
               {std::string(found.finding.rule)},
               {std::string(outcome_of(mode)), colour_of(mode)},
               {found.finding.what}});
  }
  if (!report.standing.empty()) table.print(console);
  print_unreadable(report, console);
  print_counts(report, console);
}

}  // namespace rankward::commands
