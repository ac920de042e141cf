// Golden verdicts: GetRequiredNodeAffinity(pod).Match (k8s.io/component-helpers v0.37.2) and
// Toleration.ToleratesTaint (k8s.io/api v0.37.2).
#include "rankward/kube/scheduling.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankward::kube {
namespace {

using Requirements = std::vector<NodeSelectorRequirement>;

Node gpu_node() {
  Node node;
  node.metadata.name = "gpu-1";
  node.metadata.labels = {{"nvidia.com/gpu.memory", "81559"},
                          {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                          {"empty", ""},
                          {"plus", "+5"},
                          {"unit", "80GB"},
                          {"negative", "-3"}};
  return node;
}

NodeSelectorTerm term(Requirements expressions, Requirements fields = {}) {
  return {std::move(expressions), std::move(fields)};
}

std::optional<std::string> failure_of(std::vector<NodeSelectorTerm> terms) {
  PodSpec spec;
  spec.required_node_affinity = std::move(terms);
  return failing_selector(spec, gpu_node());
}

TEST(FailingSelector, JudgesExpressionsAsTheScheduler) {
  struct Case {
    NodeSelectorRequirement requirement;
    const char* failure;  // "" where it matches
  };
  const std::vector<Case> cases = {
      {{"nvidia.com/gpu.memory", "In", {"1", "81559"}}, ""},
      {{"nvidia.com/gpu.memory", "In", {"1", "2"}}, "nvidia.com/gpu.memory In (1, 2)"},
      {{"absent", "In", {""}}, "absent In ()"},
      {{"empty", "In", {""}}, ""},
      {{"absent", "NotIn", {"a"}}, ""},
      {{"unit", "NotIn", {"a"}}, ""},
      {{"unit", "NotIn", {"80GB"}}, "unit NotIn (80GB)"},
      {{"unit", "Exists", {}}, ""},
      {{"empty", "Exists", {}}, ""},
      {{"absent", "Exists", {}}, "absent Exists"},
      {{"absent", "DoesNotExist", {}}, ""},
      {{"empty", "DoesNotExist", {}}, "empty DoesNotExist"},
      {{"nvidia.com/gpu.memory", "Gt", {"80000"}}, ""},
      {{"nvidia.com/gpu.memory", "Gt", {"81559"}}, "nvidia.com/gpu.memory Gt 81559"},
      {{"nvidia.com/gpu.memory", "Lt", {"81560"}}, ""},
      {{"nvidia.com/gpu.memory", "Lt", {"81559"}}, "nvidia.com/gpu.memory Lt 81559"},
      {{"plus", "Gt", {"4"}}, ""},
      {{"negative", "Lt", {"0"}}, ""},
      {{"unit", "Gt", {"1"}}, "unit Gt 1"},
      {{"unit", "Lt", {"1"}}, "unit Lt 1"},
      {{"empty", "Gt", {"0"}}, "empty Gt 0"},
      {{"absent", "Lt", {"1"}}, "absent Lt 1"},
      {{"nvidia.com/gpu.memory", "Gt", {"many"}}, "nvidia.com/gpu.memory Gt many"},
      // A bound with a sign is no label value, so the scheduler cannot read the term.
      {{"nvidia.com/gpu.memory", "Gt", {"-5"}}, "nvidia.com/gpu.memory Gt -5"},
      {{"nvidia.com/gpu.memory", "Gt", {"+5"}}, "nvidia.com/gpu.memory Gt +5"},
      {{"unit", "In", {"80GB", "bad value!"}}, "unit In (80GB, bad value!)"},
      {{"unit", "NotIn", {"bad value!"}}, "unit NotIn (bad value!)"},
      // What the API server refuses and no scheduler could read matches nothing.
      {{"unit", "In", {}}, "unit In"},
      {{"absent", "NotIn", {}}, "absent NotIn"},
      {{"unit", "Exists", {"80GB"}}, "unit Exists 80GB"},
      {{"nvidia.com/gpu.memory", "Gt", {"1", "2"}}, "nvidia.com/gpu.memory Gt 1, 2"},
      {{"unit", "Equals", {"80GB"}}, "unit Equals 80GB"},
  };
  for (const Case& c : cases) {
    const auto failure = failure_of({term({c.requirement})});
    EXPECT_EQ(failure.value_or(""), c.failure) << c.requirement.key << " " << c.requirement.op;
  }
}

TEST(FailingSelector, KnowsTheNodeNameAsItsOnlyField) {
  struct Case {
    NodeSelectorRequirement requirement;
    bool matches;
  };
  for (const Case& c : {Case{{"metadata.name", "In", {"gpu-1"}}, true},
                        Case{{"metadata.name", "In", {"gpu-2"}}, false},
                        Case{{"metadata.name", "NotIn", {"gpu-2"}}, true},
                        Case{{"metadata.name", "NotIn", {"gpu-1"}}, false},
                        Case{{"metadata.name", "In", {"gpu-1", "gpu-2"}}, false},
                        Case{{"metadata.name", "Exists", {}}, false},
                        Case{{"metadata.uid", "In", {"gpu-1"}}, false}}) {
    const auto failure = failure_of({term({}, {c.requirement})});
    EXPECT_EQ(!failure, c.matches) << c.requirement.key << " " << c.requirement.op;
  }
}

TEST(FailingSelector, AndsRequirementsAndOrsTerms) {
  const NodeSelectorRequirement holds{"unit", "Exists", {}};
  const NodeSelectorRequirement fails{"absent", "Exists", {}};
  const NodeSelectorRequirement named{"metadata.name", "In", {"gpu-1"}};
  const NodeSelectorRequirement misnamed{"metadata.name", "In", {"gpu-2"}};
  EXPECT_EQ(failure_of({term({holds, fails})}), "absent Exists");
  EXPECT_EQ(failure_of({term({holds}, {misnamed})}), "metadata.name In (gpu-2)");
  EXPECT_EQ(failure_of({term({holds}, {named})}), std::nullopt);
  EXPECT_EQ(failure_of({term({fails}), term({holds})}), std::nullopt);
  EXPECT_EQ(failure_of({term({fails}), term({holds}, {misnamed})}),
            "absent Exists or metadata.name In (gpu-2)");
}

TEST(FailingSelector, AnEmptyTermMatchesNothing) {
  EXPECT_EQ(failure_of({}), "a node affinity without terms");
  EXPECT_EQ(failure_of({term({})}), "an empty node selector term");
  EXPECT_EQ(failure_of({term({}), term({{"unit", "Exists", {}}})}), std::nullopt);
  EXPECT_EQ(failing_selector(PodSpec(), gpu_node()), std::nullopt);
}

TEST(FailingSelector, WantsTheNodeSelectorToo) {
  PodSpec spec;
  spec.node_selector = {{"unit", "80GB"}};
  EXPECT_EQ(failing_selector(spec, gpu_node()), std::nullopt);
  spec.node_selector["empty"] = "";
  EXPECT_EQ(failing_selector(spec, gpu_node()), std::nullopt);
  spec.node_selector["absent"] = "";
  EXPECT_EQ(failing_selector(spec, gpu_node()), "absent=");
  spec.node_selector = {{"unit", "80GB"}};
  spec.required_node_affinity = {term({{"unit", "DoesNotExist", {}}})};
  EXPECT_EQ(failing_selector(spec, gpu_node()), "unit DoesNotExist");
}

TEST(UntoleratedTaint, ReadsTolerationsAsTheScheduler) {
  const Taint taint{"nvidia.com/gpu", "present", "NoSchedule"};
  struct Case {
    Toleration toleration;
    bool tolerated;
  };
  for (const Case& c :
       {Case{{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}, true},
        Case{{"nvidia.com/gpu", "", "present", ""}, true},
        Case{{"nvidia.com/gpu", "Equal", "absent", "NoSchedule"}, false},
        Case{{"nvidia.com/gpu", "", "", ""}, false},
        Case{{"nvidia.com/gpu", "Exists", "", ""}, true},
        Case{{"nvidia.com/gpu", "Exists", "", "NoExecute"}, false},
        Case{{"nvidia.com", "Exists", "", ""}, false}, Case{{"", "Exists", "", ""}, true},
        Case{{"", "Exists", "", "NoExecute"}, false}, Case{{"", "Equal", "present", ""}, true},
        Case{{"", "", "", ""}, false}, Case{{"nvidia.com/gpu", "Gt", "1", ""}, false},
        Case{{"nvidia.com/gpu", "exists", "", ""}, false}}) {
    Node node;
    node.taints = {taint};
    PodSpec spec;
    spec.tolerations = {c.toleration};
    EXPECT_EQ(!untolerated_taint(spec, node), c.tolerated)
        << c.toleration.key << " " << c.toleration.op << " " << c.toleration.value;
  }
}

TEST(UntoleratedTaint, NamesTheFirstThatKeepsThePodAway) {
  Node node;
  node.taints = {{"soft", "", "PreferNoSchedule"},
                 {"team", "a", "NoSchedule"},
                 {"team", "b", "NoSchedule"},
                 {"maintenance", "", "NoExecute"}};
  PodSpec spec;
  EXPECT_EQ(untolerated_taint(spec, node), "team=a:NoSchedule");
  spec.tolerations.push_back({"team", "Equal", "a", ""});
  EXPECT_EQ(untolerated_taint(spec, node), "team=b:NoSchedule");
  spec.tolerations.push_back({"team", "Exists", "", "NoSchedule"});
  EXPECT_EQ(untolerated_taint(spec, node), "maintenance:NoExecute");
  spec.tolerations.push_back({"", "Exists", "", "NoExecute"});
  EXPECT_EQ(untolerated_taint(spec, node), std::nullopt);
}

}  // namespace
}  // namespace rankward::kube
