#include "device_pick.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "clusters.hpp"
#include "node_links.hpp"

namespace rankward::placement {
namespace {

using ::testing::ElementsAre;
using testing::hgx;
using ::testing::IsEmpty;
using topology::TopologyManagerPolicy;

constexpr std::uint64_t kAll8 = 0xff;

TEST(PredictPick, TakesTheBridgedPair) {
  const auto machine = topology::testing::bridged_pairs();
  EXPECT_THAT(predict_pick(machine, 0b1111, 2).sets, ElementsAre(GpuSet{0, 1}, GpuSet{2, 3}))
      << "the two pairs tie";
  EXPECT_THAT(predict_pick(machine, 0b1101, 2).sets, ElementsAre(GpuSet{2, 3}));
  EXPECT_THAT(predict_pick(machine, 0b0101, 2).sets, ElementsAre(GpuSet{0, 2}));
}

TEST(PredictPick, TakesOneSwitchBeforeTwo) {
  const auto machine = topology::testing::far_nics();
  EXPECT_THAT(predict_pick(machine, kAll8, 4).sets,
              ElementsAre(GpuSet{0, 1, 2, 3}, GpuSet{4, 5, 6, 7}));
  EXPECT_THAT(predict_pick(machine, 0b11100011, 3).sets, ElementsAre(GpuSet{5, 6, 7}));
}

// go-gpuallocator sees no NICs, so all sets of an NVSwitch machine tie but for the socket.
TEST(PredictPick, OnNvSwitchTellsOnlySocketsApart) {
  EXPECT_THAT(predict_pick(hgx(), kAll8, 4).sets,
              ElementsAre(GpuSet{0, 1, 2, 3}, GpuSet{4, 5, 6, 7}));
  EXPECT_EQ(predict_pick(topology::testing::hgx_h100(), kAll8, 4).sets.size(), 70U);
}

TEST(PredictPick, IsAnySetWhereFreeGpusAreNotKnown) {
  EXPECT_EQ(predict_pick(topology::testing::bridged_pairs(), {}, 2).sets.size(), 6U);
  // Fewer known free than the scheduler says there are: the snapshot is late.
  EXPECT_EQ(predict_pick(topology::testing::bridged_pairs(), 0b0001, 2).sets.size(), 6U);
}

TEST(PredictPick, FollowsTheTopologyManagerFirst) {
  auto machine = topology::testing::bridged_pairs();
  // The bridges lie across the sockets.
  for (auto& gpu : machine.gpus)
    gpu.numa_node = gpu.index % 2;
  EXPECT_THAT(predict_pick(machine, 0b1111, 2).sets, ElementsAre(GpuSet{0, 1}, GpuSet{2, 3}));
  for (const auto policy : {TopologyManagerPolicy::kBestEffort, TopologyManagerPolicy::kRestricted,
                            TopologyManagerPolicy::kSingleNumaNode}) {
    machine.topology_manager = policy;
    EXPECT_THAT(predict_pick(machine, 0b1111, 2).sets, ElementsAre(GpuSet{0, 2}, GpuSet{1, 3}));
    EXPECT_EQ(predict_pick(machine, {}, 2).sets.size(), 2U) << "also where nothing is known";
    EXPECT_THAT(predict_pick(machine, 0b0111, 3).sets, ElementsAre(GpuSet{0, 1, 2}))
        << "no fewer NUMA nodes will do";
  }
}

TEST(PredictPick, OfAWholeNodeLeavesNoChoice) {
  EXPECT_THAT(predict_pick(hgx(), kAll8, 8).sets, ElementsAre(GpuSet{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(predict_pick(topology::NodeTopology{}, {}, 3).sets, ElementsAre(GpuSet{0, 1, 2}));
}

topology::NodeTopology sixteen() {
  topology::NodeTopology machine;
  machine.gpus.resize(16);
  for (std::uint32_t a = 0; a < 16; ++a) {
    machine.gpus[a].index = a;
    for (std::uint32_t b = 0; b < 16; ++b) {
      machine.gpu_paths.push_back(a == b           ? topology::PathType::kSelf
                                  : a / 4 == b / 4 ? topology::PathType::kPix
                                  : a / 8 == b / 8 ? topology::PathType::kNode
                                                   : topology::PathType::kSys);
    }
  }
  return machine;
}

TEST(PredictPick, ListsNoMoreSetsThanCanBePriced) {
  const Pick pick = predict_pick(sixteen(), {}, 8);
  EXPECT_TRUE(pick.open);
  EXPECT_THAT(pick.sets, IsEmpty());
  EXPECT_TRUE(predict_pick(sixteen(), {}, 3).open) << "560 sets";
  EXPECT_EQ(predict_pick(sixteen(), {}, 2).sets.size(), 120U);
  EXPECT_EQ(predict_pick(sixteen(), 0xffff, 3).sets.size(), 16U) << "scored, those of one switch";
}

LinkQuestion question_of(const topology::NodeTopology& machine, std::uint32_t count) {
  LinkQuestion question;
  question.machine = &machine;
  question.transport = topology::Transport::kInfiniBand;
  question.crosses = true;
  question.count = count;
  return question;
}

// NICs behind the odd GPUs alone (nccl 1357): which GPU it is matters, and nobody knows.
TEST(LinkMemo, CountsOnTheWorstOfThePicks) {
  topology::NodeTopology machine = hgx();
  machine.nics.resize(4);
  machine.nic_paths.clear();
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    for (std::uint32_t nic = 0; nic < 4; ++nic) {
      machine.nic_paths.push_back(gpu == 2 * nic + 1 ? topology::PathType::kPix
                                                     : topology::PathType::kNode);
    }
  }
  LinkMemo memo;
  LinkQuestion question = question_of(machine, 1);
  const GpuSet near{1};
  const GpuSet far{0};
  const double best = topology::inter_node(machine, near, question.transport).bandwidth.value;
  const double worst = topology::inter_node(machine, far, question.transport).bandwidth.value;
  ASSERT_LT(worst, best);
  EXPECT_EQ(memo.links(question).inter.bandwidth.value, worst);
  question.free = 0b10;
  EXPECT_EQ(memo.links(question).inter.bandwidth.value, best) << "only GPU 1 is free";
  question.free = 0b11;
  EXPECT_EQ(memo.links(question).inter.bandwidth.value, worst);
}

TEST(LinkMemo, AddsTheGpusThatMembersHave) {
  const topology::NodeTopology machine = hgx();
  LinkMemo memo;
  LinkQuestion question = question_of(machine, 1);
  question.free = 0b1000'0000;
  EXPECT_DOUBLE_EQ(memo.links(question).inter.bandwidth.value, 50);
  question.held = 0b11;
  EXPECT_DOUBLE_EQ(memo.links(question).inter.bandwidth.value, 150);
  EXPECT_DOUBLE_EQ(memo.links(question).intra.bandwidth.value, 18 * 20.6);
}

TEST(LinkMemo, StaysBelowEverySetWhereThereAreTooManyToList) {
  topology::NodeTopology machine = sixteen();
  machine.nics.resize(2);
  for (auto& nic : machine.nics) {
    nic.rate = topology::GigabytesPerSecond{25};
    nic.link_layer = topology::LinkLayer::kInfiniBand;
  }
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    machine.nic_paths.push_back(gpu < 8 ? topology::PathType::kPxb : topology::PathType::kSys);
    machine.nic_paths.push_back(gpu < 4 ? topology::PathType::kPix : topology::PathType::kSys);
  }
  LinkMemo memo;
  const NodeLinks links = memo.links(question_of(machine, 8));
  for (std::uint32_t mask = 0; mask < 1U << 16; mask += 97) {
    if (std::popcount(mask) != 8) continue;
    GpuSet set;
    for (std::uint32_t i = 0; i < 16; ++i) {
      if ((mask >> i & 1) != 0) set.push_back(i);
    }
    ASSERT_LE(links.intra.bandwidth.value,
              topology::intra_node(machine, set).bandwidth.value + 1e-9);
    ASSERT_LE(links.inter.bandwidth.value,
              topology::inter_node(machine, set, topology::Transport::kInfiniBand).bandwidth.value +
                  1e-9);
  }
  EXPECT_GT(links.intra.bandwidth.value, 0);
}

TEST(LinkMemo, GivesSlicesNoPeerAccess) {
  const topology::NodeTopology machine = hgx();
  LinkMemo memo;
  LinkQuestion question = question_of(machine, 2);
  const double gpus = memo.links(question).intra.bandwidth.value;
  question.whole_gpus = false;
  EXPECT_LT(memo.links(question).intra.bandwidth.value, gpus / 10);
}

}  // namespace
}  // namespace rankward::placement
