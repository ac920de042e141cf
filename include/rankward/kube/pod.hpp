// core/v1 Pod and PodSpec: only the fields that placement and admission read.
// Absent and null are the same; what Kubernetes would default stays empty here, since templates
// inside custom resources are defaulted by nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankward/kube/meta.hpp"
#include "rankward/kube/resources.hpp"

namespace rankward::kube {

struct EnvVar {
  std::string name;
  std::string value;       // as written; meaningless where value_from is set
  std::string value_from;  // "configMapKeyRef", "secretKeyRef", "fieldRef", ...; empty: a literal
};

struct EnvFromSource {
  std::string prefix;
  std::string source;  // "configMapRef" or "secretRef"
};

struct VolumeMount {
  std::string name;
  std::string mount_path;
  std::string sub_path;
  std::string sub_path_expr;
  bool read_only = false;
};

struct VolumeDevice {
  std::string name;
  std::string device_path;
};

enum class ContainerKind : std::uint8_t { kInit, kRegular, kEphemeral };

struct Container {
  std::string name;
  std::string image;
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
  std::vector<EnvFromSource> env_from;
  std::vector<VolumeMount> volume_mounts;
  std::vector<VolumeDevice> volume_devices;
  ResourceRequirements resources;
  std::string restart_policy;  // "Always" on an init container makes it a sidecar (KEP-753)
  std::optional<bool> privileged;
  std::vector<std::string> capabilities_added;
};

struct HostPathVolume {
  std::string path;  // as written
  std::string type;
};

struct Volume {
  std::string name;
  std::optional<HostPathVolume> host_path;
  std::string claim_name;  // persistentVolumeClaim.claimName
};

struct Toleration {
  std::string key;
  std::string op;  // "Exists" or "Equal"; empty is Equal
  std::string value;
  std::string effect;  // empty: every effect
};

struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
};

// Requirements are ANDed. match_fields knows metadata.name only, as in Kubernetes.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
};

struct PodResourceClaim {
  std::string name;
  std::string resource_claim_name;
  std::string resource_claim_template_name;
};

struct PodSpec {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::vector<Container> ephemeral_containers;
  std::vector<Volume> volumes;
  std::string node_name;
  std::string scheduler_name;
  std::string service_account_name;
  std::string runtime_class_name;
  std::string restart_policy;
  std::optional<std::int64_t> active_deadline_seconds;
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;
  std::int32_t priority = 0;
  StringMap node_selector;
  // requiredDuringSchedulingIgnoredDuringExecution; terms are ORed. Absent: no constraint.
  std::optional<std::vector<NodeSelectorTerm>> required_node_affinity;
  std::vector<Toleration> tolerations;
  std::vector<PodResourceClaim> resource_claims;
  std::vector<std::string> scheduling_gates;
  std::string pod_group_name;  // spec.schedulingGroup.podGroupName, 1.36+
  ResourceList overhead;
  ResourceRequirements pod_resources;  // spec.resources (KEP-2837): cpu, memory, hugepages
};

struct PodStatus {
  std::string phase;
  std::string nominated_node_name;
  // Condition PodScheduled is False with reason Unschedulable: the scheduler has tried, and keeps
  // the pod aside until something in the cluster changes.
  bool unschedulable = false;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;

  // Succeeded or Failed: holds no device any more.
  [[nodiscard]] bool is_terminal() const {
    return status.phase == "Succeeded" || status.phase == "Failed";
  }
};

// A template's metadata and spec: what a Deployment, a Job or a RayCluster would make a pod of.
struct PodTemplate {
  ObjectMeta metadata;
  PodSpec spec;
};

}  // namespace rankward::kube
