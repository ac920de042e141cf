#include "distributed_job.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "rankward/kube/rankward_keys.hpp"
#include "rankward/kube/scheduling.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using kube::kMaxGangSize;
using kube::small_number;
using std::string_view;

// Kinds whose pods of one role are ranks that talk to each other. Source: field/topology.md,
// section 5.
constexpr std::array<string_view, 11> kRankKinds{"PyTorchJob",
                                                 "TFJob",
                                                 "MPIJob",
                                                 "XGBoostJob",
                                                 "PaddleJob",
                                                 "MXJob",
                                                 "JAXJob",
                                                 "JobSet",
                                                 "TrainJob",
                                                 "TrainingRuntime",
                                                 "ClusterTrainingRuntime"};

// Kinds that serve, or run the same on every node: a number of nodes in their command is that of
// one replica.
constexpr std::array<string_view, 11> kServingKinds{
    "Deployment",     "ReplicaSet", "ReplicationController", "DaemonSet",
    "RayService",     "Service",    "LeaderWorkerSet",       "InferenceService",
    "RoleBasedGroup", "Notebook",   "LLMInferenceService"};

// Roles beside the ranks: they start or watch them.
constexpr std::array<string_view, 5> kBesideRanks{"launcher", "ps", "evaluator", "scheduler",
                                                  "driver"};

// Keys that name the group of a pod. Source: field/topology.md, section 5.
constexpr std::array<string_view, 14> kGroupKeys{"batch.kubernetes.io/job-name",
                                                 "job-name",
                                                 "jobset.sigs.k8s.io/jobset-name",
                                                 "leaderworkerset.sigs.k8s.io/group-key",
                                                 "training.kubeflow.org/job-name",
                                                 "ray.io/cluster",
                                                 "scheduling.k8s.io/group-name",
                                                 "scheduling.x-k8s.io/pod-group",
                                                 "pod-group.scheduling.sigs.k8s.io",
                                                 "kueue.x-k8s.io/pod-group-name",
                                                 "pod-group-name",
                                                 "gang.scheduling.koordinator.sh/name",
                                                 "grove.io/podgang",
                                                 "volcano.sh/job-name"};

struct SizedGroup {
  string_view name;  // key of the group's name
  string_view size;  // key of the number of its pods
  string_view word;
};
constexpr std::array kSizedGroups{
    SizedGroup{"kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count",
               "pod group"},
    SizedGroup{"gang.scheduling.koordinator.sh/name", "gang.scheduling.koordinator.sh/total-number",
               "gang"}};

// torchrun's and their users' own names for the number of nodes.
constexpr std::array<string_view, 4> kNodeCounts{"PET_NNODES", "NNODES", "NUM_NODES", "N_NODES"};

bool is_among(std::span<const string_view> list, string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string lower(string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string in_words(string_view word, string_view name) {
  return std::string(word) + " " + in_quotes(name);
}

// The kind of object that the pod comes from, or is a template of; "" for a pod of nobody.
string_view kind_of(const Subject& subject) {
  if (!subject.workload_kind.empty()) return subject.workload_kind;
  const kube::OwnerReference* owner = subject.metadata.controller();
  return owner == nullptr ? string_view() : string_view(owner->kind);
}

// "4", and the greater one of an elastic job's "1:4".
std::int64_t node_count(string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != string_view::npos) text.remove_prefix(colon + 1);
  return small_number(text, kMaxGangSize).value_or(0);
}

std::int64_t nodes_in_environment(const kube::Container& container) {
  std::int64_t most = 0;
  for (const kube::EnvVar& variable : container.env)
    if (variable.value_from.empty() && is_among(kNodeCounts, variable.name))
      most = std::max(most, node_count(variable.value));
  return most;
}

// WORLD_SIZE counts processes, of which one pod has as many as GPUs.
std::int64_t nodes_by_world_size(const kube::Container& container, std::int64_t gpus) {
  std::int64_t world = 0;
  for (const kube::EnvVar& variable : container.env)
    if (variable.value_from.empty() && variable.name == "WORLD_SIZE")
      world = small_number(variable.value, kMaxGangSize).value_or(0);
  return gpus > 0 ? world / gpus : 0;
}

// `--nnodes=2`, `--nnodes 2`, `--nnodes 1:4`, as words of their own or inside a shell's text.
std::int64_t nodes_in_words(const std::vector<std::string>& words) {
  std::int64_t most = 0;
  bool awaited = false;
  for (string_view text : words) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \t\n\\\"'"), text.size());
      string_view word = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (word.empty()) continue;
      if (awaited) most = std::max(most, node_count(word));
      awaited = word == "--nnodes" || word == "-nnodes";
      for (const string_view option : {"--nnodes=", "-nnodes="})
        if (word.starts_with(option)) most = std::max(most, node_count(word.substr(option.size())));
    }
  }
  return most;
}

std::int64_t whole_gpus(const kube::Container& container) {
  std::int64_t sum = 0;
  for (const auto* list : {&container.resources.limits, &container.resources.requests}) {
    std::int64_t here = 0;
    for (const auto& [name, amount] : *list)
      if (kube::device_kind(name) == kube::DeviceKind::kWholeGpu && amount.sign() > 0)
        here = std::max(here, amount.value());
    sum = std::max(sum, here);
  }
  return sum;
}

// The number of nodes that the program itself is told of.
std::int64_t nodes_told(const PodFacts& pod) {
  std::int64_t most = 0;
  for (const ContainerFacts& facts : pod.containers()) {
    const kube::Container& container = *facts.container;
    most = std::max({most, nodes_in_environment(container),
                     nodes_by_world_size(container, whole_gpus(container)),
                     nodes_in_words(container.command), nodes_in_words(container.args)});
  }
  return most;
}

std::optional<DistributedJob> by_own_word(const Subject& subject) {
  const std::string* name = own_value(subject, kube::kGangKey);
  const std::string* size = own_value(subject, kube::kGangSizeKey);
  if (name == nullptr && size == nullptr) return std::nullopt;
  DistributedJob job{name == nullptr ? std::string("a gang") : in_words("gang", *name), {}};
  if (size != nullptr) job.pods = small_number(*size, kMaxGangSize);
  return job;
}

std::optional<DistributedJob> by_group(const Subject& subject) {
  for (const SizedGroup& group : kSizedGroups) {
    const std::string* name = group_value(subject, group.name);
    const std::string* size = group_value(subject, group.size);
    if (name == nullptr || size == nullptr) continue;
    if (const auto pods = small_number(*size, kMaxGangSize))
      return DistributedJob{in_words(group.word, *name), *pods};
  }
  return std::nullopt;
}

// A batch Job has no roles: what has one and is called Job is Volcano's.
std::optional<DistributedJob> by_kind(const Subject& subject) {
  const bool volcano = subject.workload_kind == "Job" && !subject.role.empty();
  if (!volcano && !is_among(kRankKinds, subject.workload_kind)) return std::nullopt;
  return DistributedJob{"a " + subject.workload_kind, subject.replicas.value_or(1)};
}

}  // namespace

const std::string* own_value(const Subject& subject, std::string_view key) {
  const std::string* value = kube::find(subject.metadata.annotations, key);
  return value != nullptr && kube::find_rankward_key(key)->accepts(*value) ? value : nullptr;
}

const std::string* group_value(const Subject& subject, std::string_view key) {
  const std::string* value = kube::find(subject.metadata.labels, key);
  return value != nullptr ? value : kube::find(subject.metadata.annotations, key);
}

bool is_in_a_group(const Subject& subject) {
  return !subject.spec.pod_group_name.empty() ||
         std::any_of(kGroupKeys.begin(), kGroupKeys.end(),
                     [&](std::string_view key) { return group_value(subject, key) != nullptr; });
}

std::optional<DistributedJob> distributed_job(const PodFacts& pod) {
  const Subject& subject = pod.subject();
  if (is_among(kBesideRanks, lower(subject.role))) return std::nullopt;
  std::optional<DistributedJob> job = by_own_word(subject);
  if (!job) job = by_group(subject);
  if (!job) job = by_kind(subject);
  if (job && job->pods.value_or(2) >= 2) return job;
  // What the pod itself says of a single pod stands.
  const bool said = job && own_value(subject, kube::kGangSizeKey) != nullptr;
  if (said || is_among(kServingKinds, kind_of(subject))) return std::nullopt;
  const std::int64_t nodes = nodes_told(pod);
  if (nodes < 2) return std::nullopt;
  return DistributedJob{"a job of several nodes", nodes};
}

}  // namespace rankward::admission
