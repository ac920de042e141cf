// Findings for people: a line each, as compilers write them and editors follow, or columns.
#pragma once

#include "findings_report.hpp"
#include "rankward/commands/console.hpp"

namespace rankward::commands {

// `path:line: denied: Deployment team-a/web: [HP-01] ...`, fix hints below their finding, and the
// counts at the end.
void print_text(const FindingsReport& report, const Console& console);
// Columns: PLACE, OBJECT, RULE, OUTCOME, FINDING, and the counts at the end.
void print_table(const FindingsReport& report, const Console& console);
// `unreadable: path:line: why`, on the error stream.
void print_unreadable(const FindingsReport& report, const Console& console);
// "2 objects checked: 1 denied, 0 with warnings, 1 clean"
void print_counts(const FindingsReport& report, const Console& console);

[[nodiscard]] Colour colour_of(admission::Mode mode);

}  // namespace rankward::commands
