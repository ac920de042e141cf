// Clusters from files and in memory, and the holder that hands Snapshots out.
#include "rankward/cluster/inventory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../temporary_folder.hpp"
#include "objects.hpp"
#include "rankward/cluster/snapshot_holder.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kCluster = R"(apiVersion: v1
kind: Node
metadata:
  name: node-a
status:
  allocatable: {nvidia.com/gpu: 8}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p1, namespace: team, uid: uid-1}
  spec:
    nodeName: node-a
    containers:
    - name: c
      resources: {limits: {nvidia.com/gpu: 3}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: unrelated}
)";

TEST(InventorySource, reads_nodes_and_pods_from_yaml_and_json_together) {
  const TemporaryFolder folder;
  const auto source = InventorySource::from_files(
      {folder.write("cluster.yaml", kCluster), folder.write("b.json", node_json("node-b", 4))});
  ASSERT_TRUE(source) << source.error().to_string();
  EXPECT_TRUE((*source)->ready());
  EXPECT_EQ(describe(*(*source)->current()),
            "node-a gpus=8 free=5 labels=-1: uid-1=3\n"
            "node-b gpus=4 free=4 labels=4:\n");
  EXPECT_THAT((*source)->warnings(), ElementsAre());
}

TEST(InventorySource, reads_pods_that_wait_and_what_says_how_large_their_gang_is) {
  const TemporaryFolder folder;
  const auto source = InventorySource::from_files(
      {folder.write("a.json", node_json("node-a", 8)),
       folder.write("g0.json", pod_json("g0", "uid-g0", "", 2, "g")),
       folder.write("job.json", owner_json("batch/v1", "Job", "train", "g", 4))});
  ASSERT_TRUE(source) << source.error().to_string();
  EXPECT_EQ(describe(*(*source)->current()),
            "node-a gpus=8 free=8 labels=8:\n"
            "team/Gang/g: waits uid-g0 size =4\n");
}

TEST(InventorySource, says_which_file_and_line_is_wrong) {
  const TemporaryFolder folder;
  const auto wrong = folder.write("wrong.yaml",
                                  "apiVersion: v1\nkind: Node\nmetadata:\n  name: node-a\nstatus:\n"
                                  "  allocatable:\n    nvidia.com/gpu: many\n");
  const auto source = InventorySource::from_files({wrong});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().source(), wrong);
  EXPECT_EQ(source.error().line(), 7U) << source.error().to_string();
  EXPECT_FALSE(InventorySource::from_files({folder.path("none")}));
  const auto empty = InventorySource::from_files({folder.write("pods.yaml",
                                                               "apiVersion: v1\nkind: ConfigMap\n"
                                                               "metadata: {name: x}\n")});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().to_string(), HasSubstr("must have at least one Node"));
}

TEST(InventorySource, binds_moves_and_removes_pods) {
  InventorySource source({formats::read_node(node_json("node-a", 8)).value(),
                          formats::read_node(node_json("node-b", 4)).value()},
                         {});
  const auto pod = formats::read_pod(pod_json("p1", "uid-1", "", 2)).value();
  const auto before = source.current();
  ASSERT_TRUE(source.bind(pod, "node-b"));
  EXPECT_THAT(describe(*source.current()), HasSubstr("node-b gpus=4 free=2 labels=4: uid-1=2"));
  EXPECT_THAT(describe(*before), HasSubstr("node-b gpus=4 free=4"));
  EXPECT_GT(source.current()->number(), before->number());
  ASSERT_TRUE(source.bind(pod, "node-a"));
  EXPECT_EQ(describe(*source.current()),
            "node-a gpus=8 free=6 labels=8: uid-1=2\nnode-b gpus=4 free=4 labels=4:\n");
  const auto nowhere = source.bind(pod, "node-z");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind(), ErrorKind::kNotFound);
  source.remove_pod("uid-1");
  EXPECT_THAT(describe(*source.current()), HasSubstr("node-a gpus=8 free=8"));
  source.remove_node("node-a");
  source.put_node(formats::read_node(node_json("node-b", 6)).value());
  EXPECT_EQ(describe(*source.current()), "node-b gpus=6 free=6 labels=6:\n");
}

TEST(InventorySource, uses_labels_where_the_annotation_cannot_be_read) {
  const InventorySource source(
      {formats::read_node(node_json("node-a", 8, R"("rankward.io/topology":"{}")")).value()}, {});
  ASSERT_EQ(source.warnings().size(), 1U);
  EXPECT_THAT(source.warnings().front(), HasSubstr("node-a: "));
  EXPECT_THAT(describe(*source.current()), HasSubstr("labels=8"));
}

TEST(SnapshotHolder, is_empty_first_and_never_null) {
  SnapshotHolder holder;
  ASSERT_NE(holder.load(), nullptr);
  EXPECT_EQ(holder.load()->size(), 0U);
  EXPECT_EQ(holder.load()->number(), 0U);
  holder.store(nullptr);
  EXPECT_NE(holder.load(), nullptr);
}

TEST(SnapshotHolder, keeps_two_holders_apart_and_old_snapshots_not_alive) {
  SnapshotHolder a;
  SnapshotHolder b;
  auto one = std::make_shared<const placement::Snapshot>();
  auto two = std::make_shared<const placement::Snapshot>();
  a.store(one);
  b.store(two);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(a.load(), one);
    EXPECT_EQ(b.load(), two);
    EXPECT_EQ(b.load(), two);
  }
  const std::weak_ptr<const placement::Snapshot> old = two;
  two.reset();
  b.store(one);
  EXPECT_TRUE(old.expired());
  EXPECT_EQ(b.load(), one);
}

TEST(SnapshotHolder, never_goes_back_for_any_reader) {
  InventorySource source({formats::read_node(node_json("node-a", 8)).value()}, {});
  std::atomic<bool> done{false};
  std::atomic<int> backwards{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!done) {
        const auto number = source.current()->number();
        if (number < last) ++backwards;
        last = number;
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    source.put_node(formats::read_node(node_json("node-a", i % 9)).value());
  }
  const auto last = source.current()->number();
  done = true;
  for (auto& reader : readers)
    reader.join();
  EXPECT_EQ(backwards, 0);
  EXPECT_GE(last, 501U);
}

}  // namespace
}  // namespace rankward::cluster
