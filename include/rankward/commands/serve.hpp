// `rankward serve`: both doors until SIGTERM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

// Flags override the file.
struct ServeOptions {
  std::string config;              // "": defaults
  std::vector<std::string> doors;  // empty: as configured
  std::optional<std::string> kubeconfig;
  std::optional<std::string> inventory;
  std::optional<int> verbosity;
  std::string log_format;     // "", "auto", "json", "text"
  bool print_config = false;  // print what would be used and exit
  int drain_seconds = 5;      // between "not ready" and the end of accepting
};

// Exit code 0 after SIGTERM or SIGINT; 1: could not start; 3: configuration that cannot be used.
int serve(const ServeOptions& options, const Console& console);

}  // namespace rankward::commands
