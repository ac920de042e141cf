// Small pods to judge.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::admission::testing {

// Any time will do where no exemption expires.
inline constexpr UnixSeconds kNow = 1'750'000'000;

inline kube::Container container(std::string name = "train") {
  kube::Container out;
  out.name = std::move(name);
  return out;
}

inline kube::Container asking(kube::Container out, const std::string& resource = "nvidia.com/gpu",
                              std::int64_t amount = 1) {
  out.resources.limits[resource] = kube::Quantity(amount);
  return out;
}

inline kube::Container privileged(kube::Container out) {
  out.privileged = true;
  return out;
}

inline kube::Container with_env(kube::Container out, std::string name, std::string value) {
  out.env.push_back({std::move(name), std::move(value), {}});
  return out;
}

inline kube::Container with_env_from(kube::Container out, std::string name, std::string source) {
  out.env.push_back({std::move(name), {}, std::move(source)});
  return out;
}

inline kube::Container mounting(kube::Container out, std::string volume, std::string path,
                                std::string sub_path = {}, std::string sub_path_expr = {}) {
  kube::VolumeMount mount;
  mount.name = std::move(volume);
  mount.mount_path = std::move(path);
  mount.sub_path = std::move(sub_path);
  mount.sub_path_expr = std::move(sub_path_expr);
  out.volume_mounts.push_back(std::move(mount));
  return out;
}

inline kube::Volume host_path(std::string path, std::string name = "v") {
  kube::Volume out;
  out.name = std::move(name);
  out.host_path = kube::HostPathVolume{std::move(path), {}};
  return out;
}

struct TestPod {
  kube::ObjectMeta metadata;
  kube::PodSpec spec;

  TestPod() { metadata.namespace_ = "team-a"; }
  TestPod&& in(std::string namespace_) && {
    metadata.namespace_ = std::move(namespace_);
    return std::move(*this);
  }
  TestPod&& with(kube::Container added) && {
    spec.containers.push_back(std::move(added));
    return std::move(*this);
  }
  TestPod&& with_init(kube::Container added) && {
    spec.init_containers.push_back(std::move(added));
    return std::move(*this);
  }
  TestPod&& with_ephemeral(kube::Container added) && {
    spec.ephemeral_containers.push_back(std::move(added));
    return std::move(*this);
  }
  TestPod&& with(kube::Volume added) && {
    spec.volumes.push_back(std::move(added));
    return std::move(*this);
  }
  TestPod&& annotated(std::string key, std::string value) && {
    metadata.annotations[std::move(key)] = std::move(value);
    return std::move(*this);
  }
  TestPod&& as(std::string service_account) && {
    spec.service_account_name = std::move(service_account);
    return std::move(*this);
  }
  TestPod&& on(std::string node) && {
    spec.node_name = std::move(node);
    return std::move(*this);
  }
  TestPod&& of_class(std::string runtime_class) && {
    spec.runtime_class_name = std::move(runtime_class);
    return std::move(*this);
  }

  [[nodiscard]] Subject subject() const { return {metadata, spec, metadata.namespace_, {}, {}}; }
  [[nodiscard]] Subject template_of(std::string kind) const {
    return {metadata, spec, metadata.namespace_, "spec.template", std::move(kind)};
  }
};

inline Judgement judge_create(const TestPod& pod, const Policy& policy = Policy()) {
  Review review;
  review.subjects.push_back(pod.subject());
  return judge(policy, review, kNow);
}

inline Judgement judge_update(const TestPod& old, const TestPod& now, std::string sub_resource = {},
                              const Policy& policy = Policy()) {
  Review review;
  review.operation = Operation::kUpdate;
  review.sub_resource = std::move(sub_resource);
  review.subjects.push_back(now.subject());
  review.old_subjects.push_back(old.subject());
  return judge(policy, review, kNow);
}

// "enforce HP-01", "warn PRIV-01", ... in the order of reports; the short form of a judgement.
inline std::vector<std::string> verdicts(const Judgement& judgement) {
  std::vector<std::string> out;
  for (const Finding& finding : judgement.findings)
    out.push_back(std::string(to_string(finding.mode)) + " " + std::string(finding.rule));
  return out;
}

inline std::vector<std::string> verdicts(const TestPod& pod, const Policy& policy = Policy()) {
  return verdicts(judge_create(pod, policy));
}

inline Policy policy_of(PolicyOptions options) {
  return Policy::make(std::move(options)).value();
}

using Verdicts = std::vector<std::string>;

}  // namespace rankward::admission::testing
