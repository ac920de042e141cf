// `rankward generate`: objects for the API server, made from the configuration.
#pragma once

#include <string>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

struct GenerateVapOptions {
  std::string config;  // "": the defaults
};

// Prints ValidatingAdmissionPolicies with their bindings, one pair for each mode. Exit code 0, or 3
// where the configuration cannot be read.
int generate_vap(const GenerateVapOptions& options, const Console& console);

}  // namespace rankward::commands
