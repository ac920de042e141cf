#include "rankward/formats/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

kube::Pod pod_of(std::string_view json) {
  auto pod = read_pod(json);
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().to_string());
  return pod ? *pod : kube::Pod();
}

TEST(Pod, reads_whether_the_scheduler_keeps_it_aside) {
  const auto unschedulable = [](std::string_view conditions) {
    return pod_of(R"({"metadata":{"name":"p"},"status":{"phase":"Pending","conditions":)" +
                  std::string(conditions) + "}}")
        .status.unschedulable;
  };
  EXPECT_TRUE(unschedulable(R"([{"type":"Initialized","status":"True"},
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}])"));
  // An error of an extender: tried again after its backoff.
  EXPECT_FALSE(
      unschedulable(R"([{"type":"PodScheduled","status":"False","reason":"SchedulerError"}])"));
  EXPECT_FALSE(
      unschedulable(R"([{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}])"));
  EXPECT_FALSE(unschedulable(R"([{"type":"PodScheduled","status":"True"}])"));
  EXPECT_FALSE(unschedulable(R"([{"type":"Ready","status":"False","reason":"Unschedulable"}])"));
  EXPECT_FALSE(unschedulable("[]"));
  EXPECT_FALSE(unschedulable("null"));
}

TEST(Pod, reads_metadata) {
  const kube::Pod pod = pod_of(R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {
      "name": "train-0", "generateName": "train-", "namespace": "team-a", "uid": "u-1",
      "resourceVersion": "42", "labels": {"app": "train"}, "annotations": {"a.b/c": "d", "e": ""},
      "managedFields": [{"fieldsV1": {"f:metadata": {"f:labels": {}}}}],
      "deletionTimestamp": "2026-01-02T03:04:05Z",
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j-1",
                           "controller": true, "blockOwnerDeletion": true}]
    },
    "status": {"phase": "Running", "nominatedNodeName": "gpu-a", "podIPs": [{"ip": "10.0.0.1"}]}
  })");
  EXPECT_EQ(pod.metadata.name, "train-0");
  EXPECT_EQ(pod.metadata.generate_name, "train-");
  EXPECT_EQ(pod.metadata.namespace_, "team-a");
  EXPECT_EQ(pod.metadata.uid, "u-1");
  EXPECT_EQ(pod.metadata.resource_version, "42");
  EXPECT_THAT(pod.metadata.labels, ElementsAre(Pair("app", "train")));
  EXPECT_THAT(pod.metadata.annotations, ElementsAre(Pair("a.b/c", "d"), Pair("e", "")));
  EXPECT_TRUE(pod.metadata.deleting);
  ASSERT_EQ(pod.metadata.owner_references.size(), 1U);
  EXPECT_EQ(pod.metadata.owner_references[0].api_version, "batch/v1");
  EXPECT_EQ(pod.metadata.owner_references[0].kind, "Job");
  EXPECT_EQ(pod.metadata.owner_references[0].uid, "j-1");
  EXPECT_TRUE(pod.metadata.owner_references[0].controller);
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_EQ(pod.status.nominated_node_name, "gpu-a");
}

TEST(Pod, a_null_deletion_timestamp_is_none) {
  EXPECT_FALSE(pod_of(R"({"metadata": {"deletionTimestamp": null}})").metadata.deleting);
}

TEST(Pod, reads_containers) {
  const kube::Pod pod = pod_of(R"({"spec": {
    "initContainers": [{"name": "sidecar", "restartPolicy": "Always"}],
    "ephemeralContainers": [{"name": "debug", "targetContainerName": "train"}],
    "containers": [{
      "name": "train", "image": "registry.example.com/train:1",
      "command": ["torchrun"], "args": ["--nnodes", "2"],
      "env": [
        {"name": "A", "value": "1"},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "A", "value": "2"},
        {"name": "C", "valueFrom": {"configMapKeyRef": null, "fieldRef": {"fieldPath": "spec"}}},
        {"name": "D"}],
      "envFrom": [{"prefix": "P_", "configMapRef": {"name": "m"}}, {"secretRef": {"name": "s"}}],
      "volumeMounts": [{"name": "v", "mountPath": "/m", "subPath": "a", "readOnly": true},
                       {"name": "w", "mountPath": "/n", "subPathExpr": "$(A)/x"}],
      "volumeDevices": [{"name": "b", "devicePath": "/dev/xvda"}],
      "resources": {"limits": {"nvidia.com/gpu": 8, "memory": "2Gi"},
                    "requests": {"cpu": "500m"}, "claims": [{"name": "gpu", "request": "r"}]},
      "securityContext": {"privileged": true,
                          "capabilities": {"add": ["SYS_ADMIN", "ALL"], "drop": ["NET_RAW"]}}
    }, {"name": "plain", "securityContext": {"privileged": false}}, {"name": "bare"}]
  }})");
  EXPECT_EQ(pod.spec.init_containers.at(0).restart_policy, "Always");
  EXPECT_EQ(pod.spec.ephemeral_containers.at(0).name, "debug");
  ASSERT_EQ(pod.spec.containers.size(), 3U);
  const kube::Container& train = pod.spec.containers[0];
  EXPECT_EQ(train.image, "registry.example.com/train:1");
  EXPECT_THAT(train.command, ElementsAre("torchrun"));
  EXPECT_THAT(train.args, ElementsAre("--nnodes", "2"));
  ASSERT_EQ(train.env.size(), 5U);
  EXPECT_EQ(train.env[0].value, "1");
  EXPECT_EQ(train.env[1].value_from, "secretKeyRef");
  EXPECT_EQ(train.env[2].name, "A");
  EXPECT_EQ(train.env[2].value, "2");
  EXPECT_EQ(train.env[3].value_from, "fieldRef");
  EXPECT_EQ(train.env[4].value, "");
  ASSERT_EQ(train.env_from.size(), 2U);
  EXPECT_EQ(train.env_from[0].prefix, "P_");
  EXPECT_EQ(train.env_from[0].source, "configMapRef");
  EXPECT_EQ(train.env_from[1].source, "secretRef");
  ASSERT_EQ(train.volume_mounts.size(), 2U);
  EXPECT_EQ(train.volume_mounts[0].mount_path, "/m");
  EXPECT_EQ(train.volume_mounts[0].sub_path, "a");
  EXPECT_TRUE(train.volume_mounts[0].read_only);
  EXPECT_EQ(train.volume_mounts[1].sub_path_expr, "$(A)/x");
  EXPECT_EQ(train.volume_devices.at(0).device_path, "/dev/xvda");
  EXPECT_EQ(train.resources.limits.at("nvidia.com/gpu"), kube::Quantity(8));
  EXPECT_EQ(train.resources.limits.at("memory"), kube::Quantity(std::int64_t{2} << 30));
  EXPECT_EQ(train.resources.requests.at("cpu").milli_value(), 500);
  EXPECT_THAT(train.resources.claims, ElementsAre("gpu"));
  EXPECT_EQ(train.privileged, true);
  EXPECT_THAT(train.capabilities_added, ElementsAre("SYS_ADMIN", "ALL"));
  EXPECT_EQ(pod.spec.containers[1].privileged, false);
  EXPECT_EQ(pod.spec.containers[2].privileged, std::nullopt);
}

TEST(Pod, reads_the_rest_of_the_spec) {
  const kube::PodSpec spec = pod_of(R"({"spec": {
    "nodeName": "n", "schedulerName": "rankward", "serviceAccountName": "sa",
    "runtimeClassName": "nvidia", "restartPolicy": "Never", "activeDeadlineSeconds": 600, "hostNetwork": true, "hostPID": true,
    "hostIPC": true, "priority": -7, "nodeSelector": {"pool": "gpu"},
    "volumes": [{"name": "d", "hostPath": {"path": "/dev", "type": "Directory"}},
                {"name": "p", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "e", "emptyDir": {}}],
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule",
                     "tolerationSeconds": 30}, {"key": "team", "value": "b"}],
    "affinity": {"podAntiAffinity": {}, "nodeAffinity": {
      "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a", "b"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}},
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"},
                       {"name": "nic", "resourceClaimName": "c"}],
    "schedulingGates": [{"name": "rankward.io/gang"}],
    "schedulingGroup": {"podGroupName": "g"},
    "overhead": {"cpu": "250m"},
    "resources": {"limits": {"cpu": 4}}
  }})")
                                 .spec;
  EXPECT_EQ(spec.node_name, "n");
  EXPECT_EQ(spec.scheduler_name, "rankward");
  EXPECT_EQ(spec.service_account_name, "sa");
  EXPECT_EQ(spec.runtime_class_name, "nvidia");
  EXPECT_EQ(spec.restart_policy, "Never");
  EXPECT_EQ(spec.active_deadline_seconds, 600);
  EXPECT_TRUE(spec.host_network && spec.host_pid && spec.host_ipc);
  EXPECT_EQ(spec.priority, -7);
  EXPECT_THAT(spec.node_selector, ElementsAre(Pair("pool", "gpu")));
  ASSERT_EQ(spec.volumes.size(), 3U);
  EXPECT_EQ(spec.volumes[0].host_path->path, "/dev");
  EXPECT_EQ(spec.volumes[0].host_path->type, "Directory");
  EXPECT_EQ(spec.volumes[1].claim_name, "data");
  EXPECT_FALSE(spec.volumes[2].host_path.has_value());
  ASSERT_EQ(spec.tolerations.size(), 2U);
  EXPECT_EQ(spec.tolerations[0].op, "Exists");
  EXPECT_EQ(spec.tolerations[0].effect, "NoSchedule");
  EXPECT_EQ(spec.tolerations[1].value, "b");
  ASSERT_TRUE(spec.required_node_affinity.has_value());
  ASSERT_EQ(spec.required_node_affinity->size(), 2U);
  EXPECT_EQ(spec.required_node_affinity->at(0).match_expressions.at(0).op, "In");
  EXPECT_THAT(spec.required_node_affinity->at(0).match_expressions.at(0).values,
              ElementsAre("a", "b"));
  EXPECT_EQ(spec.required_node_affinity->at(1).match_fields.at(0).key, "metadata.name");
  EXPECT_EQ(spec.resource_claims.at(0).resource_claim_template_name, "t");
  EXPECT_EQ(spec.resource_claims.at(1).resource_claim_name, "c");
  EXPECT_THAT(spec.scheduling_gates, ElementsAre("rankward.io/gang"));
  EXPECT_EQ(spec.pod_group_name, "g");
  EXPECT_EQ(spec.overhead.at("cpu").milli_value(), 250);
  EXPECT_EQ(spec.pod_resources.limits.at("cpu"), kube::Quantity(4));
}

// What a live Pod can hold, as a server dry run showed.
TEST(Pod, reads_amounts_as_strings_and_as_numbers) {
  struct Case {
    std::string_view literal;
    std::int64_t value;
  };
  const Case cases[] = {{R"("8")", 8},     {"8", 8},         {"8.0", 8},        {"8e0", 8},
                        {R"("8k")", 8000}, {R"("1e1")", 10}, {R"("8000m")", 8}, {R"(" 8 ")", 8},
                        {R"("5.")", 5},    {R"("+8")", 8},   {"null", 0},       {"0", 0},
                        {R"("-1")", -1},   {"-1", -1},       {R"("1Ki")", 1024}};
  for (const Case& c : cases) {
    const std::string json = R"({"spec":{"containers":[{"resources":{"limits":{"x.y/z":)" +
                             std::string(c.literal) + "}}}]}}";
    const auto pod = read_pod(json);
    ASSERT_TRUE(pod) << c.literal;
    EXPECT_EQ(pod->spec.containers[0].resources.limits.at("x.y/z").value(), c.value) << c.literal;
  }
}

constexpr std::string_view kUnreadableLiterals[] = {R"("0x8")", R"("K")", R"("8_0")", R"("8 Gi")",
                                                    R"("8gb")", "true",   "[8]",      R"({"a":1})"};

TEST(Pod, refuses_amounts_that_kubernetes_cannot_read) {
  for (const std::string_view literal : kUnreadableLiterals) {
    const std::string json = R"({"spec":{"containers":[{"resources":{"requests":{"x.y/z":)" +
                             std::string(literal) + "}}}]}}";
    const auto pod = read_pod(json);
    ASSERT_FALSE(pod) << literal;
    EXPECT_EQ(pod.error().field(), R"(spec.containers[0].resources.requests["x.y/z"])");
    EXPECT_EQ(pod.error().offset(), json.find(literal)) << literal;
  }
}

TEST(PodTemplate, keeps_amounts_that_kubernetes_cannot_read) {
  for (const std::string_view literal : kUnreadableLiterals) {
    const std::string json = R"({"spec":{"containers":[{"resources":{"limits":{"x.y/z":)" +
                             std::string(literal) + R"(,"cpu":"2"}}}]}})";
    const auto made = read_pod_template(json);
    ASSERT_TRUE(made) << literal;
    const kube::ResourceRequirements& resources = made->spec.containers.at(0).resources;
    EXPECT_THAT(resources.limits, ElementsAre(Pair("cpu", kube::Quantity(2)))) << literal;
    ASSERT_EQ(resources.unreadable.size(), 1U) << literal;
    EXPECT_EQ(resources.unreadable[0].field, R"(limits["x.y/z"])");
    const bool quoted = literal.front() == '"';
    EXPECT_EQ(resources.unreadable[0].literal,
              quoted ? literal.substr(1, literal.size() - 2) : literal);
  }
}

TEST(PodTemplate, an_empty_string_is_an_unreadable_amount_too) {
  const auto made =
      read_pod_template(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":""}}}]}})");
  ASSERT_TRUE(made);
  EXPECT_THAT(made->spec.containers.at(0).resources.limits, IsEmpty());
  EXPECT_EQ(made->spec.containers.at(0).resources.unreadable.size(), 1U);
}

TEST(Node, reads_what_placement_needs) {
  const auto node = read_node(R"({
    "metadata": {"name": "gpu-a", "labels": {"nvidia.com/gpu.count": "8"}},
    "spec": {"unschedulable": true, "podCIDR": "10.0.0.0/24",
             "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
    "status": {"capacity": {"nvidia.com/gpu": "8", "memory": "2Ti"},
               "allocatable": {"nvidia.com/gpu": "7"},
               "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
               "conditions": [{"type": "MemoryPressure", "status": "False"},
                              {"type": "Ready", "status": "True"}]}})");
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->metadata.name, "gpu-a");
  EXPECT_TRUE(node->unschedulable);
  ASSERT_EQ(node->taints.size(), 1U);
  EXPECT_EQ(node->taints[0].effect, "NoSchedule");
  EXPECT_EQ(node->capacity.at("nvidia.com/gpu"), kube::Quantity(8));
  EXPECT_EQ(node->allocatable.at("nvidia.com/gpu"), kube::Quantity(7));
  EXPECT_EQ(node->ready, kube::Readiness::kReady);
}

TEST(Node, readiness_is_unknown_unless_the_condition_says_otherwise) {
  struct Case {
    std::string_view conditions;
    kube::Readiness ready;
  };
  const Case cases[] = {
      {"null", kube::Readiness::kUnknown},
      {"[]", kube::Readiness::kUnknown},
      {R"([{"type":"Ready","status":"False"}])", kube::Readiness::kNotReady},
      {R"([{"type":"Ready","status":"Unknown"}])", kube::Readiness::kNotReady},
      {R"([{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"False"}])",
       kube::Readiness::kReady}};
  for (const Case& c : cases) {
    const auto node = read_node(R"({"status":{"conditions":)" + std::string(c.conditions) + "}}");
    ASSERT_TRUE(node) << c.conditions;
    EXPECT_EQ(node->ready, c.ready) << c.conditions;
  }
}

TEST(ObjectHead, reads_any_object) {
  const auto head = read_object_head(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"x":[1]}})");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->api_version, "apps/v1");
  EXPECT_EQ(head->kind, "Deployment");
  EXPECT_EQ(head->metadata.name, "d");
}

TEST(List, gives_items_and_metadata_in_either_order) {
  for (const std::string_view json :
       {R"({"metadata":{"resourceVersion":"9","continue":"c"},"items":[{"a":1}, {"b":2} ]})",
        R"({"items":[{"a":1}, {"b":2} ],"metadata":{"continue":"c","resourceVersion":"9"}})"}) {
    std::vector<std::string> items;
    const auto meta = read_list(json, [&](std::string_view item) -> Result<void> {
      items.emplace_back(item);
      return {};
    });
    ASSERT_TRUE(meta) << json;
    EXPECT_EQ(meta->resource_version, "9");
    EXPECT_EQ(meta->continue_token, "c");
    EXPECT_THAT(items, ElementsAre(R"({"a":1})", R"({"b":2})"));
  }
}

TEST(List, an_error_of_an_item_ends_the_read_at_its_place) {
  const std::string_view json = R"({"items":[{"metadata":{}},{"metadata":7}]})";
  const auto meta = read_list(json, [&](std::string_view item) -> Result<void> {
    const auto pod = read_pod(item);
    if (!pod) return pod.error();
    return {};
  });
  ASSERT_FALSE(meta);
  EXPECT_EQ(meta.error().field(), "items[1].metadata");
  EXPECT_EQ(meta.error().offset(), json.find('7'));
}

TEST(WatchEvent, reads_an_object_and_its_version) {
  const auto event = read_watch_event(
      R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"p","resourceVersion":"12"}}})");
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->type, "MODIFIED");
  EXPECT_EQ(event->resource_version, "12");
  EXPECT_EQ(event->object_json, R"({"kind":"Pod","metadata":{"name":"p","resourceVersion":"12"}})");
}

TEST(WatchEvent, reads_the_status_of_an_error) {
  const auto event = read_watch_event(
      R"({"type":"ERROR","object":{"kind":"Status","metadata":{},"status":"Failure",)"
      R"("message":"too old resource version: 1","reason":"Expired","code":410
}
})");
  ASSERT_TRUE(event) << event.error().to_string();
  EXPECT_EQ(event->code, 410);
  EXPECT_EQ(event->message, "too old resource version: 1");
  EXPECT_EQ(event->resource_version, "");
}

}  // namespace
}  // namespace rankward::formats
