// HP-06: a host path that comes by a PersistentVolumeClaim. The claim's volume is looked up in what
// is known of the cluster; the volume itself is judged when it is made (volume_judge.cpp). The
// claim of a generic ephemeral volume does not exist yet when its pod is judged.
#include <algorithm>
#include <map>

#include "host_path_verdict.hpp"
#include "rankward/admission/host_path.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

// A pod's volume whose claim is bound to a path of the host.
struct ClaimedVolume {
  std::size_t index = 0;  // in spec.volumes
  const kube::PersistentVolume* volume = nullptr;
  std::string_view source;  // "hostPath" or "local"
  std::string_view path;
};

std::vector<ClaimedVolume> claimed_volumes(const PodFacts& pod) {
  std::vector<ClaimedVolume> out;
  const ClusterFacts* cluster = pod.subject().cluster;
  if (cluster == nullptr || cluster->claimed_volumes.empty()) return out;
  const std::vector<kube::Volume>& volumes = pod.spec().volumes;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    if (volumes[i].claim_name.empty()) continue;
    const auto bound =
        cluster->claimed_volumes.find(pod.subject().namespace_ + "/" + volumes[i].claim_name);
    if (bound == cluster->claimed_volumes.end()) continue;
    const kube::PersistentVolume& volume = bound->second;
    if (volume.host_path) out.push_back({i, &volume, "hostPath", volume.host_path->path});
    if (volume.local_path) out.push_back({i, &volume, "local", *volume.local_path});
  }
  return out;
}

// The volume itself, or one mount of it with a sub path.
struct ClaimedPath {
  const ClaimedVolume& claimed;
  const ContainerFacts* container = nullptr;
  std::string field;
  std::string label;
  std::string written;
  HostPathCircumstances here;
};

void observe_path(const PodFacts& pod, const ClaimedPath& path, Observations& out) {
  const std::string canonical = canonical_host_path(path.written);
  const auto verdict = verdict_on(pod.policy().host_paths(), canonical, path.here);
  if (!verdict) return;
  const kube::Volume& volume = pod.spec().volumes[path.claimed.index];
  Observation found;
  found.field = pod.field(path.field);
  if (path.container != nullptr) found.container = path.container->container->name;
  found.subject = volume.name;
  found.value = path.here.any_below ? canonical + "/*" : canonical;
  found.what = path.label + ": claim " + in_quotes(volume.claim_name) +
               " is bound to PersistentVolume " + in_quotes(path.claimed.volume->metadata.name) +
               ", whose ";
  found.what.append(path.claimed.source).append(" ").append(in_quotes(path.written));
  found.what += path.here.any_below ? " with a subPathExpr can reach " : " gives ";
  found.what.append(verdict->entry->gives).append(".");
  found.fix = verdict->entry->instead;
  found.milder = verdict->milder;
  out.push_back(std::move(found));
}

std::string indexed(std::string_view list, std::size_t index) {
  return std::string(list).append("[").append(std::to_string(index)).append("]");
}

void observe_mounts(const PodFacts& pod, const ClaimedVolume& claimed,
                    const HostPathCircumstances& here, Observations& out) {
  const std::string& name = pod.spec().volumes[claimed.index].name;
  for (const ContainerFacts& container : pod.containers()) {
    const std::vector<kube::VolumeMount>& mounts = container.container->volume_mounts;
    for (std::size_t i = 0; i < mounts.size(); ++i) {
      const kube::VolumeMount& mount = mounts[i];
      const bool any_below = !mount.sub_path_expr.empty();
      if (mount.name != name || (mount.sub_path.empty() && !any_below)) continue;
      ClaimedPath path{claimed, &container, {}, container.label, std::string(claimed.path), here};
      path.field = container.path + "." + indexed("volumeMounts", i) +
                   (mount.sub_path.empty() ? ".subPathExpr" : ".subPath");
      if (!mount.sub_path.empty()) path.written += "/" + mount.sub_path;
      path.here.any_below = any_below;
      path.here.writable = !mount.read_only;
      observe_path(pod, path, out);
    }
  }
}

bool is_mounted_writable(const PodFacts& pod, const std::string& volume) {
  for (const ContainerFacts& container : pod.containers())
    for (const kube::VolumeMount& mount : container.container->volume_mounts)
      if (mount.name == volume && !mount.read_only) return true;
  return false;
}

void observe(const PodFacts& pod, Observations& out) {
  for (const ClaimedVolume& claimed : claimed_volumes(pod)) {
    const kube::Volume& volume = pod.spec().volumes[claimed.index];
    HostPathCircumstances here;
    here.can_open_devices =
        std::any_of(pod.containers().begin(), pod.containers().end(),
                    [](const ContainerFacts& container) { return !container.privilege.empty(); });
    here.writable = is_mounted_writable(pod, volume.name);
    const std::string at = indexed("volumes", claimed.index);
    observe_path(pod,
                 {claimed, nullptr, at + ".persistentVolumeClaim.claimName",
                  at + " " + in_quotes(volume.name), std::string(claimed.path), here},
                 out);
    observe_mounts(pod, claimed, here, out);
  }
}

}  // namespace

extern const Rule kClaimedVolumes;
const Rule kClaimedVolumes{
    {.id = "HP-06",
     .title = "a device or control channel behind a PersistentVolume",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why =
         "A claim hides the host path from whoever reads the pod, and no scheduler counts what it "
         "gives.",
     .fix = "drop the PersistentVolume and set resources.limits to the devices that the container "
            "needs."},
    observe};

}  // namespace rankward::admission
