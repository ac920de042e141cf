// k8s.io/kube-scheduler/extender/v1, the same from Kubernetes 1.34 to 1.37. The Go types carry no
// JSON tags: keys are written as `NodeNames` and read in any case, null is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// Nodes of one call. Over it: kTooLarge.
inline constexpr std::size_t kMaxCandidates = 200'000;

// How a call speaks of nodes, and so how the answer must.
enum class NodeForm : std::uint8_t {
  kNone,   // neither was given; the scheduler takes an answer without both as "no node fits"
  kNames,  // NodeNames: nodeCacheCapable is true
  kNodes,  // Nodes: whole objects. Where both are given this form is used: a scheduler that asked
           // for names takes nodes as well, one that sent nodes takes nothing else
};

// Views lead into the request body or into the reader, and hold until the reader's next read.
struct ExtenderArgs {
  kube::Pod pod;
  NodeForm form = NodeForm::kNone;
  // In the order of the request; under kNodes metadata.name of each.
  std::vector<std::string_view> node_names;
  // Under kNodes the JSON of each Node as it came, beside its name; else empty. read_node() reads
  // one.
  std::vector<std::string_view> node_items;
};

// Reads ExtenderArgs without a DOM. Keeps its memory from call to call: one a connection. Not for
// use by two threads at once.
class ExtenderArgsReader {
 public:
  // `body` must outlive the use of what is returned.
  [[nodiscard]] Result<const ExtenderArgs*> read(std::string_view body);

 private:
  ExtenderArgs args_;
  std::vector<std::string_view> names_;
  std::deque<std::string> decoded_;  // names that were written with escapes
};

struct RejectedNode {
  std::string_view name;
  std::string_view reason;  // one constant phrase: the scheduler counts equal ones
};

// ExtenderFilterResult, in the form that was asked.
struct FilterResult {
  NodeForm form = NodeForm::kNames;
  // Names under kNames, the Nodes' own JSON under kNodes, nothing under kNone.
  std::span<const std::string_view> passed;
  std::span<const RejectedNode> failed;  // preemption may help
  std::span<const RejectedNode> failed_and_unresolvable;
  std::string_view error;  // not empty: the scheduler looks at nothing else
};
void write_filter_result(const FilterResult& result, std::string& out);

// HostPriorityList: a bare array. `scores[i]`, 0 to 10, belongs to `names[i]`; what one list has
// more than the other is not written.
void write_host_priorities(std::span<const std::string_view> names,
                           std::span<const std::int64_t> scores, std::string& out);

struct PreemptionVictim {
  std::string uid;
  kube::Pod pod;  // under NodeNameToVictims; else only metadata.uid is set
};

struct PreemptionCandidate {
  std::string node;
  std::vector<PreemptionVictim> victims;  // may be empty
  std::int64_t pdb_violations = 0;
};

// Candidates in the order of the request, from NodeNameToVictims (whole pods) or
// NodeNameToMetaVictims (UIDs); where both are given from the first, which says more.
struct ExtenderPreemptionArgs {
  kube::Pod pod;
  bool whole_pods = false;
  std::vector<PreemptionCandidate> candidates;
};
[[nodiscard]] Result<ExtenderPreemptionArgs> read_preemption_args(std::string_view body);

// ExtenderPreemptionResult, which knows UIDs only.
void write_preemption_result(std::span<const PreemptionCandidate> candidates, std::string& out);

}  // namespace rankward::formats
