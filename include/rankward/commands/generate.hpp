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

struct GenerateManifestsOptions {
  std::string config;  // "": the defaults
  std::string service = "rankward-system/rankward";
  std::string url;        // "https://127.0.0.1:9443/validate": instead of the service
  std::string ca_bundle;  // file of PEM certificates; "": a placeholder in its place
};

// Prints the webhook's registration, a ValidatingWebhookConfiguration. Exit code 0, or 3 where an
// option is in no accepted form or a file cannot be read.
int generate_manifests(const GenerateManifestsOptions& options, const Console& console);

}  // namespace rankward::commands
