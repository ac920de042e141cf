// Findings as SARIF 2.1.0 (OASIS), which code scanning services take.
#pragma once

#include <string>
#include <string_view>

#include "findings_report.hpp"

namespace rankward::commands {

// The whole catalogue as rules and a result a finding, with a line end. Exempt findings are left
// out: not every service knows suppressions, and would report them.
[[nodiscard]] std::string findings_sarif(const FindingsReport& report);

// A path as a URI reference: percent-encoded, `file://` where it is absolute.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace rankward::commands
