#include "rankward/formats/gang_objects.hpp"

#include <algorithm>
#include <utility>

#include "gang_owner.hpp"
#include "object_fields.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::formats {

namespace {

// As rankward.io/gang-size is bounded: more than any cluster holds.
constexpr std::int64_t kMostPods = 100'000;

// Marks a pod as the owner's controller does.
using Mark = void (*)(const GangObject& owner, const GangPart& part, kube::Pod& pod);

void mark_index(const GangPart& part, kube::Pod& pod) {
  if (part.indexed) pod.metadata.labels["batch.kubernetes.io/job-completion-index"] = "0";
}

void mark_job(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.labels["batch.kubernetes.io/job-name"] = owner.metadata.name;
  pod.metadata.labels["batch.kubernetes.io/controller-uid"] = owner.metadata.uid;
  mark_index(part, pod);
}

void mark_job_set(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.labels["jobset.sigs.k8s.io/jobset-name"] = owner.metadata.name;
  pod.metadata.labels["jobset.sigs.k8s.io/replicatedjob-name"] = part.name;
  mark_index(part, pod);
}

void mark_stateful_set(const GangObject&, const GangPart&, kube::Pod& pod) {
  pod.metadata.labels["apps.kubernetes.io/pod-index"] = "0";
}

void mark_training_job(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.labels["training.kubeflow.org/job-name"] = owner.metadata.name;
  pod.metadata.labels["training.kubeflow.org/replica-type"] = part.name;
}

void mark_ray_cluster(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.labels["ray.io/cluster"] = owner.metadata.name;
  pod.metadata.labels["ray.io/group"] = part.name;
}

// Its PodGroup has been called so since Volcano 1.5.
void mark_volcano_job(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.annotations["scheduling.k8s.io/group-name"] =
      owner.metadata.name + "-" + owner.metadata.uid;
  pod.metadata.labels["volcano.sh/task-spec"] = part.name;
}

void mark_native_pod_group(const GangObject& owner, const GangPart&, kube::Pod& pod) {
  pod.spec.pod_group_name = owner.metadata.name;
}

void mark_pod_group(const GangObject& owner, const GangPart&, kube::Pod& pod) {
  pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = owner.metadata.name;
}

void mark_kai_pod_group(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.annotations["pod-group-name"] = owner.metadata.name;
  pod.metadata.labels["kai.scheduler/subgroup-name"] = part.name;
}

void mark_pod_gang(const GangObject& owner, const GangPart& part, kube::Pod& pod) {
  pod.metadata.labels["grove.io/podgang"] = owner.metadata.name;
  pod.metadata.labels["grove.io/podclique"] = part.name;
}

using ReadSpec = bool (*)(Cursor& cursor, GangObject& out);

struct Kind {
  ReadSpec read;
  Mark mark;
};

constexpr std::string_view kKubeflow = "kubeflow.org";

constexpr std::array kResources{
    GangResource{"batch", "jobs", "Job", {"v1"}},
    GangResource{"jobset.x-k8s.io", "jobsets", "JobSet", {"v1alpha2"}},
    GangResource{"apps", "statefulsets", "StatefulSet", {"v1"}},
    GangResource{kKubeflow, "pytorchjobs", "PyTorchJob", {"v1"}},
    GangResource{kKubeflow, "tfjobs", "TFJob", {"v1"}},
    GangResource{kKubeflow, "mpijobs", "MPIJob", {"v2beta1", "v1"}},
    GangResource{kKubeflow, "xgboostjobs", "XGBoostJob", {"v1"}},
    GangResource{kKubeflow, "paddlejobs", "PaddleJob", {"v1"}},
    GangResource{kKubeflow, "jaxjobs", "JAXJob", {"v1"}},
    GangResource{"ray.io", "rayclusters", "RayCluster", {"v1", "v1alpha1"}},
    GangResource{"batch.volcano.sh", "jobs", "Job", {"v1alpha1"}},
    GangResource{"scheduling.k8s.io", "podgroups", "PodGroup", {"v1beta1", "v1alpha3", "v1alpha2"}},
    GangResource{"scheduling.x-k8s.io", "podgroups", "PodGroup", {"v1alpha1"}},
    GangResource{"scheduling.sigs.k8s.io", "podgroups", "PodGroup", {"v1alpha1"}},
    GangResource{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}},
    GangResource{"scheduling.run.ai", "podgroups", "PodGroup", {"v2alpha2"}},
    GangResource{"scheduler.grove.io", "podgangs", "PodGang", {"v1alpha1"}},
};

Kind kind_of(const GangResource& resource) {
  if (resource.group == kKubeflow) return {read_training_job, mark_training_job};
  if (resource.group == "batch") return {read_job, mark_job};
  if (resource.group == "jobset.x-k8s.io") return {read_job_set, mark_job_set};
  if (resource.group == "apps") return {read_stateful_set, mark_stateful_set};
  if (resource.group == "ray.io") return {read_ray_cluster, mark_ray_cluster};
  if (resource.group == "batch.volcano.sh") return {read_volcano_job, mark_volcano_job};
  if (resource.group == "scheduling.k8s.io") return {read_native_pod_group, mark_native_pod_group};
  if (resource.group == "scheduling.run.ai") return {read_pod_group, mark_kai_pod_group};
  if (resource.group == "scheduler.grove.io") return {read_pod_gang, mark_pod_gang};
  return {read_pod_group, mark_pod_group};
}

// Conditions of Job, JobSet and Kubeflow's jobs; the phase of Volcano's.
bool read_status(Cursor& cursor, GangObject& out) {
  const auto condition = [&](std::size_t) {
    std::string type;
    std::string status;
    if (!cursor.object(field("type", type), field("status", status))) return false;
    const bool final =
        type == "Complete" || type == "Completed" || type == "Succeeded" || type == "Failed";
    out.ended = out.ended || (final && status == "True");
    return true;
  };
  const auto state = [&] {
    if (cursor.peek() != '{') return cursor.skip();  // a RayCluster's is a word
    std::string phase;
    if (!cursor.object(field("phase", phase))) return false;
    out.ended = out.ended || phase == "Completed" || phase == "Failed" || phase == "Terminated" ||
                phase == "Aborted";
    return true;
  };
  return cursor.object(field("conditions", [&] { return cursor.items(condition); }),
                       field("state", state));
}

// Whether another object that is read speaks for the same pods.
bool is_spoken_for(const GangResource& resource, const GangObject& object) {
  const kube::OwnerReference* owner = object.metadata.controller();
  if (owner == nullptr) return false;
  if (resource.group == "batch") {
    return owner->kind == "MPIJob" ||
           (owner->kind == "JobSet" &&
            !kube::find(object.metadata.annotations, placement::kExclusiveTopologyKey));
  }
  return resource.group == "apps";  // LeaderWorkerSet's, of one group each
}

placement::GangFacts& facts_for(std::vector<placement::GangFacts>& all, const std::string& key,
                                const GangObject& object) {
  for (placement::GangFacts& facts : all) {
    if (facts.gang_key == key) return facts;
  }
  placement::GangFacts& facts = all.emplace_back();
  facts.gang_key = key;
  facts.required_topology = object.required_topology;
  facts.elastic = object.elastic;
  return facts;
}

void add_size(placement::GangFacts& facts, const std::string& role, const GangPart& part,
              std::shared_ptr<const placement::RolePod> asks) {
  if (part.pods < 1 || part.pods > kMostPods) return;
  const auto pods = static_cast<std::int32_t>(part.pods);
  const auto least = static_cast<std::int32_t>(part.least);
  for (placement::RoleSize& size : facts.sizes) {
    if (size.role != role) continue;
    if (!size.pod) size.pod = std::move(asks);
    // As pods below, kept within bounds; where a sum is too large, both go.
    if (size.least != 0 || least != 0) {
      const std::int64_t fewest =
          std::int64_t{size.least == 0 ? size.pods : size.least} + (least == 0 ? pods : least);
      size.least = static_cast<std::int32_t>(std::min(fewest, kMostPods + 1));
    }
    size.pods = static_cast<std::int32_t>(std::min(std::int64_t{size.pods} + pods, kMostPods + 1));
    return;
  }
  facts.sizes.push_back({role, pods, least, std::move(asks)});
}

// `pod` has the template's metadata and its controller's marks. Where its spec cannot be read, what
// it asks for is not known before the pod is there.
std::shared_ptr<const placement::RolePod> role_pod(const GangObject& object, const GangPart& part,
                                                   kube::Pod pod,
                                                   const placement::RequestOptions& options) {
  if (object.in_steps || part.spec.empty()) return nullptr;
  Cursor cursor(part.spec);
  if (!read(cursor, pod.spec)) return nullptr;
  return placement::role_pod(pod, std::hash<std::string_view>{}(part.text), options);
}

std::vector<placement::GangFacts> facts_of(const GangResource& resource, const GangObject& object,
                                           const placement::RequestOptions& options) {
  std::vector<placement::GangFacts> all;
  const Mark mark = kind_of(resource).mark;
  for (const GangPart& part : object.parts) {
    kube::Pod pod;
    pod.metadata = part.metadata;
    pod.metadata.namespace_ = object.metadata.namespace_;
    pod.spec.pod_group_name = part.pod_group_name;
    mark(object, part, pod);
    // A template whose annotations cannot be read makes pods that are in no gang.
    const auto gang = placement::gang_of(pod);
    if (!gang || !*gang) continue;
    const auto asks = (*gang)->role.empty() ? nullptr : role_pod(object, part, pod, options);
    add_size(facts_for(all, (*gang)->key, object), (*gang)->role, part, asks);
    if (resource.group != "jobset.x-k8s.io") continue;
    // Newer releases put the set's UID on the pods, older ones do not.
    pod.metadata.labels["jobset.sigs.k8s.io/jobset-uid"] = object.metadata.uid;
    const auto newer = placement::gang_of(pod);
    if (newer && *newer && (*newer)->key != (*gang)->key) {
      add_size(facts_for(all, (*newer)->key, object), (*newer)->role, part, asks);
    }
  }
  for (placement::GangFacts& facts : all) {
    std::erase_if(facts.sizes, [](const auto& size) { return size.pods > kMostPods; });
  }
  std::erase_if(all, [](const placement::GangFacts& facts) {
    return facts.sizes.empty() && facts.required_topology.empty() && !facts.elastic;
  });
  return all;
}

}  // namespace

std::string GangResource::name() const {
  return std::string(plural) + "." + std::string(group);
}

std::span<const GangResource> gang_resources() {
  return kResources;
}

const GangResource* find_gang_resource(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return nullptr;
  for (const GangResource& resource : kResources) {
    if (resource.kind != kind || resource.group != api_version.substr(0, slash)) continue;
    const auto& versions = resource.versions;
    const bool known = std::find(versions.begin(), versions.end(), api_version.substr(slash + 1)) !=
                       versions.end();
    return known ? &resource : nullptr;
  }
  return nullptr;
}

std::set<std::string> gang_kinds(const GangResource& resource) {
  std::set<std::string> kinds{std::string(placement::kOwnGangKind)};
  GangObject owner;
  owner.metadata.name = owner.metadata.namespace_ = "any";
  GangPart part;
  part.indexed = true;
  kube::Pod pod;
  pod.metadata.namespace_ = owner.metadata.namespace_;
  kind_of(resource).mark(owner, part, pod);
  if (const auto gang = placement::gang_of(pod); gang && *gang) {
    kinds.emplace(placement::gang_kind((*gang)->key));
  }
  return kinds;
}

std::string gang_owner_key(const GangResource& resource, const kube::ObjectMeta& metadata) {
  return resource.name() + "/" + metadata.full_name();
}

Result<GangOwner> read_gang_owner(const GangResource& resource, std::string_view json,
                                  const placement::RequestOptions& options) {
  Cursor cursor(json);
  GangObject object;
  const ReadSpec read = kind_of(resource).read;
  if (!cursor.document(field("metadata", object.metadata),
                       field("spec", [&] { return read(cursor, object); }),
                       field("status", [&] { return read_status(cursor, object); }))) {
    return cursor.take_error();
  }
  GangOwner owner;
  owner.key = gang_owner_key(resource, object.metadata);
  if (!object.ended && !is_spoken_for(resource, object))
    owner.facts = facts_of(resource, object, options);
  return owner;
}

Result<bool> lists_resource(std::string_view json, std::string_view plural) {
  Cursor cursor(json);
  bool found = false;
  const auto one = [&](std::size_t) {
    std::string name;
    std::vector<std::string> verbs;
    if (!cursor.object(field("name", name), field("verbs", verbs))) return false;
    found =
        found || (name == plural && std::find(verbs.begin(), verbs.end(), "watch") != verbs.end());
    return true;
  };
  if (!cursor.document(field("resources", [&] { return cursor.items(one); }))) {
    return cursor.take_error();
  }
  return found;
}

}  // namespace rankward::formats
