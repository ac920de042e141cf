// The catalogue: every rule that this build judges.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankward/admission/finding.hpp"

namespace rankward::admission {

struct RuleInfo {
  std::string_view id;     // "HP-01"
  std::string_view title;  // heading in docs/rules.md
  // The mode of a finding where nothing is configured. A rule of two grades uses default_mode for
  // the grave case and milder_mode for the other; else both are equal.
  Mode default_mode = Mode::kEnforce;
  Mode milder_mode = Mode::kEnforce;
  std::string_view why;  // one sentence for a person who has never heard of the rule
  std::string_view fix;  // what to write instead
  // False for rules that nothing may be exempted from.
  bool exemptible = true;

  // Fragment of the rule's heading in docs/rules.md: "hp-01".
  [[nodiscard]] std::string anchor() const;
};

// In the order in which findings are reported.
[[nodiscard]] std::span<const RuleInfo> catalogue();

// nullptr for an unknown id. Ids are compared byte for byte.
[[nodiscard]] const RuleInfo* find_rule(std::string_view id);

}  // namespace rankward::admission
