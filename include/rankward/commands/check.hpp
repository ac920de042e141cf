// `rankward check`: the webhook's judgement of files, before anything is applied.
#pragma once

#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

struct CheckOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string config;  // rules and exemptions of this configuration; "" for the defaults
  std::string default_namespace = "default";  // for objects that name none
  bool strict = false;                        // warnings are an exit code of their own
  bool json = false;
};

// Exit code 0: clean; 1: something would be denied (a workload object where its pods would be); 2:
// warnings only, with strict; 3: input that cannot be read.
int check(const CheckOptions& options, const Console& console);

}  // namespace rankward::commands
