#include "rankward/formats/topology_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "rankward/formats/topology_annotation.hpp"

namespace rankward::formats {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using topology::NodeTopology;
using topology::PathType;

// "0 0 1 ?"
std::string numa_of(const NodeTopology& node) {
  std::string out;
  for (const topology::Gpu& gpu : node.gpus) {
    if (!out.empty()) out += ' ';
    out += gpu.numa_node ? std::to_string(*gpu.numa_node) : "?";
  }
  return out;
}

std::string path_name(PathType path, int nvlinks) {
  return path == PathType::kNvLink ? "NV" + std::to_string(nvlinks)
                                   : std::string(topology::to_string(path));
}

// "X NV2 | NODE SYS": a row as nvidia-smi prints it, NICs behind the bar.
std::string row_of(const NodeTopology& node, std::size_t gpu) {
  std::string out;
  for (std::size_t b = 0; b < node.gpus.size(); ++b) {
    out += path_name(node.gpu_path(gpu, b), node.nvlink_count(gpu, b)) + " ";
  }
  out += "|";
  for (std::size_t nic = 0; nic < node.nics.size(); ++nic) {
    out += " " + std::string(topology::to_string(node.nic_path(gpu, nic)));
  }
  return out;
}

// "mlx5_0 mlx5_1"
std::string devices_of(const NodeTopology& node) {
  std::string out;
  for (const topology::Nic& nic : node.nics)
    out += (out.empty() ? "" : " ") + nic.device;
  return out;
}

NodeTopology read(std::string_view text) {
  auto result = read_topology_matrix(text);
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

constexpr std::string_view kTwo =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV4\tPIX\t0-15,32-47\t0\t\tN/A\n"
    "GPU1\tNV4\t X \tSYS\t16-31,48-63\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = bonded NVLinks\n\nNIC Legend:\n\n  NIC0: mlx5_bond_0\n";

TEST(TopologyMatrix, ReadsDevicesPathsAndNumaNodes) {
  const NodeTopology node = read(kTwo);
  EXPECT_EQ(node.gpus.at(1).index, 1U);
  EXPECT_EQ(numa_of(node), "0 1");
  EXPECT_EQ(devices_of(node), "mlx5_bond_0");
  EXPECT_EQ(row_of(node, 0), "X NV4 | PIX");
  EXPECT_EQ(row_of(node, 1), "NV4 X | SYS");
  EXPECT_FALSE(node.nics.at(0).rate);
  EXPECT_FALSE(node.nics.at(0).numa_node);
  EXPECT_EQ(node.nics.at(0).state, topology::PortState::kUnknown);
  EXPECT_FALSE(node.gpus.at(0).memory);
  EXPECT_EQ(node.sources, 0);
}

TEST(TopologyMatrix, BecomesAnAnnotationThatReadsTheSame) {
  const NodeTopology node = read(kTwo);
  const auto again = read_topology(print_topology(node).value());
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->gpu_paths, node.gpu_paths);
  EXPECT_EQ(again->nvlinks, node.nvlinks);
  EXPECT_EQ(again->nic_paths, node.nic_paths);
  EXPECT_EQ(numa_of(*again), "0 1");
  EXPECT_EQ(devices_of(*again), "mlx5_bond_0");
}

struct Variant {
  std::string_view what;
  std::string_view text;
  std::string_view numa;
  std::string_view first_row;
};

TEST(TopologyMatrix, ReadsEveryAgeAndShapeOfTheFormat) {
  const Variant variants[] = {
      {"underlined header, carriage returns",
       "\t\x1b[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\x1b[0m\r\n"
       "GPU0\t X \tPHB\t0-3\t0\r\nGPU1\tPHB\t X \t0-3\t0\r\n",
       "0 0", "X PHB |"},
      {"no NUMA column", "  GPU0 GPU1 CPU Affinity\nGPU0 X SYS 0-3\nGPU1 SYS X 4-7\n", "? ?",
       "X SYS |"},
      {"SOC is SYS, PSB is PIX",
       "  GPU0 GPU1 mlx4_0 CPU Affinity\nGPU0 X PSB SOC 0-3\nGPU1 PSB X SOC 0-3\n", "? ?",
       "X PIX | SYS"},
      {"N/A is not node 0", "  GPU0 CPU Affinity NUMA Affinity\nGPU0 X N/A N/A\n", "?", "X |"},
      {"a list of NUMA nodes is none", "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\tX\t0-7\t0-1\n",
       "?", "X |"},
      {"an empty CPU field between tabs keeps its place",
       "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t1\t\tN/A\n", "1", "X |"},
      {"blanks do not: whose the two are is not certain",
       "  GPU0 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X 1 N/A\n", "?", "X |"},
      {"GPU NUMA ID is another thing",
       "  GPU0 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X 0-71 0 9\n", "0", "X |"},
      {"blanks after tabs",
       "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-7  3 N/A\n", "3", "X |"},
      {"GPUs of a container keep their numbers",
       "  GPU2 GPU5 CPU Affinity NUMA Affinity\nGPU2 X NV18 0-7 0\nGPU5 NV18 X 8-15 1\n", "0 1",
       "X NV18 |"},
      {"C2C", "  GPU0 GPU1 CPU Affinity\nGPU0 X C2C 0\nGPU1 C2C X 0\n", "? ?", "X C2C |"},
      {"a legend right below", "  GPU0 CPU Affinity\nGPU0 X 0\nLegend:\n  X = Self\n", "?", "X |"},
      {"a sequence that is cut short ends before what does not fit",
       "\x1b[4\n  GPU0 CPU Affinity\nGPU0 X 0\x1b[", "?", "X |"},
  };
  for (const Variant& variant : variants) {
    SCOPED_TRACE(variant.what);
    EXPECT_TRUE(is_topology_matrix(variant.text) || variant.text.substr(0, 4) == "\x1b[4\n");
    const auto node = read_topology_matrix(variant.text);
    if (!node) {
      ADD_FAILURE() << node.error().to_string();
      continue;
    }
    EXPECT_EQ(numa_of(*node), variant.numa);
    EXPECT_EQ(row_of(*node, 0), variant.first_row);
  }
}

TEST(TopologyMatrix, FillsRowsThatWereCutOffFromTheOthersColumns) {
  const NodeTopology node = read(
      "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV2\tSYS\tPIX\t0-3\t0\n");
  EXPECT_EQ(row_of(node, 0), "X NV2 SYS | PIX");
  EXPECT_EQ(row_of(node, 1), "NV2 X ? | ?");
  EXPECT_EQ(row_of(node, 2), "SYS ? X | ?");
  EXPECT_EQ(numa_of(node), "0 ? ?");
  EXPECT_EQ(devices_of(node), "NIC0");

  const NodeTopology by_nic =
      read("  GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV2 PIX 0\nNIC0 PIX NODE X\n");
  EXPECT_EQ(row_of(by_nic, 1), "NV2 X | NODE");
}

struct Broken {
  std::string_view text;
  std::size_t line;
  std::string_view message;
};

TEST(TopologyMatrix, RefusesWhatIsNoMatrixWithLineAndRow) {
  const Broken cases[] = {
      {"", 1, "GPU0 GPU1"},
      {"\n\n  \n", 3, "GPU0 GPU1"},
      {"NVIDIA-SMI has failed\n", 1, "not \"NVIDIA-SMI\""},
      {"{\"version\":1}", 1, "titles of the columns"},
      {"  GPU0GPU1 CPU Affinity\n", 1, "not \"GPU0GPU1\""},
      {"  GPU0 GPU0 CPU Affinity\n", 1, "twice"},
      {"  GPU0 GPU00 CPU Affinity\nGPU0 X PIX 0\n", 1, "not \"GPU00\""},
      {"  GPU0 mlx5/0 CPU Affinity\n", 1, "devices as titles"},
      {"  GPU0 GPU1\n GPU0 X OK\n GPU1 OK X\n", 1, "topo -p2p"},
      {"  GPU0 CPU Affinity Moon Phase\n", 1, "must end with CPU Affinity"},
      {"  GPU0 CPU Affinity\n", 1, "at least one row"},
      {"  GPU0 NIC0 CPU Affinity\nNIC0 PIX X\n", 2, "at least one row"},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X OK 0\n", 2, "GPU0: must have X, NV#"},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X NV0 0\n", 2, "not \"NV0\""},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X NV999 0\n", 2, "not \"NV999\""},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X NVL 0\n", 2, "not \"NVL\""},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X ? 0\n", 2, "not \"?\""},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X\n", 2, "2 devices, and has 1"},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 X X 0\n", 2, "X below itself"},
      {"  GPU0 GPU1 CPU Affinity\nGPU0 PIX PIX 0\n", 2, "X below itself"},
      {"  GPU0 CPU Affinity\nGPU1 X 0\n", 2, "not of \"GPU1\""},
      {"  GPU0 CPU Affinity\nGPU0 X 0\nGPU0 X 0\n", 3, "GPU0: must not have a second row"},
      {"  GPU0 NIC0 CPU Affinity\nGPU0 X NV4 0\n", 2, "NVLinks to a NIC"},
      {"  GPU0 CPU Affinity\nGPU0 X 0-3 0\n", 2, "more fields"},
      {"  GPU0 CPU Affinity\nGPU0 X zero\n", 2, "not \"zero\""},
      {"  GPU0 NIC0 CPU Affinity\nGPU0 X PIX 0\n\n  NIC1: mlx5_0\n", 4, "\"NIC1\""},
      {"  GPU0 NIC0 CPU Affinity\nGPU0 X PIX 0\n\n  NIC0: mlx5_0\n  NIC0: mlx5_1\n", 5, "twice"},
      {"  GPU0 NIC0 CPU Affinity\nGPU0 X PIX 0\n\n  NIC0:\n", 4, "name of a device"},
      {"  GPU0 NIC0 CPU Affinity\nGPU0 X PIX 0\n\n  NIC0: a b\n", 4, "name of a device"},
      {"  GPU0 CPU Affinity\nGPU0 \x1bX\x07 0\n", 2, "not \"?X?\""},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.text);
    const auto result = read_topology_matrix(broken.text);
    if (result) {
      ADD_FAILURE() << "was read";
      continue;
    }
    EXPECT_EQ(result.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(result.error().line(), broken.line);
    EXPECT_THAT(result.error().to_string(), HasSubstr(broken.message));
  }
}

TEST(TopologyMatrix, BoundsItsInput) {
  const auto large = read_topology_matrix(std::string(kMaxMatrixBytes + 1, ' '));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind(), ErrorKind::kTooLarge);

  std::string wide;
  for (std::size_t i = 0; i <= kMaxMatrixColumns; ++i)
    wide += " GPU" + std::to_string(i);
  const auto many = read_topology_matrix(wide + " CPU Affinity\n");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind(), ErrorKind::kTooLarge);
  EXPECT_THAT(many.error().to_string(), HasSubstr("256 columns"));
}

TEST(TopologyMatrix, IsToldFromYamlAndJson) {
  EXPECT_TRUE(is_topology_matrix(kTwo));
  EXPECT_TRUE(is_topology_matrix("\n\n\t\x1b[4mGPU0\tGPU1"));
  EXPECT_FALSE(is_topology_matrix("{\"version\":1}"));
  EXPECT_FALSE(is_topology_matrix("apiVersion: v1\nkind: Node\n"));
  EXPECT_FALSE(is_topology_matrix("GPUs: 8\n"));
  EXPECT_FALSE(is_topology_matrix(""));
}

// Of each published matrix: NUMA nodes of the GPUs, devices, and the rows of some GPUs.
struct Facts {
  std::string_view numa;
  std::string_view devices;
  std::map<std::size_t, std::string_view> rows = {};
};

constexpr std::string_view kEightMlx = "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7";

const std::map<std::string, Facts>& published() {
  static const std::map<std::string, Facts> all = {
      {"2gpu-5090-phb-one-socket.txt", {"0 0", "", {{0, "X PHB |"}}}},
      {"2gpu-nv2-numa-NA.txt", {"? ?", "", {{1, "NV2 X |"}}}},
      {"2gpu-nvlink-indented-tail.txt", {"0 0", "", {{0, "X NV1 |"}}}},
      {"2gpu-phb-numa-NA.txt", {"? ?", "", {{1, "PHB X |"}}}},
      {"a100-4gpu-hgx-nv4-1nic-two-numa.txt",
       {"0 0 1 1", "mlx5_0", {{1, "NV4 X NV4 NV4 | NODE"}, {2, "NV4 NV4 X NV4 | SYS"}}}},
      {"a100-4gpu-hgx-nv4-polaris-mixed-separators.txt",
       {"3 2 1 0",
        "mlx5_0 mlx5_1",
        {{0, "X NV4 NV4 NV4 | SYS SYS"},
         {1, "NV4 X NV4 NV4 | SYS PHB"},
         {3, "NV4 NV4 NV4 X | PHB SYS"}}}},
      {"aws-p4d-a100-8gpu-no-nic-columns.txt",
       {"0 0 0 0 1 1 1 1", "", {{7, "NV12 NV12 NV12 NV12 NV12 NV12 NV12 X |"}}}},
      {"dgx-a100-8gpu-12hca-tabs.txt",
       {"3 3 1 1 7 7 5 5",
        "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_9 mlx5_10 mlx5_11",
        {{0,
          "X NV12 NV12 NV12 NV12 NV12 NV12 NV12 | PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS "
          "SYS"},
         {5,
          "NV12 NV12 NV12 NV12 NV12 X NV12 NV12 | SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS SYS "
          "SYS"},
         {7,
          "NV12 NV12 NV12 NV12 NV12 NV12 NV12 X | SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB SYS "
          "SYS"}}}},
      {"dgx-h100-12nic-truncated-by-head.txt",
       {"0 0 0 0 1 1 1 1",
        "NIC0 NIC1 NIC2 NIC3 NIC4 NIC5 NIC6 NIC7 NIC8 NIC9 NIC10 NIC11",
        {{0,
          "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 | PXB NODE NODE NODE NODE NODE SYS SYS SYS SYS "
          "SYS SYS"},
         {7,
          "NV18 NV18 NV18 NV18 NV18 NV18 NV18 X | SYS SYS SYS SYS SYS SYS NODE NODE NODE NODE "
          "NODE PXB"}}}},
      {"dgx1v-v100-8gpu-mlx5.txt",
       {"0 0 0 0 1 1 1 1",
        "mlx5_0 mlx5_1",
        {{0, "X NV1 NV2 NV1 SYS SYS SYS NV2 | NODE SYS"},
         {3, "NV1 NV2 NV2 X NV1 SYS SYS SYS | PIX SYS"},
         {6, "SYS NV2 SYS SYS NV2 NV1 X NV1 | SYS PIX"}}}},
      {"gb200-4gpu-ansi-empty-cpu-affinity.txt",
       {"0 0 1 1",
        "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5",
        {{2, "NV18 NV18 X NV18 | NODE NODE NODE NODE NODE NODE"}}}},
      {"gh200-1gpu-4nic-gpu-numa-id-1.txt",
       {"0", "NIC0 NIC1 NIC2 NIC3", {{0, "X | NODE NODE NODE NODE"}}}},
      {"gke-a3ultra-h200-8gpu-8nic-pairs.txt",
       {"0 0 0 0 1 1 1 1",
        kEightMlx,
        {{1, "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 | PIX PIX NODE NODE SYS SYS SYS SYS"},
         {6, "NV18 NV18 NV18 NV18 NV18 NV18 X NV18 | SYS SYS SYS SYS NODE NODE PIX PIX"}}}},
      {"h100-8gpu-nonic-smt-ranges.txt", {"0 0 0 0 1 1 1 1", ""}},
      {"h100-hgx-8gpu-8nic-0-47-96-143.txt",
       {"0 0 0 0 1 1 1 1",
        "mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7 mlx5_8",
        {{3, "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 | NODE NODE NODE PIX SYS SYS SYS SYS"}}}},
      {"h200-hgx-shuffled-nics-gpu-not-in-nic-order.txt",
       {"0 0 0 0 1 1 1 1",
        kEightMlx,
        {{0, "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 | NODE NODE SYS NODE PIX SYS SYS SYS"},
         {2, "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 | PIX NODE SYS NODE NODE SYS SYS SYS"},
         {7, "NV18 NV18 NV18 NV18 NV18 NV18 NV18 X | SYS SYS PIX SYS SYS NODE NODE NODE"}}}},
      {"k80-4gpu-NODE-no-numa-column.txt", {"? ? ? ?", "", {{3, "NODE NODE NODE X |"}}}},
      {"k8s-issue-mlx4-8gpu-2017-trailing-spaces-truncated.txt",
       {"? ? ? ? ? ? ? ?",
        "mlx4_0",
        {{0, "X PIX PHB PHB SYS SYS SYS SYS | PHB"},
         {4, "SYS SYS SYS SYS X PIX PHB PHB | SYS"},
         {5, "SYS SYS SYS SYS PIX X ? ? | ?"}}}},
      {"nv8-a800-8gpu-9nic-plx-truncated-7-rows.txt",
       {"0 0 0 0 1 1 1 ?",
        "NIC0 NIC1 NIC2 NIC3 NIC4 NIC5 NIC6 NIC7 NIC8",
        {{0, "X NV8 NV8 NV8 NV8 NV8 NV8 NV8 | NODE SYS PIX SYS NODE SYS NODE SYS NODE"},
         {7, "NV8 NV8 NV8 NV8 NV8 NV8 NV8 X | ? ? ? ? ? ? ? ? ?"}}}},
      {"pcie-4gpu-4nic-node-sys-bus-error-report.txt",
       {"0 0 1 1", "NIC0 NIC1 NIC2 NIC3", {{2, "SYS SYS X NODE | SYS SYS NODE NODE"}}}},
      {"pcie-4gpu-all-PHB-one-socket.txt", {"0 0 0 0", "", {{2, "PHB PHB X PHB |"}}}},
      {"pcie-4xRTX6000Ada-4nic-two-sockets.txt",
       {"0 0 1 1", "mlx5_0 mlx5_1 mlx5_2 mlx5_3", {{1, "NODE X SYS SYS | NODE NODE SYS SYS"}}}},
      {"pcie-8gpu-node-phb-pairs-uneven-6-2.txt",
       {"0 0 0 0 0 0 1 1", "", {{1, "NODE X PHB NODE NODE NODE SYS SYS |"}}}},
      {"pcie-8gpu-pxb-hpc-node-no-legend.txt",
       {"0 0 0 0 1 1 1 1", "mlx5_0 mlx5_1", {{2, "PXB PXB X PIX SYS SYS SYS SYS | NODE NODE"}}}},
      {"pcie-8gpu-two-switches-nic-on-other-socket.txt",
       {"0 0 0 0 0 0 0 0",
        "mlx5_0 mlx5_1",
        {{0, "X PIX PIX PIX NODE NODE NODE NODE | SYS SYS"},
         {7, "NODE NODE NODE NODE PIX PIX PIX X | SYS SYS"}}}},
      {"pcie-8x4090-all-SYS-one-nic-pair.txt",
       {"0 0 0 0 1 1 1 1",
        "NIC0 NIC1",
        {{6, "SYS SYS SYS SYS SYS SYS X SYS | PHB PHB"},
         {7, "SYS SYS SYS SYS SYS SYS SYS X | SYS SYS"}}}},
      {"slurm-2of8-a100-nic-rows-truncated.txt",
       {"3 3",
        "NIC0 NIC1 NIC2 NIC3 NIC4 NIC5 NIC6 NIC7 NIC8 NIC9",
        {{0, "X NV12 | PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS"}}}},
      {"v100-4gpu-nv1-nv2-nic-SYS-single-socket-mask.txt",
       {"? ? ? ?", "mlx5_0", {{1, "NV1 X NV2 NV1 | SYS"}}}},
      {"v100-4gpu-nv1-pairs-synthetic-legend.txt", {"? ? ? ?", "", {{2, "SYS SYS X NV1 |"}}}},
      {"vm-1gpu-1nic-PHB-0-251.txt", {"0", "mlx5_0", {{0, "X | PHB"}}}},
      {"workstation-2gpu-2nic-NODE.txt", {"0 0", "mlx5_0 mlx5_1", {{1, "PHB X | NODE NODE"}}}},
  };
  return all;
}

// They belong to their publishers and are read from RANKWARD_CORPUS, where that is set.
TEST(TopologyMatrix, ReadsThePublishedMatrices) {
  const char* corpus = std::getenv("RANKWARD_CORPUS");
  if (corpus == nullptr) {
    std::cout << "not run: " << published().size() << " matrices (RANKWARD_CORPUS is not set)\n";
    return;
  }
  std::size_t known = 0;
  std::size_t refused = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(corpus) / "topo")) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto node = read_topology_matrix(text);
    if (name.rfind("NOT-", 0) == 0) {
      EXPECT_FALSE(node) << "is another command's matrix";
      EXPECT_THAT(node.error().to_string(), HasSubstr("topo -p2p"));
      ++refused;
      continue;
    }
    const auto facts = published().find(name);
    if (facts == published().end() || !node) {
      ADD_FAILURE() << (node ? "no facts are stated for this file" : node.error().to_string());
      continue;
    }
    ++known;
    EXPECT_TRUE(is_topology_matrix(text));
    EXPECT_EQ(numa_of(*node), facts->second.numa);
    EXPECT_EQ(devices_of(*node), facts->second.devices);
    for (const auto& [gpu, row] : facts->second.rows)
      EXPECT_EQ(row_of(*node, gpu), row) << "GPU" << gpu;
    // Each is small enough to be a node's annotation.
    EXPECT_TRUE(print_topology(*node));
  }
  EXPECT_EQ(known, published().size());
  EXPECT_EQ(refused, 2U);
}

}  // namespace
}  // namespace rankward::formats
