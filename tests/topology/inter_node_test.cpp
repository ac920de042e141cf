#include <gtest/gtest.h>

#include <random>

#include "machines.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {
namespace {

using testing::far_nics;
using testing::first;
using testing::hgx_h100;
using testing::machine;
using testing::set_nics;

double bandwidth(const NodeTopology& node, const std::vector<std::uint32_t>& gpus,
                 Transport transport = Transport::kInfiniBand) {
  return inter_node(node, gpus, transport).bandwidth.value;
}

NodeTopology dgx_h100() {
  NodeTopology node = hgx_h100();
  node.product = "NVIDIA-H100-80GB-HBM3";
  node.gpu_direct = true;
  set_nics(node, 50);
  return node;
}

TEST(InterNode, GrowsByOneNicAGpu) {
  const NodeTopology node = dgx_h100();
  for (const std::uint32_t count : {1u, 2u, 3u, 4u, 8u}) {
    EXPECT_DOUBLE_EQ(bandwidth(node, first(count)), 50.0 * count) << count;
  }
  const Bottleneck result = inter_node(node, first(8), Transport::kInfiniBand);
  EXPECT_EQ(result.link, "GPU0-mlx5_0 PIX");
  EXPECT_DOUBLE_EQ(result.step.value, 14e-6);
}

// placement.md: of 7 ranks with one 50 GB/s NIC each, 3+3+1 is held at 50 by the lone rank, 3+2+2
// runs at 100.
TEST(InterNode, PunishesTheLoneRankOfAnUnevenSplit) {
  const NodeTopology node = dgx_h100();
  const auto worst = [&node](std::vector<std::uint32_t> shares) {
    double least = 1e9;
    for (const std::uint32_t share : shares)
      least = std::min(least, bandwidth(node, first(share)));
    return least;
  };
  EXPECT_DOUBLE_EQ(worst({3, 3, 1}), 50);
  EXPECT_DOUBLE_EQ(worst({3, 2, 2}), 100);
}

TEST(InterNode, PrefersNearNicsOnTheTwoMatricesOfCase29) {
  NodeTopology near = hgx_h100();
  NodeTopology far = far_nics();
  for (const std::uint32_t count : {1u, 2u, 4u, 8u}) {
    EXPECT_GT(bandwidth(near, first(count)), bandwidth(far, first(count))) << count;
  }
  EXPECT_EQ(inter_node(near, first(4), Transport::kInfiniBand).link, "GPU0-mlx5_0 PIX");
  EXPECT_EQ(inter_node(far, first(4), Transport::kInfiniBand).link,
            "GPU0-mlx5_0 SYS, no GPUDirect");
  set_nics(near, 50);
  set_nics(far, 50);
  EXPECT_DOUBLE_EQ(bandwidth(near, first(4)), 200);
  EXPECT_DOUBLE_EQ(bandwidth(far, first(4)), 12);  // two NICs, each at the CPU link's 6
}

TEST(InterNode, LosesGpuDirectOverTheHostBridge) {
  for (const char* path : {"PHB", "NODE", "SYS"}) {
    NodeTopology node = machine({std::string("X ") + path}, 1);
    node.product = "NVIDIA-A100-PCIE-40GB";
    set_nics(node, 12.5);
    const Bottleneck result = inter_node(node, first(1), Transport::kInfiniBand);
    EXPECT_DOUBLE_EQ(result.bandwidth.value, 6.25) << path;  // AWS p4d without GPUDirect: 6.04
    EXPECT_EQ(result.link, std::string("GPU0-mlx5_0 ") + path + ", no GPUDirect");
  }
  for (const char* path : {"PIX", "PXB"}) {
    NodeTopology node = machine({std::string("X ") + path}, 1);
    node.product = "NVIDIA-A100-PCIE-40GB";
    set_nics(node, 12.5);
    EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 12.5) << path;  // p4d with GPUDirect: 11.35
  }
}

TEST(InterNode, LosesGpuDirectWhereTheNodeHasNoPeerMemory) {
  NodeTopology node = dgx_h100();
  node.gpu_direct = false;
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 16);
  EXPECT_EQ(inter_node(node, first(1), Transport::kInfiniBand).link,
            "GPU0-mlx5_0 PIX, no GPUDirect");
  node.gpu_direct.reset();
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 50) << "not said is not absent";
}

TEST(InterNode, IsCappedByThePcieOfTheGpus) {
  // DGX A100: two GPUs and two 200 Gb/s NICs a switch. One GPU reaches both but has one PCIe link.
  NodeTopology node = machine({"X NV12 PXB PXB", "NV12 X PXB PXB"}, 2);
  node.product = "NVIDIA-A100-SXM4-40GB";
  set_nics(node, 25);
  const Bottleneck one = inter_node(node, first(1), Transport::kInfiniBand);
  EXPECT_DOUBLE_EQ(one.bandwidth.value, 24);
  EXPECT_EQ(one.link, "GPU0 PCIe");
  EXPECT_DOUBLE_EQ(bandwidth(node, first(2)), 48);
}

TEST(InterNode, GivesAGpuWithoutANearNicNoMoreThanOneWithIt) {
  // nccl 1357: four NICs on eight GPUs, the odd ones have none at PIX.
  NodeTopology node = machine({"X NV18 PIX NODE NODE", "NV18 X NODE NODE NODE"}, 3);
  node.product = "NVIDIA-H100-80GB-HBM3";
  set_nics(node, 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, {0}), 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, {1}), 16);
  EXPECT_EQ(inter_node(node, std::vector<std::uint32_t>{1}, Transport::kInfiniBand).link,
            "GPU1-mlx5_0 NODE, no GPUDirect");
}

TEST(InterNode, IgnoresPortsThatAreDownOrOfAnotherLayer) {
  NodeTopology node = dgx_h100();
  node.nics[0].state = PortState::kDown;
  EXPECT_DOUBLE_EQ(bandwidth(node, {1}), 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, {0}), 16) << "its own port is down: over the host bridge";
  EXPECT_EQ(bandwidth(node, {0}, Transport::kRoce), 0);
  EXPECT_EQ(inter_node(node, first(1), Transport::kRoce).link, "no active Ethernet port");
  for (Nic& nic : node.nics)
    nic.state = PortState::kDown;
  EXPECT_EQ(bandwidth(node, first(8)), 0);
  EXPECT_EQ(inter_node(node, first(8), Transport::kInfiniBand).link, "no active InfiniBand port");
}

TEST(InterNode, TakesTheWorstConstantsForWhatIsNotKnown) {
  const Bottleneck nothing = inter_node(NodeTopology{}, first(8), Transport::kInfiniBand);
  EXPECT_DOUBLE_EQ(nothing.bandwidth.value, 6);
  EXPECT_EQ(nothing.link, "NICs not known");
  NodeTopology node;  // NICs, but neither paths nor NUMA nodes
  node.gpus.resize(2);
  node.nics.resize(1);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(2)), 6);
  EXPECT_EQ(inter_node(node, first(2), Transport::kRoce).link, "GPU0-NIC0 ?, no GPUDirect");
}

TEST(InterNode, ReadsDistanceOffNumaNodesWhereNoMatrixIsKnown) {
  NodeTopology node;
  node.product = "NVIDIA-H100-80GB-HBM3";
  node.gpus.resize(1);
  node.gpus[0].numa_node = 1;
  node.nics.resize(2);
  set_nics(node, 50);
  node.nics[0].numa_node = 0;
  node.nics[1].numa_node = 1;
  EXPECT_EQ(inter_node(node, first(1), Transport::kInfiniBand).link,
            "GPU0-NIC1 NODE, no GPUDirect");
}

TEST(InterNode, BelievesNumaNodesOverSysOnGrace) {
  // GB200 on OCI: topo -m prints SYS for every GPU and NIC; measured 46 a NIC, 25 across sockets.
  NodeTopology node = machine({"X NV18 SYS SYS", "NV18 X SYS SYS"}, 2);
  node.product = "NVIDIA-GB200";
  set_nics(node, 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 25) << "without NUMA nodes SYS stands";
  for (std::uint32_t i = 0; i < 2; ++i)
    node.gpus[i].numa_node = node.nics[i].numa_node = i;
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(2)), 100);
  EXPECT_EQ(inter_node(node, first(1), Transport::kInfiniBand).link, "GPU0-mlx5_0 C2C");
  node.nics[0].state = PortState::kDown;
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1)), 25);
}

TEST(InterNode, SharesEfaDevicesByGpu) {
  // p5.48xlarge: 32 EFA of 100 Gb/s, 4 a GPU.
  NodeTopology node;
  node.product = "NVIDIA-H100-80GB-HBM3";
  node.gpu_count = 8;
  node.nics.resize(32);
  set_nics(node, 12.5, LinkLayer::kEfa);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1), Transport::kEfa), 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(8), Transport::kEfa), 400);
  EXPECT_EQ(inter_node(node, first(1), Transport::kEfa).link, "4 of 32 EFA");
  EXPECT_DOUBLE_EQ(inter_node(NodeTopology{}, first(8), Transport::kEfa).bandwidth.value, 6);
  // p4d: 4 EFA of 100 Gb/s for 8 GPUs.
  node.product = "NVIDIA-A100-SXM4-40GB";
  node.nics.resize(4);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(8), Transport::kEfa), 50);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1), Transport::kEfa), 12.5);
  node.gpu_direct = false;
  EXPECT_DOUBLE_EQ(bandwidth(node, first(1), Transport::kEfa), 6.25);
}

TEST(InterNode, HoldsTcpAtTheSocketCapOfOneInterface) {
  NodeTopology node = dgx_h100();
  set_nics(node, 50, LinkLayer::kEthernet);
  for (const Transport transport : {Transport::kSocket, Transport::kUnknown}) {
    EXPECT_DOUBLE_EQ(bandwidth(node, first(1), transport), 12.5);
    EXPECT_DOUBLE_EQ(bandwidth(node, first(8), transport), 12.5);
    EXPECT_EQ(inter_node(node, first(8), transport).link, "TCP socket");
  }
  EXPECT_DOUBLE_EQ(bandwidth(node, first(8), Transport::kRoce), 400);
  set_nics(node, 1.25, LinkLayer::kEthernet);
  EXPECT_DOUBLE_EQ(bandwidth(node, first(8), Transport::kSocket), 0.625);
  EXPECT_DOUBLE_EQ(bandwidth(NodeTopology{}, first(8), Transport::kSocket), 6);
}

NodeTopology random_machine(std::mt19937& random) {
  constexpr PathType kPaths[] = {PathType::kPix,  PathType::kPxb, PathType::kPhb,
                                 PathType::kNode, PathType::kSys, PathType::kUnknown};
  NodeTopology node;
  constexpr const char* kProducts[] = {"", "NVIDIA-A100-PCIE-40GB", "NVIDIA-H100-80GB-HBM3"};
  node.product = kProducts[random() % 3];
  node.gpus.resize(1 + random() % 8);
  node.nics.resize(1 + random() % 8);
  for (std::size_t i = 0; i < node.gpus.size() * node.nics.size(); ++i) {
    node.nic_paths.push_back(kPaths[random() % 6]);
  }
  for (Nic& nic : node.nics) {
    if (random() % 4 != 0)
      nic.rate = GigabytesPerSecond{12.5 * static_cast<double>(1u << random() % 3)};
    nic.state = random() % 4 == 0 ? PortState::kDown : PortState::kActive;
  }
  if (random() % 3 == 0) node.gpu_direct = random() % 2 == 0;
  return node;
}

TEST(InterNode, NeverFallsAsGpusAreAdded) {
  std::mt19937 random(19);
  for (int i = 0; i < 3000; ++i) {
    const NodeTopology node = random_machine(random);
    auto gpus = first(static_cast<std::uint32_t>(node.gpus.size()));
    std::shuffle(gpus.begin(), gpus.end(), random);
    for (const Transport transport :
         {Transport::kInfiniBand, Transport::kRoce, Transport::kEfa, Transport::kSocket}) {
      double before = 0;
      for (std::size_t count = 1; count <= gpus.size(); ++count) {
        const double now =
            bandwidth(node, {gpus.begin(), gpus.begin() + static_cast<long>(count)}, transport);
        ASSERT_GE(now, before) << "case " << i << ", " << to_string(transport) << ", " << count;
        before = now;
      }
    }
  }
}

TEST(InterNode, IsTheSameForEveryOrderOfTheGpus) {
  std::mt19937 random(23);
  for (int i = 0; i < 2000; ++i) {
    const NodeTopology node = random_machine(random);
    auto gpus = first(static_cast<std::uint32_t>(node.gpus.size()));
    const Bottleneck sorted = inter_node(node, gpus, Transport::kInfiniBand);
    std::shuffle(gpus.begin(), gpus.end(), random);
    const Bottleneck shuffled = inter_node(node, gpus, Transport::kInfiniBand);
    ASSERT_EQ(sorted.bandwidth, shuffled.bandwidth) << "case " << i;
    ASSERT_EQ(sorted.link, shuffled.link) << "case " << i;
  }
}

// Staging through host memory costs TCP at least what it costs RDMA without GPUDirect.
TEST(InterNode, NeverPutsTcpBeforeRdmaOverTheSamePorts) {
  std::mt19937 random(29);
  for (int i = 0; i < 2000; ++i) {
    NodeTopology node = random_machine(random);
    for (Nic& nic : node.nics)
      nic.rate = node.nics[0].rate;
    const auto all = first(static_cast<std::uint32_t>(node.gpus.size()));
    const double rdma = bandwidth(node, all, Transport::kRoce);
    if (rdma == 0) continue;  // every port is down
    ASSERT_LE(bandwidth(node, all, Transport::kSocket), rdma) << "case " << i;
  }
}

}  // namespace
}  // namespace rankward::topology
