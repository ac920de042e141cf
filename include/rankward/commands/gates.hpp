// `rankward gates lift`: lets gated gangs go by hand, without a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

struct GatesLiftOptions {
  std::string name_space = "default";
  std::vector<std::string> names;  // of gangs or pods
  // "": the first file of $KUBECONFIG, else ~/.kube/config, else the service account of the pod
  std::string kubeconfig;
  std::string context;   // "": the file's current one
  bool dry_run = false;  // only say what would be done
};

// Prints one line a pod. Exit code 0: none of them carries the gate any more; 1: some gate could
// not be lifted; 3: the pods could not be read, or a name is nobody's.
int gates_lift(const GatesLiftOptions& options, const Console& console);

}  // namespace rankward::commands
