// HP-08: on GPU nodes only the host paths of a list. A list of what is forbidden can be got round
// by a symbolic link that an earlier pod left in a directory it may write (kubernetes#68507).
#include <algorithm>

#include "host_path_rule.hpp"
#include "rankward/admission/host_path.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

void observe(const PodFacts& pod, Observations& out) {
  const auto& allowed = pod.policy().options().allowed_host_paths;
  if (!allowed || !pod.aims_at_gpu_nodes()) return;
  for (const HostPathUse& use : pod.host_paths()) {
    const bool listed = std::any_of(allowed->begin(), allowed->end(), [&](const std::string& path) {
      return is_within(use.canonical, path);
    });
    if (listed) continue;
    Observation found = observe_path(pod, use, {});
    found.what =
        use.label + ": hostPath " + in_quotes(use.written) + " is not on the list for GPU nodes.";
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kAllowedHostPaths;
const Rule kAllowedHostPaths{
    {.id = "HP-08",
     .title = "a host path that is not on the list for GPU nodes",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "This cluster lets pods on GPU nodes mount listed host paths only, since a link in any "
            "other directory can lead to a device.",
     .fix = "use an emptyDir or a PersistentVolumeClaim, or have the path added to "
            "admission.allowedHostPaths."},
    observe,
    false};

}  // namespace rankward::admission
