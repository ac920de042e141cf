// `rankward check`: the webhook's judgement of files, before anything is applied.
#pragma once

#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

enum class CheckForm : unsigned char {
  kText,    // a line a finding, path:line: first
  kTable,   // columns
  kJson,    // for programs
  kSarif,   // SARIF 2.1.0, for code scanning
  kGithub,  // workflow commands of GitHub Actions
};

struct CheckOptions {
  // YAML or JSON, any number of objects in each: `helm template`, `kustomize build`, `kubectl get
  // -o yaml`. A directory stands for every *.yaml, *.yml and *.json below it; "-" is standard
  // input.
  std::vector<std::string> files;
  std::string config;  // rules and exemptions of this configuration; "" for the defaults
  std::string default_namespace = "default";  // for objects that name none
  bool strict = false;                        // warnings are an exit code of their own
  bool fix_hints = false;                     // say with each finding what to write instead
  CheckForm output = CheckForm::kText;
};

// Namespaces among the input give their labels, and PersistentVolumes what a pod with a claim on
// them reaches. Exit code 0: clean; 1: something would be denied (a workload object where its pods
// would be); 2: warnings only, with strict; 3: some input cannot be read, the rest is judged all
// the same.
int check(const CheckOptions& options, const Console& console);

}  // namespace rankward::commands
