#include "findings_github.hpp"

#include "rankward/net/percent_encoding.hpp"

namespace rankward::commands {
namespace {

std::string escaped(std::string_view text, std::string_view special) {
  return net::percent_encoded(
      text, [special](char c) { return special.find(c) == std::string_view::npos; });
}

std::string_view command_of(admission::Mode mode) {
  switch (mode) {
    case admission::Mode::kEnforce:
      return "error";
    case admission::Mode::kWarn:
      return "warning";
    default:
      return "notice";
  }
}

// Standard input is no file that an annotation could stand at.
std::string place(std::string_view file, std::size_t line) {
  if (file.empty() || file == "-" || file == "standard input") return {};
  std::string out = "file=" + escaped_property(file) + ",";
  if (line != 0) out += "line=" + std::to_string(line) + ",";
  return out;
}

}  // namespace

std::string escaped_data(std::string_view text) {
  return escaped(text, "%\r\n");
}

std::string escaped_property(std::string_view text) {
  return escaped(text, "%\r\n:,");
}

std::string findings_github(const FindingsReport& report) {
  std::string out;
  for (const LocatedFinding& found : report.standing) {
    std::string text = found.finding.message();
    if (!found.fix_hint.empty()) text += "\n\n" + found.fix_hint;
    out.append("::").append(command_of(found.finding.mode)).append(" ");
    out += place(found.file, found.line);
    out += "title=" + escaped_property(std::string(found.finding.rule) + " " + found.object());
    out += "::" + escaped_data(text) + "\n";
  }
  for (const Error& why : report.unreadable) {
    out += "::error " + place(why.source(), why.line().value_or(0)) + "title=unreadable::";
    out += escaped_data(why.to_string()) + "\n";
  }
  return out;
}

}  // namespace rankward::commands
