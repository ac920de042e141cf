// `rankward demo`: the main job on an embedded cluster, over real HTTPS on loopback.
#pragma once

#include "rankward/commands/console.hpp"

namespace rankward::commands {

struct DemoOptions {
  bool show_log = false;  // the server's own log lines on stderr
};

// Places a job of four ranks and tries to create a pod that reaches a GPU by hostPath. Exit code 0
// only if the ranks are where src/commands/demo.cpp expects them and the pod was denied.
int demo(const DemoOptions& options, const Console& console);

}  // namespace rankward::commands
