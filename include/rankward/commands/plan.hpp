// `rankward plan`: where would these pods go, and why not elsewhere.
#pragma once

#include <string>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

enum class OutputForm : unsigned char { kTable, kWide, kJson };

struct PlanOptions {
  std::string pods_file;      // -f: the pods to place, YAML or JSON; "-": standard input
  std::string nodes_file;     // --nodes: `kubectl get nodes -o json` or YAML
  std::string existing_file;  // --pods: what already runs; "" for nothing
  OutputForm output = OutputForm::kTable;
};

// Plans the gangs of the file whole, then judges each other pod against every node, in order, each
// placed pod holding its devices for the next. Exit code 0: every pod fits somewhere; 1: some pod
// fits nowhere, or a gang as a whole does not; 3: input that cannot be read.
int plan(const PlanOptions& options, const Console& console);

}  // namespace rankward::commands
