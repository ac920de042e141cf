// What `scan` prints, in each form.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "findings_report.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/commands/console.hpp"
#include "rankward/commands/scan.hpp"

namespace rankward::commands {

struct ScanReport {
  FindingsReport found;
  std::set<std::string> namespaces;  // of pods that were judged, "" where volumes were
  std::size_t pods = 0;              // that stand
  std::size_t finished = 0;          // pods that succeeded or failed
};

void print_scan(const ScanReport& report, ScanForm form, admission::UnixSeconds now,
                const Console& console);

}  // namespace rankward::commands
