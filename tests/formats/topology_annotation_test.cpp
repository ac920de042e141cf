#include "rankward/formats/topology_annotation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using topology::NodeTopology;
using topology::PathType;

constexpr std::string_view kFull =
    R"({"version":1,"time":1767322800,"driver":"550.54.15","gpuDirect":true,)"
    R"("topologyManager":{"policy":"single-numa-node","scope":"pod"},)"
    R"("gpus":[{"index":0,"uuid":"GPU-a","busId":"0000:1b:00.0","numaNode":0,)"
    R"("memoryBytes":85520809984,"model":"NVIDIA H100 80GB HBM3","health":"healthy",)"
    R"("mig":[{"profile":"1g.10gb","count":7,"memoryBytes":10468982784}]},)"
    R"({"index":1,"health":"unhealthy"}],)"
    R"("nics":[{"device":"mlx5_0","busId":"0000:1a:00.0","numaNode":1,"gigabytesPerSecond":50,)"
    R"("linkLayer":"InfiniBand","state":"active","resource":"rdma/ib"}],)"
    R"("gpuPaths":[["X","NVL"],["NVL","X"]],"nvlinks":[[0,18],[18,0]],)"
    R"("nicPaths":[["PIX"],["?"]]})";

TEST(Topology, reads_every_field) {
  const auto read = read_topology(kFull);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->reported_at, 1767322800);
  EXPECT_EQ(read->driver, "550.54.15");
  EXPECT_EQ(read->gpu_direct, true);
  EXPECT_EQ(read->topology_manager, topology::TopologyManagerPolicy::kSingleNumaNode);
  EXPECT_TRUE(read->topology_manager_pod_scope);
  ASSERT_EQ(read->gpus.size(), 2U);
  EXPECT_EQ(read->gpus[0].uuid, "GPU-a");
  EXPECT_EQ(read->gpus[0].pci_bus_id, "0000:1b:00.0");
  EXPECT_EQ(read->gpus[0].numa_node, 0U);
  EXPECT_EQ(read->gpus[0].memory, topology::Bytes{85520809984});
  EXPECT_EQ(read->gpus[0].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(read->gpus[0].health, topology::Health::kHealthy);
  EXPECT_EQ(read->gpus[0].mig.at(0).profile, "1g.10gb");
  EXPECT_EQ(read->gpus[0].mig.at(0).count, 7);
  EXPECT_EQ(read->gpus[0].mig.at(0).memory, topology::Bytes{10468982784});
  ASSERT_EQ(read->nics.size(), 1U);
  EXPECT_EQ(read->nics[0].device, "mlx5_0");
  EXPECT_EQ(read->nics[0].rate, topology::GigabytesPerSecond{50});
  EXPECT_EQ(read->nics[0].link_layer, topology::LinkLayer::kInfiniBand);
  EXPECT_EQ(read->nics[0].state, topology::PortState::kActive);
  EXPECT_EQ(read->nics[0].resource, "rdma/ib");
  EXPECT_EQ(read->gpu_path(0, 1), PathType::kNvLink);
  EXPECT_EQ(read->nvlink_count(1, 0), 18);
  EXPECT_EQ(read->nic_path(0, 0), PathType::kPix);
  EXPECT_EQ(read->nic_path(1, 0), PathType::kUnknown);
  EXPECT_TRUE(read->has(topology::Source::kAnnotation));
}

TEST(Topology, prints_what_it_read) {
  for (const std::string_view text :
       {kFull, std::string_view(R"({"version":1})"),
        std::string_view(R"({"version":1,"gpus":[{"index":3}],"nics":[{"device":"efa_0",)"
                         R"("gigabytesPerSecond":12.5,"linkLayer":"EFA"}]})")}) {
    const auto read = read_topology(text);
    ASSERT_TRUE(read) << text;
    const auto printed = print_topology(*read);
    ASSERT_TRUE(printed) << text;
    EXPECT_EQ(*printed, text);
  }
}

TEST(Topology, absent_and_null_stay_unknown) {
  const auto read = read_topology(
      R"({"version":1,"time":null,"driver":null,"gpuDirect":null,"topologyManager":null,)"
      R"("gpus":[{"index":0,"numaNode":null,"memoryBytes":null,"health":null,"mig":null}],)"
      R"("nics":null,"gpuPaths":null,"nvlinks":null,"nicPaths":null})");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->reported_at, std::nullopt);
  EXPECT_EQ(read->gpu_direct, std::nullopt);
  EXPECT_EQ(read->topology_manager, topology::TopologyManagerPolicy::kUnknown);
  EXPECT_EQ(read->gpus.at(0).numa_node, std::nullopt);
  EXPECT_EQ(read->gpus.at(0).memory, std::nullopt);
  EXPECT_EQ(read->gpus.at(0).health, topology::Health::kUnknown);
  EXPECT_THAT(read->nics, IsEmpty());
  EXPECT_EQ(read->gpu_path(0, 0), PathType::kUnknown);
}

TEST(Topology, passes_over_unknown_keys) {
  const auto read = read_topology(
      R"({"version":1,"sources":["nvml"],"later":{"x":[1]},"gpus":[{"index":0,"later":1}]})");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->gpus.size(), 1U);
}

TEST(Topology, refuses_what_is_wrong_with_field_and_accepted_form) {
  struct Case {
    std::string_view text;
    std::string_view field;
    std::string_view message;
  };
  const Case cases[] = {
      {"{}", "version", "must be 1"},
      {R"({"version":2,"gpus":"other"})", "version", "must be 1"},
      {R"({"version":"1"})", "version", "must be a number"},
      {R"({"version":1,"gpus":{}})", "gpus", "must be an array"},
      {R"({"version":1,"gpus":[null]})", "gpus[0]", "must be an object"},
      {R"({"version":1,"gpus":[{}]})", "gpus[0].index", "must be given"},
      {R"({"version":1,"gpus":[{"index":-1}]})", "gpus[0].index", "from 0 to 1023"},
      {R"({"version":1,"gpus":[{"index":0},{"index":0}]})", "gpus", "index of its own"},
      {R"({"version":1,"gpus":[{"index":0,"memoryBytes":0}]})", "gpus[0].memoryBytes", "from 1"},
      {R"({"version":1,"gpus":[{"index":0,"memoryBytes":1e30}]})", "gpus[0].memoryBytes",
       "must be an integer"},
      {R"({"version":1,"gpus":[{"index":0,"numaNode":-1}]})", "gpus[0].numaNode", "from 0"},
      {R"({"version":1,"gpus":[{"index":0,"health":"fine"}]})", "gpus[0].health",
       "must be one of healthy, unhealthy"},
      {R"({"version":1,"gpus":[{"index":0,"mig":[{"count":1}]}]})", "gpus[0].mig[0].profile",
       "must be given"},
      {R"({"version":1,"nics":[{"linkLayer":"EFA"}]})", "nics[0].device", "must be given"},
      {R"({"version":1,"nics":[{"device":"a","gigabytesPerSecond":0}]})",
       "nics[0].gigabytesPerSecond", "above 0"},
      {R"({"version":1,"nics":[{"device":"a","gigabytesPerSecond":1e999}]})",
       "nics[0].gigabytesPerSecond", "above 0"},
      {R"({"version":1,"gpus":[{"index":0}],"gpuPaths":[["X"],["X"]]})", "gpuPaths",
       "must have 1 rows of 1"},
      {R"({"version":1,"gpus":[{"index":0}],"gpuPaths":[["X","X"]]})", "gpuPaths",
       "must have 1 rows of 1"},
      {R"({"version":1,"gpus":[{"index":0}],"nvlinks":[[256]]})", "nvlinks[0][0]", "from 0 to 255"},
      {R"({"version":1,"gpus":[{"index":0}],"nvlinks":[[null]]})", "nvlinks[0][0]",
       "must be given"},
      {R"({"version":1,"gpus":[{"index":0}],"gpuPaths":[["NV18"]]})", "gpuPaths[0][0]",
       "must be one of X, NVL"},
      {R"({"version":1,"nicPaths":[["PIX"]]})", "nicPaths", "must have 0 rows of 0"},
  };
  for (const Case& c : cases) {
    const auto read = read_topology(c.text);
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().field(), c.field) << c.text;
    EXPECT_THAT(read.error().message(), HasSubstr(c.message)) << c.text;
  }
}

NodeTopology large(std::size_t gpus, std::size_t nics, std::size_t uuid_size) {
  NodeTopology node;
  for (std::size_t i = 0; i < gpus; ++i) {
    topology::Gpu gpu;
    gpu.index = static_cast<std::uint32_t>(i);
    gpu.uuid = std::string(uuid_size, 'u');
    gpu.model = "NVIDIA H100 80GB HBM3";
    node.gpus.push_back(gpu);
  }
  for (std::size_t i = 0; i < nics; ++i) {
    topology::Nic nic;
    nic.device = "mlx5_" + std::to_string(i);
    node.nics.push_back(nic);
  }
  node.gpu_paths.assign(gpus * gpus, PathType::kNvLink);
  node.nvlinks.assign(gpus * gpus, 18);
  node.nic_paths.assign(gpus * nics, PathType::kNode);
  return node;
}

TEST(Topology, sixteen_gpus_and_nics_fit_with_their_uuids) {
  const auto printed = print_topology(large(16, 16, 40));
  ASSERT_TRUE(printed);
  EXPECT_THAT(*printed, HasSubstr("uuid"));
}

TEST(Topology, uuids_go_first_where_it_would_not_fit) {
  const NodeTopology node = large(16, 16, 1000);
  const auto printed = print_topology(node);
  ASSERT_TRUE(printed);
  EXPECT_LE(printed->size(), kMaxTopologyBytes);
  EXPECT_THAT(*printed, ::testing::Not(HasSubstr("uuid")));
  const auto read = read_topology(*printed);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->gpu_paths, node.gpu_paths);
  EXPECT_EQ(read->nvlinks, node.nvlinks);
}

TEST(Topology, what_does_not_fit_without_uuids_is_too_large) {
  const auto printed = print_topology(large(64, 16, 40));
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().kind(), ErrorKind::kTooLarge);
  const auto read = read_topology(std::string(kMaxTopologyBytes + 1, ' '));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::kTooLarge);
}

TEST(Topology, the_schema_names_every_key_that_is_printed) {
  std::ifstream file(RANKWARD_SOURCE_DIR "/docs/rankward-topology.schema.json");
  std::ostringstream text;
  text << file.rdbuf();
  const boost::json::value schema = boost::json::parse(text.str());
  const boost::json::value printed = boost::json::parse(std::string(kFull));
  const auto expect_keys = [](const boost::json::value& object,
                              const boost::json::value& described) {
    for (const auto& member : object.as_object()) {
      EXPECT_TRUE(described.at("properties").as_object().contains(member.key())) << member.key();
    }
  };
  expect_keys(printed, schema);
  const boost::json::value& gpu = printed.at("gpus").at(0);
  const boost::json::value& described_gpu = schema.at("$defs").at("gpu");
  expect_keys(gpu, described_gpu);
  expect_keys(gpu.at("mig").at(0), described_gpu.at("properties").at("mig").at("items"));
  expect_keys(printed.at("nics").at(0), schema.at("$defs").at("nic"));
}

}  // namespace
}  // namespace rankward::formats
