// Where the kinds that make pods keep their pod templates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// Over it an object is refused: far more than people or controllers write into one.
inline constexpr std::size_t kMaxTemplates = 1024;

struct TemplateAt {
  std::string path;    // "spec.template"; "" for a Pod, which is its own template
  std::string role{};  // "Worker" of a PyTorchJob, "workers" of a JobSet's replicated job; else ""
  // Pods that the object makes of it, where it says so.
  std::optional<std::int64_t> replicas{};
  kube::PodTemplate pod_template;
  // Which of its fields do not stand below `path` as a Pod has them.
  std::vector<admission::PlacedField> placed{};
};

// What stands at the end of a path.
enum class TemplateShape : std::uint8_t {
  kTemplate,   // {metadata, spec}
  kPodSpec,    // a pod spec alone
  kPatch,      // {metadata, spec} laid over a template that stands elsewhere: only containers and
               // volumes count, since what it leaves out is not known
  kSpecPatch,  // the same without metadata
  kContainer,  // one container alone
  kTrainer,    // a TrainJob's: one container, with resourcesPerNode and numNodes
  kServing,    // a component of an InferenceService: a pod spec with its model server beside it
  kWorkflow,   // a Workflow's spec: templates of one container each, and what they share
  kSpark,      // a SparkApplication's spec: driver and executor
  kObject,     // another object, with apiVersion and kind
};

// One place in one kind of object. Paths are field names joined by dots; `[]` behind a name stands
// for every item of the list, `{}` for every value of the map, whose key is the role.
struct WorkloadKind {
  std::string_view group;  // "" is the core group; any version of it
  std::string_view kind;
  std::string_view template_path;
  TemplateShape shape = TemplateShape::kTemplate;
  std::string_view role{};       // the same for every such object
  std::string_view role_path{};  // or where its name stands
  // Where the numbers stand that multiply to the number of pods.
  std::array<std::string_view, 2> counts{};
  // Where the most stands that run at a time, of what the same object multiplies.
  std::string_view at_most{};
  // Where the size of a group stands that has one pod less where a leader's template stands beside.
  std::string_view group_size{};
};

// Pod, the eight built-in workload kinds, and the custom resources that are known, a row for each
// place.
[[nodiscard]] std::span<const WorkloadKind> workload_kinds();

// The templates of an object. An object of the table without its template has none. In kinds that
// are not built in, every other pod spec is found too: any object with `containers` or
// `initContainers` that are lists of containers, whatever the kind calls it. Errors name the field
// from the object's root.
[[nodiscard]] Result<std::vector<TemplateAt>> pod_templates(std::string_view api_version,
                                                            std::string_view kind,
                                                            std::string_view json);

}  // namespace rankward::formats
