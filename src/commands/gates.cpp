#include "rankward/commands/gates.hpp"

#include <cstdlib>
#include <ostream>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/lift_gates.hpp"

namespace rankward::commands {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As kubectl looks for it, but for merging several files.
Result<cluster::ApiServer> find_server(const GatesLiftOptions& options) {
  if (!options.kubeconfig.empty()) {
    return cluster::from_kubeconfig(options.kubeconfig, options.context);
  }
  if (const auto list = environment("KUBECONFIG"); !list.empty()) {
    return cluster::from_kubeconfig(list.substr(0, list.find(':')), options.context);
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    auto server = cluster::from_kubeconfig(home + "/.kube/config", options.context);
    if (server || server.error().kind() != ErrorKind::kNotFound) return server;
  }
  return cluster::in_cluster();
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

int gates_lift(const GatesLiftOptions& options, const Console& console) {
  const auto fail = [&](const Error& error) {
    console.err << "rankward gates lift: " << error.to_string() << '\n';
    return 3;
  };
  const auto server = find_server(options);
  if (!server) return fail(server.error());
  const auto lifted =
      cluster::lift_gates(*server, options.name_space, options.names, options.dry_run);
  if (!lifted) return fail(lifted.error());
  bool all = true;
  for (const auto& pod : *lifted) {
    console.out << "pod/" << pod.pod << ' ';
    if (pod.error) {
      all = false;
      console.out << console.paint(Colour::kRed, "not lifted") << ": " << *pod.error;
    } else if (!pod.gated) {
      console.out << "has no gate rankward.io/gang";
    } else {
      console.out << console.paint(Colour::kGreen, options.dry_run ? "would be lifted" : "lifted");
    }
    if (!pod.other_gates.empty()) console.out << "; still held by " << joined(pod.other_gates);
    console.out << '\n';
  }
  return all ? 0 : 1;
}

}  // namespace rankward::commands
