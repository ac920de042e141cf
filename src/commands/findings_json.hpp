// Findings as JSON for programs.
#pragma once

#include "findings_report.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::commands {

// The members `findings`, `exempt` and `unreadable` of an object that the caller has begun.
void write_findings(const FindingsReport& report, formats::JsonWriter& json);
// The members `objects`, `denied`, `warned`, `clean`, `excluded` and `notJudged`.
void write_counts(const ObjectCounts& counts, formats::JsonWriter& json);
// All of it as one object, with a line end.
[[nodiscard]] std::string findings_json(const FindingsReport& report);

}  // namespace rankward::commands
