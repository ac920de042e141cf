#include "rankward/commands/gates.hpp"

#include <ostream>

#include "find_server.hpp"
#include "rankward/cluster/lift_gates.hpp"

namespace rankward::commands {
namespace {

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
  const auto server = find_server(options.kubeconfig, options.context);
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
