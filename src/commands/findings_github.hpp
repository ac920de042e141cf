// Findings as workflow commands of GitHub Actions, which become annotations of a pull request.
#pragma once

#include <string>
#include <string_view>

#include "findings_report.hpp"

namespace rankward::commands {

// `::error file=a.yaml,line=10,title=HP-01 Deployment team-a/web::...`, one a line: error for what
// would be denied and what cannot be read, warning and notice for the rest.
[[nodiscard]] std::string findings_github(const FindingsReport& report);

// As actions/toolkit's command.ts escapes what follows `::`, and the values of properties.
[[nodiscard]] std::string escaped_data(std::string_view text);
[[nodiscard]] std::string escaped_property(std::string_view text);

}  // namespace rankward::commands
