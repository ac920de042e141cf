// core/v1 Pod, PodSpec and pod templates.
#include "object_fields.hpp"

namespace rankward::formats {
// What only this file calls is static rather than in an unnamed namespace, into which the look-up
// by argument does not see.

// Which one of an object's keys is set: {"secretKeyRef": {...}} -> "secretKeyRef".
static bool read_set_key(Cursor& cursor, std::string& out) {
  return cursor.members([&](std::string_view key) {
    if (cursor.null()) return true;
    if (out.empty()) out.assign(key);
    return cursor.skip();
  });
}

bool read(Cursor& cursor, kube::EnvVar& out) {
  return cursor.object(field("name", out.name), field("value", out.value),
                       field("valueFrom", [&] { return read_set_key(cursor, out.value_from); }));
}

bool read(Cursor& cursor, kube::EnvFromSource& out) {
  const auto source = [&](const char* key) {
    return [&cursor, &out, key] {
      if (cursor.null()) return true;
      if (out.source.empty()) out.source = key;
      return cursor.skip();
    };
  };
  return cursor.object(field("prefix", out.prefix), field("configMapRef", source("configMapRef")),
                       field("secretRef", source("secretRef")));
}

bool read(Cursor& cursor, kube::VolumeMount& out) {
  return cursor.object(field("name", out.name), field("mountPath", out.mount_path),
                       field("subPath", out.sub_path), field("subPathExpr", out.sub_path_expr),
                       field("readOnly", out.read_only));
}

static bool read(Cursor& cursor, kube::VolumeDevice& out) {
  return cursor.object(field("name", out.name), field("devicePath", out.device_path));
}

bool read_security_context(Cursor& cursor, kube::Container& out) {
  return cursor.object(field("privileged", out.privileged), field("capabilities", [&] {
                         return cursor.object(field("add", out.capabilities_added));
                       }));
}

bool read(Cursor& cursor, kube::Container& out) {
  return cursor.object(
      field("name", out.name), field("image", out.image), field("command", out.command),
      field("args", out.args), field("env", out.env), field("envFrom", out.env_from),
      field("volumeMounts", out.volume_mounts), field("volumeDevices", out.volume_devices),
      field("resources", out.resources), field("restartPolicy", out.restart_policy),
      field("securityContext", [&] { return read_security_context(cursor, out); }));
}

bool read(Cursor& cursor, kube::HostPathVolume& out) {
  return cursor.object(field("path", out.path), field("type", out.type));
}

bool read(Cursor& cursor, kube::Volume& out) {
  return cursor.object(field("name", out.name), field("hostPath", out.host_path),
                       field("persistentVolumeClaim",
                             [&] { return cursor.object(field("claimName", out.claim_name)); }));
}

bool read(Cursor& cursor, kube::Toleration& out) {
  return cursor.object(field("key", out.key), field("operator", out.op), field("value", out.value),
                       field("effect", out.effect));
}

static bool read(Cursor& cursor, kube::NodeSelectorRequirement& out) {
  return cursor.object(field("key", out.key), field("operator", out.op),
                       field("values", out.values));
}

static bool read(Cursor& cursor, kube::NodeSelectorTerm& out) {
  return cursor.object(field("matchExpressions", out.match_expressions),
                       field("matchFields", out.match_fields));
}

// affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
bool read_affinity(Cursor& cursor, kube::PodSpec& out) {
  const auto required = [&] {
    if (cursor.null()) return true;
    return cursor.object(field("nodeSelectorTerms", out.required_node_affinity.emplace()));
  };
  const auto node_affinity = [&] {
    return cursor.object(field("requiredDuringSchedulingIgnoredDuringExecution", required));
  };
  return cursor.object(field("nodeAffinity", node_affinity));
}

static bool read(Cursor& cursor, kube::PodResourceClaim& out) {
  return cursor.object(field("name", out.name), field("resourceClaimName", out.resource_claim_name),
                       field("resourceClaimTemplateName", out.resource_claim_template_name));
}

bool read(Cursor& cursor, kube::PodSpec& out) {
  const auto gate = [&](std::size_t) {
    return cursor.object(field("name", out.scheduling_gates.emplace_back()));
  };
  return cursor.object(
      field("containers", out.containers), field("initContainers", out.init_containers),
      field("ephemeralContainers", out.ephemeral_containers), field("volumes", out.volumes),
      field("nodeName", out.node_name), field("schedulerName", out.scheduler_name),
      field("serviceAccountName", out.service_account_name),
      field("runtimeClassName", out.runtime_class_name), field("restartPolicy", out.restart_policy),
      field("activeDeadlineSeconds", out.active_deadline_seconds),
      field("hostNetwork", out.host_network), field("hostPID", out.host_pid),
      field("hostIPC", out.host_ipc), field("priority", out.priority),
      field("nodeSelector", out.node_selector),
      field("affinity", [&] { return read_affinity(cursor, out); }),
      field("tolerations", out.tolerations), field("resourceClaims", out.resource_claims),
      field("schedulingGates", [&] { return cursor.items(gate); }),
      field("schedulingGroup",
            [&] { return cursor.object(field("podGroupName", out.pod_group_name)); }),
      field("overhead", out.overhead), field("resources", out.pod_resources));
}

bool read(Cursor& cursor, kube::PodStatus& out) {
  const auto condition = [&](std::size_t) {
    std::string type;
    std::string status;
    std::string reason;
    if (!cursor.object(field("type", type), field("status", status), field("reason", reason))) {
      return false;
    }
    out.unschedulable = out.unschedulable ||
                        (type == "PodScheduled" && status == "False" && reason == "Unschedulable");
    return true;
  };
  return cursor.object(field("phase", out.phase),
                       field("nominatedNodeName", out.nominated_node_name),
                       field("conditions", [&] { return cursor.items(condition); }));
}

bool read(Cursor& cursor, kube::Pod& out) {
  return cursor.object(field("metadata", out.metadata), field("spec", out.spec),
                       field("status", out.status));
}

}  // namespace rankward::formats
