// Wires options to subcommands and nothing else.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "admission_options.hpp"
#include "choices.hpp"
#include "completion.hpp"
#include "rankward/commands/console.hpp"
#include "rankward/commands/demo.hpp"
#include "rankward/commands/gates.hpp"
#include "rankward/commands/generate.hpp"
#include "rankward/commands/plan.hpp"
#include "rankward/commands/serve.hpp"
#include "rankward/commands/simulate.hpp"
#include "rankward/commands/topo.hpp"
#include "rankward/server/application.hpp"

namespace {

using rankward::commands::OutputForm;

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

CLI::App& add_serve(CLI::App& app, rankward::commands::ServeOptions& options) {
  CLI::App& serve = *app.add_subcommand("serve", "Serve the scheduler extender and the webhook");
  serve.add_option("-c,--config", options.config, "Configuration file (RankwardConfiguration)")
      ->check(CLI::ExistingFile);
  serve.add_option("--doors", options.doors, "Doors to open: extender, webhook")->delimiter(',');
  serve.add_option("--kubeconfig", options.kubeconfig, "Kubeconfig of the cluster to watch");
  serve.add_option("--inventory", options.inventory, "File of Nodes and Pods instead of a cluster");
  serve.add_option("-v,--v", options.verbosity, "Verbosity of the log, 0 to 10")
      ->check(CLI::Range(0, 10));
  serve.add_option("--log-format", options.log_format, "auto, json or text")
      ->check(CLI::IsMember({"auto", "json", "text"}));
  serve
      .add_option("--drain-seconds", options.drain_seconds,
                  "Seconds between \"not ready\" and the end of accepting")
      ->check(CLI::Range(0, 25))
      ->capture_default_str();
  serve.add_flag("--print-config", options.print_config, "Print the configuration in use and exit");
  return serve;
}

CLI::App& add_plan(CLI::App& app, rankward::commands::PlanOptions& options) {
  CLI::App& plan = *app.add_subcommand(
      "plan", "Where would these pods go, and why not elsewhere; exit 1: some pod fits nowhere");
  plan.add_option("-f,--filename", options.pods_file,
                  "The pods, YAML or JSON; - for standard input")
      ->required();
  plan.add_option("--nodes", options.nodes_file, "The nodes: kubectl get nodes -o json")
      ->required();
  plan.add_option("--pods", options.existing_file,
                  "What already runs: kubectl get pods -A -o json");
  rankward::cli::add_choice<OutputForm>(
      plan, "-o,--output", options.output,
      {{"table", OutputForm::kTable}, {"wide", OutputForm::kWide}, {"json", OutputForm::kJson}},
      "What to print");
  return plan;
}

CLI::App& add_simulate(CLI::App& app, rankward::commands::SimulateOptions& options) {
  using rankward::commands::ReportForm;
  CLI::App& simulate = *app.add_subcommand(
      "simulate",
      "Compare ways of placing gangs on a simulated cluster; exit 1: some job never started");
  simulate
      .add_option(
          "--nodes", options.nodes,
          "fabric-850, fabric-850-uniform, nvl72, openb, or a file: Nodes, openb node list, "
          "SimulatedCluster")
      ->capture_default_str();
  simulate
      .add_option(
          "--jobs", options.jobs,
          "gangs, gangs-hostnetwork, or a file: openb pod list, SimulatedJobs, CSV of gangs")
      ->capture_default_str();
  simulate
      .add_option("--policy", options.policies,
                  "Ways of placing, repeated or with commas; all: every one")
      ->delimiter(',')
      ->capture_default_str();
  simulate.add_option("--seed", options.seed, "Of hosts, work and ties")->capture_default_str();
  simulate.add_option("--gangs", options.gangs, "Gangs of built-in work")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  simulate.add_option("--singles", options.singles, "Single pods of built-in work")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  simulate
      .add_option("--load", options.load,
                  "GPUs that the jobs ask for, over all GPUs; built-in work: 0.9")
      ->check(CLI::Range(0.01, 10.0));
  simulate
      .add_option("--communication", options.communication,
                  "Share of a gang's time that its collectives take at their best")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  simulate.add_flag("--no-backfill", options.no_backfill, "Nobody overtakes a job that waits");
  rankward::cli::add_choice<ReportForm>(
      simulate, "-o,--output", options.output,
      {{"table", ReportForm::kTable}, {"json", ReportForm::kJson}, {"csv", ReportForm::kCsv}},
      "What to print");
  simulate.add_option("--plot", options.plot, "Write an SVG of the comparison to this file");
  return simulate;
}

CLI::App& add_topo(CLI::App& app, rankward::commands::TopoOptions& options) {
  CLI::App& topo = *app.add_subcommand(
      "topo", "Show a machine's GPUs, NICs and what its links carry; exit 3: unreadable");
  topo.add_option("FILE", options.file,
                  "Output of nvidia-smi topo -m, Nodes, or a topology annotation; - for standard "
                  "input")
      ->required();
  topo.add_flag("--annotation", options.annotation,
                "Print the annotation rankward.io/topology that says the same");
  rankward::cli::add_choice<bool>(topo, "-o,--output", options.json,
                                  {{"table", false}, {"json", true}}, "What to print");
  return topo;
}

CLI::App& add_gates_lift(CLI::App& app, rankward::commands::GatesLiftOptions& options) {
  CLI::App& gates = *app.add_subcommand("gates", "Scheduling gates of gangs that are held back");
  gates.require_subcommand(1);
  CLI::App& lift = *gates.add_subcommand(
      "lift", "Take rankward.io/gang off pods by hand; exit 1: some could not be, 3: unreadable");
  lift.add_option("NAMES", options.names, "Gangs or pods")->required();
  lift.add_option("-n,--namespace", options.name_space, "Their namespace")->capture_default_str();
  lift.add_option("--kubeconfig", options.kubeconfig, "Kubeconfig of the cluster");
  lift.add_option("--context", options.context, "Context of the kubeconfig");
  lift.add_flag("--dry-run", options.dry_run, "Only say what would be done");
  return lift;
}

void add_generate(CLI::App& generate, rankward::commands::GenerateVapOptions& vap_options,
                  rankward::commands::GenerateManifestsOptions& manifests_options) {
  CLI::App& vap = *generate.add_subcommand(
      "vap",
      "ValidatingAdmissionPolicies equal to the rules for pods, for when the webhook is down");
  CLI::App& manifests =
      *generate.add_subcommand("manifests", "The webhook's registration (caBundle, conditions)");
  vap.add_option("-c,--config", vap_options.config, "Rules and exemptions of this configuration")
      ->check(CLI::ExistingFile);
  manifests
      .add_option("-c,--config", manifests_options.config,
                  "Namespaces and lists of this configuration")
      ->check(CLI::ExistingFile);
  CLI::Option* service =
      manifests.add_option("--service", manifests_options.service, "NAMESPACE/NAME of the Service")
          ->capture_default_str();
  manifests
      .add_option("--url", manifests_options.url,
                  "https://HOST:PORT/validate, where no Service leads to the webhook")
      ->excludes(service);
  manifests
      .add_option("--ca-bundle", manifests_options.ca_bundle,
                  "PEM certificates that the API server is to trust")
      ->check(CLI::ExistingFile);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Keeps the ranks of distributed GPU jobs off nodes that would slow or hang them, and pods "
      "off GPUs that they did not ask for.",
      "rankward");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every subcommand");

  rankward::commands::ServeOptions serve_options;
  rankward::commands::CheckOptions check_options;
  rankward::commands::ScanOptions scan_options;
  rankward::commands::PlanOptions plan_options;
  rankward::commands::TopoOptions topo_options;
  rankward::commands::DemoOptions demo_options;
  rankward::commands::SimulateOptions simulate_options;
  rankward::commands::GatesLiftOptions gates_lift_options;
  rankward::commands::GenerateVapOptions generate_vap_options;
  rankward::commands::GenerateManifestsOptions generate_manifests_options;
  std::string shell;
  const CLI::App& serve = add_serve(app, serve_options);
  const CLI::App& check = rankward::cli::add_check(app, check_options);
  const CLI::App& scan = rankward::cli::add_scan(app, scan_options);
  const CLI::App& plan = add_plan(app, plan_options);
  const CLI::App& topo = add_topo(app, topo_options);
  CLI::App& demo = *app.add_subcommand("demo", "Place a job and deny a pod on an embedded cluster");
  demo.add_flag("--log", demo_options.show_log, "Show the server's own log on stderr");
  const CLI::App& simulate = add_simulate(app, simulate_options);
  const CLI::App& gates_lift = add_gates_lift(app, gates_lift_options);
  CLI::App& generate = *app.add_subcommand("generate", "Print objects for the API server");
  generate.require_subcommand(1);
  add_generate(generate, generate_vap_options, generate_manifests_options);
  CLI::App& completion =
      *app.add_subcommand("completion", "Print completion for bash, zsh or fish");
  completion.add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  const CLI::App& version = *app.add_subcommand("version", "Print the version");

  CLI11_PARSE(app, argc, argv);

  const rankward::commands::Console console{std::cout, std::cerr, wants_colours()};
  if (serve.parsed()) return rankward::commands::serve(serve_options, console);
  if (check.parsed()) return rankward::commands::check(check_options, console);
  if (scan.parsed()) {
    scan_options.show_progress = isatty(STDERR_FILENO) != 0;
    return rankward::commands::scan(scan_options, console);
  }
  if (plan.parsed()) return rankward::commands::plan(plan_options, console);
  if (topo.parsed()) return rankward::commands::topo(topo_options, console);
  if (demo.parsed()) return rankward::commands::demo(demo_options, console);
  if (simulate.parsed()) {
    simulate_options.show_progress = isatty(STDERR_FILENO) != 0;
    return rankward::commands::simulate(simulate_options, console);
  }
  if (gates_lift.parsed()) return rankward::commands::gates_lift(gates_lift_options, console);
  if (generate.got_subcommand("vap"))
    return rankward::commands::generate_vap(generate_vap_options, console);
  if (generate.got_subcommand("manifests"))
    return rankward::commands::generate_manifests(generate_manifests_options, console);
  if (completion.parsed()) {
    std::cout << rankward::cli::completion_script(app, shell);
    return 0;
  }
  if (version.parsed()) std::cout << "rankward " << rankward::server::kVersion << '\n';
  return 0;
}
