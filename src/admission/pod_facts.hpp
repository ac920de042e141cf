// One pod as the rules see it: every container in one list, every host path resolved. Made once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::admission {

struct ContainerFacts {
  const kube::Container* container = nullptr;
  kube::ContainerKind kind{};
  std::string path;   // below the spec: "containers[0]"
  std::string label;  // for messages: `containers[0] "train"`
  bool asks_for_gpu = false;
  // "privileged", or the capability that lets it open every device: "SYS_ADMIN", "ALL".
  std::string_view privilege;
};

// One host path that the pod can reach: a volume's own, or that of a mount with a sub path.
struct HostPathUse {
  std::size_t volume = 0;                     // index in spec.volumes
  const ContainerFacts* container = nullptr;  // of the mount; nullptr for the volume itself
  const kube::VolumeMount* mount = nullptr;
  std::string field;       // below the spec
  std::string label;       // `volumes[0] "dev"`, or the container's
  std::string written;     // what the user wrote, sub path included
  std::string canonical;   // canonical_host_path of it
  bool any_below = false;  // subPathExpr: whatever lies below is reached too
  bool unclean = false;    // not in the form that lexically_clean gives
};

// By what a pod is sent to GPU nodes.
struct NodeAim {
  std::string field;  // below the spec
  std::string key;    // of the label or taint
  bool is_toleration = false;
};

class PodFacts {
 public:
  // Refers to both, which must outlive it.
  PodFacts(const Policy& policy, const Subject& subject);
  PodFacts(const PodFacts&) = delete;
  PodFacts& operator=(const PodFacts&) = delete;

  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const kube::PodSpec& spec() const { return subject_.spec; }
  // Regular, init, sidecar and ephemeral containers alike.
  [[nodiscard]] const std::vector<ContainerFacts>& containers() const { return containers_; }
  // Each volume with a host path, mounted or not, then the mounts with sub paths.
  [[nodiscard]] const std::vector<HostPathUse>& host_paths() const { return host_paths_; }
  // Mounts of a volume with a host path, in any container.
  [[nodiscard]] const std::vector<HostPathUse>& mounts_of(std::size_t volume) const {
    return mounts_[volume];
  }
  [[nodiscard]] bool any_container_asks() const;

  // Some container asks for a GPU, or a rule of the first pass fired (note_signal).
  [[nodiscard]] bool is_gpu_pod() const { return signal_ || any_container_asks(); }
  // Can land on GPU nodes: a GPU pod, or one that names, selects or tolerates such nodes.
  [[nodiscard]] bool aims_at_gpu_nodes() const;
  // The first label or taint key of GPU nodes that it selects or tolerates.
  [[nodiscard]] std::optional<NodeAim> node_aim() const;
  void note_signal() { signal_ = true; }

  // "spec.template.spec" + "containers[0]" and the like.
  [[nodiscard]] std::string field(std::string_view below_spec) const;
  [[nodiscard]] std::string metadata_field(std::string_view below_metadata) const;

 private:
  [[nodiscard]] std::string place_in_object(const std::string& in_pod) const;
  void add_containers(const std::vector<kube::Container>& containers, kube::ContainerKind kind,
                      std::string_view list);
  void add_volumes();
  void add_mounts();
  [[nodiscard]] HostPathUse use_of(const ContainerFacts& container, std::size_t mount,
                                   std::size_t volume) const;

  const Policy& policy_;
  const Subject& subject_;
  std::vector<ContainerFacts> containers_;
  std::vector<HostPathUse> host_paths_;
  std::vector<std::vector<HostPathUse>> mounts_;  // by volume
  bool signal_ = false;
};

}  // namespace rankward::admission
