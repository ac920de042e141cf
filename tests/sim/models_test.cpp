#include "rankward/sim/models.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cluster.hpp"
#include "machines.hpp"

namespace rankward::sim {
namespace {

struct Size {
  const char* name;
  std::size_t hosts;
  std::int64_t gpus;
};

class BuiltInClusterTest : public ::testing::TestWithParam<Size> {};

// Sizes: topo.csv of alibaba-lingjun-dataset-2023; twelve racks of 72;
// openb_node_list_gpu_node.csv.
TEST_P(BuiltInClusterTest, HasTheSizeOfItsOriginal) {
  const auto nodes = hosts_of(*built_in_cluster(GetParam().name), 1);
  const Cluster cluster(nodes, false);
  EXPECT_EQ(nodes.size(), GetParam().hosts);
  EXPECT_EQ(cluster.gpus(), GetParam().gpus);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInClusterTest,
                         ::testing::Values(Size{"fabric-850", 847, 6776}, Size{"nvl72", 216, 864},
                                           Size{"openb", 1213, 6212},
                                           Size{"fabric-850-uniform", 847, 6776}),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST(BuiltInClusterTest, UnknownNamesAreToldWhatIsKnown) {
  const auto model = built_in_cluster("fabric");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message().find("fabric-850, nvl72, openb"), std::string::npos);
}

TEST(BuiltInClusterTest, FabricHasMachinesInTheirShares) {
  std::map<std::size_t, int> by_nics;
  int without_rdma = 0;
  std::set<std::string> leaves;
  for (const auto& host : hosts_of(*built_in_cluster("fabric-850"), 7)) {
    ++by_nics[host.topology.nics.size()];
    without_rdma += host.node.allocatable.contains("rdma/ib") ? 0 : 1;
    ASSERT_EQ(host.topology.fabric.domains.size(), 2U);
    leaves.insert(host.topology.fabric.domains[0]);
  }
  EXPECT_EQ(by_nics[8], 711);  // 84 % of 847
  EXPECT_EQ(by_nics[4], 68);
  EXPECT_EQ(by_nics[2], 34);
  EXPECT_EQ(by_nics[0], 34);
  EXPECT_EQ(without_rdma, 34);
  EXPECT_EQ(leaves.size(), 122U);
}

TEST(BuiltInClusterTest, OneCliqueARackOfEighteen) {
  std::map<std::string, int> cliques;
  for (const auto& host : hosts_of(*built_in_cluster("nvl72"), 1))
    ++cliques[host.topology.fabric.clique];
  ASSERT_EQ(cliques.size(), 12U);
  for (const auto& [clique, trays] : cliques)
    EXPECT_EQ(trays, 18) << clique;
}

TEST(BuiltInClusterTest, TheSeedMovesMachinesButNotTheirNumbers) {
  const auto model = *built_in_cluster("fabric-850");
  const auto kinds = [&](std::uint64_t seed) {
    std::vector<std::size_t> nics;
    for (const auto& host : hosts_of(model, seed))
      nics.push_back(host.topology.nics.size());
    return nics;
  };
  EXPECT_EQ(kinds(1), kinds(1));
  EXPECT_NE(kinds(1), kinds(2));
  auto one = kinds(1);
  auto two = kinds(2);
  std::sort(one.begin(), one.end());
  std::sort(two.begin(), two.end());
  EXPECT_EQ(one, two);
}

TEST(MachineTest, PathsFollowTheModel) {
  using topology::PathType;
  formats::MachineModel machine;
  machine.nics = 4;
  auto report = report_of(machine);
  EXPECT_EQ(report.nic_path(0, 0), PathType::kPix);
  EXPECT_EQ(report.nic_path(1, 0), PathType::kPix);
  EXPECT_EQ(report.nic_path(2, 0), PathType::kNode);
  EXPECT_EQ(report.nic_path(7, 0), PathType::kSys);
  EXPECT_EQ(report.gpu_path(0, 7), PathType::kNvLink);

  machine.links = formats::GpuLinks::kPairs;
  machine.nic_path = PathType::kSys;
  report = report_of(machine);
  EXPECT_EQ(report.gpu_path(0, 1), PathType::kNvLink);
  EXPECT_EQ(report.gpu_path(1, 2), PathType::kPxb);
  EXPECT_EQ(report.gpu_path(3, 4), PathType::kSys);
  EXPECT_EQ(report.nic_path(0, 0), PathType::kSys);
}

TEST(ClusterModelFileTest, IsReadWhole) {
  const auto model = formats::read_cluster_model(R"(
apiVersion: sim.rankward.io/v1alpha1
kind: SimulatedCluster
name: two-leaves
machines:
- {name: a, product: NVIDIA-H100-80GB-HBM3, gpus: 8, nics: 4, nicRate: 25, nicPath: node, weight: 3}
- {name: b, gpus: 4, gpuLinks: pairs, nics: 0, cpus: 500m, memory: 1Gi, linkLayer: ethernet}
spines:
- {leaves: 2, hosts: 8}
cliqueHosts: 4
)",
                                                 "model.yaml");
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_EQ(model->machines[0].nic_rate.value, 25);
  EXPECT_EQ(model->machines[0].nic_path, topology::PathType::kNode);
  EXPECT_EQ(model->machines[1].cpu_milli, 500);
  EXPECT_EQ(model->machines[1].memory.count, std::int64_t{1} << 30);
  const auto nodes = hosts_of(*model, 1);
  const Cluster cluster(nodes, false);
  EXPECT_EQ(nodes.size(), 8U);
  EXPECT_EQ(cluster.gpus(), 6 * 8 + 2 * 4);
  std::set<std::string> cliques;
  for (const auto& node : nodes)
    cliques.insert(node.topology.fabric.clique);
  EXPECT_EQ(cliques.size(), 2U);
}

struct BadFile {
  const char* name;
  const char* text;
  const char* error;
};

class BadModelTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadModelTest, SaysWhereAndWhatIsAccepted) {
  const std::string head = "apiVersion: sim.rankward.io/v1alpha1\nkind: SimulatedCluster\n";
  const auto model = formats::read_cluster_model(head + GetParam().text, "m.yaml");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().to_string(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModelTest,
    ::testing::Values(
        BadFile{"NoMachine", "spines: [{hosts: 1}]\n",
                "m.yaml: machines: must have at least one entry"},
        BadFile{"UnknownKey", "machines:\n- {gpu: 8}\nspines: [{hosts: 1}]\n",
                "m.yaml:4: machines[0].gpu: is not a known key; known here: name, product, gpus, "
                "gpuLinks, nics, nicRate, nicPath, linkLayer, cpus, memory, weight"},
        BadFile{"TooManyGpus", "machines:\n- {gpus: 17}\nspines: [{hosts: 1}]\n",
                "m.yaml:4: machines[0].gpus: must be an integer from 1 to 16, not \"17\""},
        BadFile{"NegativeRate", "machines:\n- {nicRate: -1}\nspines: [{hosts: 1}]\n",
                "m.yaml:4: machines[0].nicRate: must be a number of 0 or more, not \"-1\""}),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace rankward::sim
