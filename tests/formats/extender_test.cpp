#include "rankward/formats/extender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "rankward/formats/objects.hpp"

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// tests/cases/45: what a scheduler with nodeCacheCapable sends.
constexpr std::string_view kCase45 =
    R"({"Pod":{"metadata":{"name":"p","namespace":"team-a"},"spec":{"containers":[{"name":"c",)"
    R"("resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"nvidia.com/gpu":"1"}}}]}},)"
    R"("Nodes":null,"NodeNames":["gpu-a","gpu-b","gone"]})";

TEST(ExtenderArgs, reads_names) {
  ExtenderArgsReader reader;
  const auto args = reader.read(kCase45);
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_EQ((*args)->form, NodeForm::kNames);
  EXPECT_THAT((*args)->node_names, ElementsAre("gpu-a", "gpu-b", "gone"));
  EXPECT_THAT((*args)->node_items, IsEmpty());
  EXPECT_EQ((*args)->pod.metadata.full_name(), "team-a/p");
  ASSERT_EQ((*args)->pod.spec.containers.size(), 1U);
  EXPECT_EQ((*args)->pod.spec.containers[0].resources.limits.at("nvidia.com/gpu"),
            kube::Quantity(1));
}

TEST(ExtenderArgs, names_are_views_into_the_body) {
  ExtenderArgsReader reader;
  const auto args = reader.read(kCase45);
  ASSERT_TRUE(args);
  EXPECT_EQ((*args)->node_names[0].data(), kCase45.data() + kCase45.find("gpu-a"));
}

TEST(ExtenderArgs, reads_nodes_and_keeps_their_bytes) {
  const std::string_view body =
      R"({"Pod":{},"Nodes":{"metadata":{},"items":[ {"metadata":{"name":"a"}, "x" : [1] } ,)"
      R"({"status":{"allocatable":{"nvidia.com/gpu":"8"}},"metadata":{"name":"b\u002d1"}}]},)"
      R"("NodeNames":null})";
  ExtenderArgsReader reader;
  const auto args = reader.read(body);
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_EQ((*args)->form, NodeForm::kNodes);
  EXPECT_THAT((*args)->node_names, ElementsAre("a", "b-1"));
  ASSERT_EQ((*args)->node_items.size(), 2U);
  EXPECT_EQ((*args)->node_items[0], R"({"metadata":{"name":"a"}, "x" : [1] })");
  const auto node = read_node((*args)->node_items[1]);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->allocatable.at("nvidia.com/gpu"), kube::Quantity(8));
}

TEST(ExtenderArgs, tells_the_forms_apart) {
  struct Case {
    std::string_view body;
    NodeForm form;
    std::size_t names;
  };
  const Case cases[] = {
      {R"({"Pod":{}})", NodeForm::kNone, 0},
      {R"({"Pod":{},"Nodes":null,"NodeNames":null})", NodeForm::kNone, 0},
      {R"({"Pod":{},"NodeNames":[]})", NodeForm::kNames, 0},
      {R"({"Pod":{},"Nodes":{"items":null}})", NodeForm::kNodes, 0},
      {R"({"Pod":{},"Nodes":{}})", NodeForm::kNodes, 0},
      {R"({"NodeNames":["a"],"Pod":{}})", NodeForm::kNames, 1},
      {R"({"NodeNames":["a","b"],"Nodes":{"items":[{"metadata":{"name":"c"}}]},"Pod":{}})",
       NodeForm::kNodes, 1},
      {R"({"Nodes":{"items":[{"metadata":{"name":"c"}}]},"NodeNames":["a","b"],"Pod":{}})",
       NodeForm::kNodes, 1},
  };
  ExtenderArgsReader reader;
  for (const Case& c : cases) {
    const auto args = reader.read(c.body);
    ASSERT_TRUE(args) << c.body;
    EXPECT_EQ((*args)->form, c.form) << c.body;
    EXPECT_EQ((*args)->node_names.size(), c.names) << c.body;
    EXPECT_EQ((*args)->node_items.size(), c.form == NodeForm::kNodes ? c.names : 0) << c.body;
  }
}

TEST(ExtenderArgs, takes_the_extenders_own_keys_in_any_case) {
  for (const std::string_view body :
       {R"({"pod":{"metadata":{"name":"p"}},"nodenames":["a"]})",
        R"({"POD":{"metadata":{"name":"p"}},"NODENAMES":["a"]})",
        R"({"Pod":{"metadata":{"name":"p","Name":7}},"nodeNames":["a"],"other":{"x":[]}})"}) {
    ExtenderArgsReader reader;
    const auto args = reader.read(body);
    ASSERT_TRUE(args) << body;
    EXPECT_THAT((*args)->node_names, ElementsAre("a")) << body;
    EXPECT_EQ((*args)->pod.metadata.name, "p") << body;
  }
}

TEST(ExtenderArgs, takes_null_slices_and_maps_in_the_pod) {
  ExtenderArgsReader reader;
  const auto args =
      reader.read(R"({"Pod":{"metadata":{"name":"p","labels":null,"ownerReferences":null,)"
                  R"("creationTimestamp":null},"spec":{"containers":null,"initContainers":null,)"
                  R"("tolerations":null,"nodeSelector":null,"affinity":null,"overhead":null},)"
                  R"("status":{}},"Nodes":null,"NodeNames":["a"]})");
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_THAT((*args)->pod.spec.containers, IsEmpty());
  EXPECT_FALSE((*args)->pod.spec.required_node_affinity.has_value());
}

TEST(ExtenderArgs, a_reader_forgets_the_call_before) {
  ExtenderArgsReader reader;
  ASSERT_TRUE(
      reader.read(R"({"Pod":{"metadata":{"name":"p","labels":{"a":"b"}}},"Nodes":{"items":[)"
                  R"({"metadata":{"name":"n\u0031"}}]}})"));
  ASSERT_FALSE(reader.read(R"({"Pod":{"metadata":{"name":"q"}},"NodeNames":["x","y)"));
  const auto args = reader.read(kCase45);
  ASSERT_TRUE(args);
  EXPECT_EQ((*args)->form, NodeForm::kNames);
  EXPECT_THAT((*args)->node_names, ElementsAre("gpu-a", "gpu-b", "gone"));
  EXPECT_THAT((*args)->node_items, IsEmpty());
  EXPECT_THAT((*args)->pod.metadata.labels, IsEmpty());
}

TEST(FilterResult, writes_names_with_every_key_of_the_go_type) {
  const std::string_view passed[] = {"a", "b\"c"};
  const RejectedNode failed[] = {{"d", "no RDMA"}, {"e", "no RDMA"}};
  const RejectedNode unresolvable[] = {{"f", "label missing"}};
  std::string out = "kept:";
  write_filter_result({NodeForm::kNames, passed, failed, unresolvable, ""}, out);
  EXPECT_EQ(out,
            R"(kept:{"Nodes":null,"NodeNames":["a","b\"c"],"FailedNodes":{"d":"no RDMA",)"
            R"("e":"no RDMA"},"FailedAndUnresolvableNodes":{"f":"label missing"},"Error":""})");
}

TEST(FilterResult, writes_nodes_as_they_came) {
  const std::string_view passed[] = {R"({"metadata":{"name":"a"}, "x" : 1.50})"};
  std::string out;
  write_filter_result({NodeForm::kNodes, passed, {}, {}, ""}, out);
  EXPECT_EQ(out,
            R"({"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}, "x" : 1.50}]},)"
            R"("NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST(FilterResult, no_node_passes_as_an_empty_list_and_not_as_null) {
  std::string names;
  write_filter_result({NodeForm::kNames, {}, {}, {}, ""}, names);
  EXPECT_THAT(names, ::testing::HasSubstr(R"("NodeNames":[])"));
  std::string nodes;
  write_filter_result({NodeForm::kNodes, {}, {}, {}, ""}, nodes);
  EXPECT_THAT(nodes, ::testing::HasSubstr(R"("items":[])"));
}

TEST(FilterResult, writes_an_error) {
  std::string out;
  write_filter_result({NodeForm::kNone, {}, {}, {}, "bad \n body \xFF"}, out);
  EXPECT_EQ(out,
            R"({"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},)"
            "\"Error\":\"bad \\n body \xEF\xBF\xBD\"}");
}

TEST(HostPriorities, are_a_bare_array) {
  const std::string_view names[] = {"a", "b", "c"};
  const std::int64_t scores[] = {10, 0, 7};
  std::string out;
  write_host_priorities(names, scores, out);
  EXPECT_EQ(out, R"([{"Host":"a","Score":10},{"Host":"b","Score":0},{"Host":"c","Score":7}])");
  out.clear();
  write_host_priorities({}, {}, out);
  EXPECT_EQ(out, "[]");
}

TEST(HostPriorities, write_any_name_and_any_score) {
  const std::string_view names[] = {"a\"b", "c"};
  const std::int64_t scores[] = {std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  std::string out = "kept:";
  write_host_priorities(names, scores, out);
  EXPECT_EQ(out, R"(kept:[{"Host":"a\"b","Score":-9223372036854775808},)"
                 R"({"Host":"c","Score":9223372036854775807}])");
  out.clear();
  write_host_priorities(std::span(names).last(1), scores, out);
  EXPECT_EQ(out, R"([{"Host":"c","Score":-9223372036854775808}])");
}

TEST(HostPriorities, take_no_memory_in_a_string_that_was_used_before) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i)
    texts.push_back("node-" + std::to_string(i));
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  const std::vector<std::int64_t> scores(names.size(), 10);
  std::string out;
  write_host_priorities(names, scores, out);
  const std::size_t capacity = out.capacity();
  out.clear();
  write_host_priorities(names, scores, out);
  EXPECT_EQ(out.capacity(), capacity);
}

TEST(PreemptionArgs, reads_whole_pods) {
  const auto args = read_preemption_args(
      R"({"Pod":{"metadata":{"uid":"u"}},"NodeNameToVictims":{"a":{"Pods":[)"
      R"({"metadata":{"name":"v","namespace":"n","uid":"v-uid"},"spec":{"priority":5}}],)"
      R"("NumPDBViolations":2},"b":{"Pods":null,"NumPDBViolations":0}},)"
      R"("NodeNameToMetaVictims":null})");
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_TRUE(args->whole_pods);
  ASSERT_EQ(args->candidates.size(), 2U);
  EXPECT_EQ(args->candidates[0].node, "a");
  EXPECT_EQ(args->candidates[0].pdb_violations, 2);
  ASSERT_EQ(args->candidates[0].victims.size(), 1U);
  EXPECT_EQ(args->candidates[0].victims[0].uid, "v-uid");
  EXPECT_EQ(args->candidates[0].victims[0].pod.spec.priority, 5);
  EXPECT_THAT(args->candidates[1].victims, IsEmpty());
}

TEST(PreemptionArgs, reads_uids_and_gives_them_back) {
  const auto args = read_preemption_args(
      R"({"Pod":{"metadata":{"uid":"u"}},"NodeNameToVictims":null,"NodeNameToMetaVictims":)"
      R"({"a":{"Pods":[{"UID":"1"},{"UID":"2"}],"NumPDBViolations":1},)"
      R"("b":{"Pods":[],"NumPDBViolations":0}}})");
  ASSERT_TRUE(args) << args.error().to_string();
  EXPECT_FALSE(args->whole_pods);
  std::string out;
  write_preemption_result(args->candidates, out);
  EXPECT_EQ(out, R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"1"},{"UID":"2"}],)"
                 R"("NumPDBViolations":1},"b":{"Pods":[],"NumPDBViolations":0}}})");
}

TEST(PreemptionArgs, refuses_a_node_twice) {
  EXPECT_FALSE(read_preemption_args(R"({"Pod":{},"NodeNameToMetaVictims":{"a":{},"a":{}}})"));
}

}  // namespace
}  // namespace rankward::formats
