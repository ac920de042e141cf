// HP-07: a path that matters here, written so that a simple comparison would miss it.
#include <array>

#include "host_path_rule.hpp"
#include "rankward/admission/host_path.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

bool matters(const PodFacts& pod, const HostPathUse& use) {
  constexpr std::array kKinds{HostPathKind::kDeviceNode, HostPathKind::kDeviceRoot,
                              HostPathKind::kHostRoot, HostPathKind::kControlChannel,
                              HostPathKind::kPodResources};
  for (const HostPathKind kind : kKinds)
    if (entry_of(pod, use, kind) != nullptr) return true;
  return use.canonical == "/dev/null";
}

void observe(const PodFacts& pod, Observations& out) {
  for (const HostPathUse& use : pod.host_paths()) {
    if (!use.unclean || !matters(pod, use)) continue;
    Observation found = observe_path(pod, use, {});
    found.value = use.written;
    found.what = use.label + ": hostPath " + in_quotes(use.written) + " is another way to write " +
                 in_quotes(use.canonical) + ".";
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kUncleanHostPaths;
const Rule kUncleanHostPaths{
    {.id = "HP-07",
     .title = "a device path that is not in its plain form",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "Tools that compare paths as text do not see what it is.",
     .fix = "write the path from the root, without //, ., .. and a slash at its end."},
    observe};

}  // namespace rankward::admission
