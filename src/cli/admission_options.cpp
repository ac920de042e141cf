#include "admission_options.hpp"

#include "choices.hpp"

namespace rankward::cli {

using commands::CheckForm;
using commands::FailOn;
using commands::ScanForm;

CLI::App& add_check(CLI::App& app, commands::CheckOptions& options) {
  CLI::App& check = *app.add_subcommand("check", "Judge manifests as the webhook would");
  check
      .add_option("FILES", options.files,
                  "YAML or JSON files; directories with all *.yaml, *.yml and *.json below; - for "
                  "standard input")
      ->required();
  check.add_option("-c,--config", options.config, "Rules and exemptions of this configuration")
      ->check(CLI::ExistingFile);
  check
      .add_option("-n,--namespace", options.default_namespace,
                  "Namespace of objects that name none")
      ->capture_default_str();
  check.add_flag("--strict", options.strict, "Exit 2 where there are only warnings");
  check.add_flag("--fix-hints", options.fix_hints,
                 "Print below each finding the YAML that puts it right");
  add_choice<CheckForm>(check, "-o,--output", options.output,
                        {{"text", CheckForm::kText},
                         {"table", CheckForm::kTable},
                         {"json", CheckForm::kJson},
                         {"sarif", CheckForm::kSarif},
                         {"github", CheckForm::kGithub}},
                        "text: a line a finding, path:line: first; github: workflow commands");
  check.footer(
      "Exit code 0: clean; 1: something would be denied, a workload object where its pods would "
      "be;\n2: warnings only, with --strict; 3: some input cannot be read.\n\n"
      "  helm template chart | rankward check -\n"
      "  kustomize build overlay | rankward check -o github -\n"
      "  rankward check -o sarif manifests/ > rankward.sarif");
  return check;
}

CLI::App& add_scan(CLI::App& app, commands::ScanOptions& options) {
  CLI::App& scan = *app.add_subcommand("scan", "Judge the pods that run already");
  scan.add_option("FILE", options.file,
                  "Output of kubectl get pods -A -o json (or pods,pv,ns) instead of the cluster; - "
                  "for standard input");
  scan.add_option("--kubeconfig", options.kubeconfig, "Kubeconfig of the cluster");
  scan.add_option("--context", options.context, "Context of the kubeconfig");
  scan.add_option("-c,--config", options.config, "Rules and exemptions of this configuration")
      ->check(CLI::ExistingFile);
  scan.add_option("-n,--namespace", options.name_space, "This namespace alone");
  scan.add_option("--rule", options.rules, "These rules alone, repeated or with commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  scan.add_flag("--audit", options.audit, "Findings in mode audit too");
  add_choice<FailOn>(
      scan, "--fail-on", options.fail_on,
      {{"enforce", FailOn::kEnforce}, {"warn", FailOn::kWarn}, {"never", FailOn::kNever}},
      "What makes the exit code 1; enforce: what would be denied");
  add_choice<ScanForm>(scan, "-o,--output", options.output,
                       {{"table", ScanForm::kTable},
                        {"wide", ScanForm::kWide},
                        {"json", ScanForm::kJson},
                        {"sarif", ScanForm::kSarif},
                        {"policyreport", ScanForm::kPolicyReport}},
                       "table: by rule, namespace and owner; wide: and every finding");
  scan.footer(
      "Exit code 0: nothing that --fail-on names; 1: some of it; 3: the cluster cannot be reached, "
      "or a pod\nor the configuration cannot be read.\n\n"
      "  kubectl get pods,pv,ns -A -o json | rankward scan -\n"
      "  rankward scan -o policyreport | kubectl apply -f -");
  return scan;
}

}  // namespace rankward::cli
