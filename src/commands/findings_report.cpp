#include "findings_report.hpp"

#include "rankward/admission/rules.hpp"

namespace rankward::commands {

std::string LocatedFinding::object() const {
  return kind + " " + (namespace_.empty() ? name : namespace_ + "/" + name);
}

std::string_view outcome_of(admission::Mode mode) {
  switch (mode) {
    case admission::Mode::kEnforce:
      return "denied";
    case admission::Mode::kWarn:
      return "warning";
    case admission::Mode::kAudit:
    case admission::Mode::kOff:
      break;
  }
  return "audit";
}

std::string documentation_of(std::string_view rule) {
  const admission::RuleInfo* info = admission::find_rule(rule);
  return "https://rankward.io/docs/rules.md" + (info == nullptr ? "" : "#" + info->anchor());
}

std::string counted(std::size_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

}  // namespace rankward::commands
