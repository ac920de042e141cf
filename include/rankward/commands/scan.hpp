// `rankward scan`: the rules applied to the pods that stand already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

enum class ScanForm : unsigned char {
  kTable,         // by rule, by namespace and by owner
  kWide,          // and every finding, a line each
  kJson,          // for programs
  kSarif,         // SARIF 2.1.0
  kPolicyReport,  // wgpolicyk8s.io/v1alpha2 objects in YAML, for kubectl apply
};

// What makes the exit code 1.
enum class FailOn : unsigned char { kEnforce, kWarn, kNever };

struct ScanOptions {
  // A file of `kubectl get pods -A -o json` or -o yaml; "-": standard input; "": the cluster. With
  // `kubectl get pods,pv,ns -A` claims lead to volumes and namespaces have their labels.
  std::string file;
  std::string kubeconfig;  // "": as kubectl finds it, else the service account of the pod
  std::string context;     // "": the file's current one
  std::string config;      // rules and exemptions of this configuration; "" for the defaults
  std::string name_space;  // "": all
  std::vector<std::string> rules;  // these alone; empty: all
  bool audit = false;              // findings in mode audit too
  ScanForm output = ScanForm::kTable;
  FailOn fail_on = FailOn::kEnforce;
  bool show_progress = false;  // on the error stream, where it is a terminal
  // Seconds since 1970, for reports and for exemptions that end; the machine's clock where absent.
  std::optional<std::int64_t> now;
};

// Pods that succeeded or failed are passed over. Exit code 0: nothing that `fail_on` names; 1: some
// of it; 3: the cluster cannot be reached, or a pod or the configuration cannot be read.
int scan(const ScanOptions& options, const Console& console);

}  // namespace rankward::commands
