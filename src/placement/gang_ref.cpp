// Group, size and rank keys of the frameworks, as far as they stand on the pod itself. Source:
// field/topology.md, section 5, where each is named with the project that writes it.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "annotations.hpp"
#include "gang_environment.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::placement {

namespace {

// A StatefulSet's pods are independent of each other unless they say that they are a gang.
constexpr std::string_view kPodIndexKey = "apps.kubernetes.io/pod-index";

// One way in which a framework marks the pods of a group. Keys are looked for among the labels,
// then among the annotations: projects have moved them from one to the other. "" for none.
struct Framework {
  std::string_view kind;
  std::string_view name;  // its presence means that the pod is in such a group
  std::string_view uid;
  std::string_view size;
  std::string_view rank;
  std::string_view role;
  bool rank_required = false;  // without a rank the pods are independent of each other
};

// The first that matches counts: a JobSet's pods also carry their Job's labels.
constexpr std::array kFrameworks{
    Framework{"LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/group-key", "",
              "leaderworkerset.sigs.k8s.io/size", "leaderworkerset.sigs.k8s.io/worker-index", ""},
    Framework{"KueuePodGroup", "kueue.x-k8s.io/pod-group-name", "",
              "kueue.x-k8s.io/pod-group-total-count", "kueue.x-k8s.io/pod-group-pod-index",
              "kueue.x-k8s.io/role-hash"},
    Framework{"PodGang", "grove.io/podgang", "", "", "grove.io/podclique-pod-index",
              "grove.io/podclique"},
    Framework{"PodGroup", "scheduling.x-k8s.io/pod-group", "", "", "", ""},
    Framework{"PodGroup", "pod-group.scheduling.sigs.k8s.io", "", "", "", ""},
    Framework{"PodGroup", "scheduling.k8s.io/group-name", "", "", "volcano.sh/task-index",
              "volcano.sh/task-spec"},
    Framework{"PodGroup", "pod-group-name", "", "", "", "kai.scheduler/subgroup-name"},
    Framework{"Gang", "gang.scheduling.koordinator.sh/name", "",
              "gang.scheduling.koordinator.sh/total-number",
              "gang.scheduling.koordinator.sh/network-topology-index", ""},
    Framework{"TrainingJob", "training.kubeflow.org/job-name", "", "",
              "training.kubeflow.org/replica-index", "training.kubeflow.org/replica-type"},
    Framework{"RayCluster", "ray.io/cluster", "", "", "", "ray.io/group"},
    // The completion index is a rank only within one of the set's Jobs: see rank_in_job_set().
    Framework{"JobSet", "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/jobset-uid", "", "",
              "jobset.sigs.k8s.io/replicatedjob-name"},
    Framework{"Job", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid", "",
              "batch.kubernetes.io/job-completion-index", "", true},
    Framework{"Job", "job-name", "controller-uid", "", "batch.kubernetes.io/job-completion-index",
              "", true},
};

const std::string* value_of(const kube::ObjectMeta& metadata, std::string_view key) {
  if (key.empty()) return nullptr;
  const std::string* value = kube::find(metadata.labels, key);
  return value != nullptr ? value : kube::find(metadata.annotations, key);
}

std::optional<std::int32_t> number_of(const kube::ObjectMeta& metadata, std::string_view key) {
  const std::string* text = value_of(metadata, key);
  return text == nullptr ? std::nullopt : small_number(*text, kMaxGangSize);
}

// A set of one Job counts its pods by completion index; across several Jobs the pods a Job has
// would be needed, and no key says that.
std::optional<std::int32_t> rank_in_job_set(const kube::ObjectMeta& metadata) {
  if (number_of(metadata, "jobset.sigs.k8s.io/global-replicas") != 1) return std::nullopt;
  return number_of(metadata, "batch.kubernetes.io/job-completion-index");
}

// Kueue lets a group name the label in which its pods carry their index.
std::optional<std::int32_t> rank_in_pod_group(const kube::ObjectMeta& metadata) {
  const std::string* label =
      kube::find(metadata.annotations, "kueue.x-k8s.io/pod-group-pod-index-label");
  return label == nullptr ? std::nullopt : number_of(metadata, *label);
}

// Hosts are counted within a replica, and how many a replica has stands nowhere on the pod.
std::optional<std::int32_t> rank_in_ray_cluster(const kube::ObjectMeta& metadata) {
  if (value_of(metadata, "ray.io/replica-host-index") != nullptr) return std::nullopt;
  return number_of(metadata, "ray.io/worker-group-replica-index");
}

std::optional<std::int32_t> size_of(const kube::ObjectMeta& metadata, const Framework& framework) {
  const auto size = number_of(metadata, framework.size);
  // Koordinator: where the total is not given it is the least that starts.
  return !size && framework.kind == kOwnGangKind
             ? number_of(metadata, "gang.scheduling.koordinator.sh/min-available")
             : size;
}

std::optional<std::int32_t> rank_of(const kube::ObjectMeta& metadata, const Framework& framework) {
  if (framework.kind == "JobSet") return rank_in_job_set(metadata);
  if (framework.kind == "RayCluster") return rank_in_ray_cluster(metadata);
  const auto rank = number_of(metadata, framework.rank);
  return !rank && framework.kind == "KueuePodGroup" ? rank_in_pod_group(metadata) : rank;
}

std::string role_of(const kube::ObjectMeta& metadata, const Framework& framework) {
  const std::string* role = value_of(metadata, framework.role);
  if (framework.kind != "TrainingJob") return role == nullptr ? std::string() : *role;
  // The MPI operator's v2 knows this one only.
  if (role == nullptr) role = value_of(metadata, "training.kubeflow.org/job-role");
  if (role == nullptr) return {};
  std::string lower = *role;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string key_of(const kube::ObjectMeta& metadata, std::string_view kind, std::string_view name) {
  std::string key = metadata.namespace_;
  key += '/';
  key += kind;
  key += '/';
  key += name;
  return key;
}

const std::string* name_in(const kube::ObjectMeta& metadata, const Framework& framework) {
  const std::string* name = value_of(metadata, framework.name);
  if (name == nullptr || name->empty()) return nullptr;
  return framework.rank_required && !rank_of(metadata, framework) ? nullptr : name;
}

// Groups that only bind together what others have made: rank and role are those others' words.
bool is_mere_group(const Framework& framework) {
  return framework.kind == "PodGroup" || framework.kind == "Gang";
}

std::optional<GangRef> by_framework(const kube::Pod& pod) {
  const kube::ObjectMeta& metadata = pod.metadata;
  std::optional<GangRef> gang;
  // Each Job in a domain of its own is a gang, unless somebody has made one of more.
  const bool jobs_apart = kube::find(metadata.annotations, kExclusiveTopologyKey) != nullptr &&
                          kube::find(metadata.annotations, kGangKey) == nullptr &&
                          pod.spec.pod_group_name.empty();
  for (const Framework& framework : kFrameworks) {
    const std::string* name = name_in(metadata, framework);
    if (name == nullptr || (framework.kind == "JobSet" && jobs_apart && !gang)) continue;
    if (gang) {
      if (is_mere_group(framework)) continue;
      if (!gang->rank) gang->rank = rank_of(metadata, framework);
      if (gang->role.empty()) gang->role = role_of(metadata, framework);
      return gang;
    }
    gang.emplace();
    gang->name = *name;
    gang->key = key_of(metadata, framework.kind, *name);
    const std::string* uid = value_of(metadata, framework.uid);
    if (uid != nullptr && !uid->empty()) gang->key += "/" + *uid;
    gang->size = size_of(metadata, framework);
    if (!gang->size) gang->size = size_by_environment(pod, framework.kind);
    if (gang->size == 0) gang->size.reset();
    gang->rank = rank_of(metadata, framework);
    gang->role = role_of(metadata, framework);
    if (!is_mere_group(framework)) return gang;
  }
  return gang;
}

}  // namespace

std::string_view gang_kind(std::string_view gang_key) {
  const std::size_t begin = gang_key.find('/');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = gang_key.find('/', begin + 1);
  return gang_key.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1);
}

Result<std::optional<GangRef>> gang_of(const kube::Pod& pod) {
  const kube::StringMap& annotations = pod.metadata.annotations;
  auto name = read_name(annotations, kGangKey);
  if (!name) return std::move(name).error();
  auto size = read_gang_size(annotations);
  if (!size) return std::move(size).error();
  auto rank = read_rank(annotations);
  if (!rank) return std::move(rank).error();

  std::optional<GangRef> gang = by_framework(pod);
  if (*name) {
    // The framework still knows the rank and the role where the pod does not say its own.
    if (!gang) gang.emplace().rank = number_of(pod.metadata, kPodIndexKey);
    gang->name = **name;
    gang->key = key_of(pod.metadata, kOwnGangKind, **name);
    gang->size.reset();
  } else if (!pod.spec.pod_group_name.empty()) {
    if (!gang) gang.emplace();
    gang->name = pod.spec.pod_group_name;
    gang->key = key_of(pod.metadata, "PodGroup", pod.spec.pod_group_name);
    gang->size.reset();
  }
  if (!gang) return gang;
  if (*size) gang->size = *size;
  if (*rank) gang->rank = *rank;
  return gang;
}

}  // namespace rankward::placement
