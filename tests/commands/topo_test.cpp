#include "rankward/commands/topo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rankward::commands {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two sockets: GPU0 and mlx5_4 behind one switch, GPU1 without a NIC of its own.
constexpr std::string_view kMatrix =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tSYS\tPIX\t0-15\t0\t\tN/A\n"
    "GPU1\tSYS\t X \tSYS\t16-31\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_4\n";

constexpr std::string_view kAnnotation =
    R"({"version":1,"gpus":[{"index":0,"numaNode":0},{"index":1,"numaNode":1}],)"
    R"("nics":[{"device":"mlx5_4"}],"gpuPaths":[["X","SYS"],["SYS","X"]],)"
    R"("nicPaths":[["PIX"],["SYS"]]})";

class TopoTest : public ::testing::Test {
 protected:
  TopoTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("rankward-topo-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~TopoTest() override { std::filesystem::remove_all(folder_); }

  int run(std::string_view content, bool json = false, bool annotation = false) {
    const std::string path = (folder_ / "input").string();
    std::ofstream(path) << content;
    out_.str("");
    err_.str("");
    return topo({path, json, annotation}, console_);
  }

  std::filesystem::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, false};
};

TEST_F(TopoTest, ShowsEachGpusNearestNicsAndWhatTheyCarry) {
  EXPECT_EQ(run(kMatrix), 0) << err_.str();
  // 100 Gb/s is 12 GB/s; across sockets half of it at most, and the CPU link of 6.
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("machine: 2 GPUs, 1 NIC"),
                    HasSubstr("GPU0   0      ?       PIX mlx5_4     12 GB/s"),
                    HasSubstr("GPU1   1      ?       SYS mlx5_4     6 GB/s"),
                    HasSubstr("GPU1-mlx5_4 SYS, no GPUDirect"), HasSubstr("PIX GPU0"),
                    HasSubstr("SYS    6 GB/s"), HasSubstr("assumed: NIC rates (100 Gb/s)")));
}

TEST_F(TopoTest, MakesTheAnnotationOfAMatrix) {
  EXPECT_EQ(run(kMatrix, false, true), 0) << err_.str();
  EXPECT_EQ(out_.str(), std::string(kAnnotation) + "\n");
}

TEST_F(TopoTest, ShowsTheSameOfAnAnnotationAndOfItsNode) {
  ASSERT_EQ(run(kMatrix, true), 0);
  const std::string of_matrix = out_.str();
  EXPECT_EQ(run(kAnnotation, true), 0) << err_.str();
  EXPECT_EQ(out_.str(), of_matrix);
  EXPECT_EQ(run("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  annotations:\n"
                "    rankward.io/topology: '" +
                    std::string(kAnnotation) + "'\n",
                true),
            0);
  std::string of_node = of_matrix;
  of_node.insert(of_node.find("\"gpuCount\""), "\"node\":\"n1\",");
  EXPECT_EQ(out_.str(), of_node);
}

TEST_F(TopoTest, PrintsJson) {
  ASSERT_EQ(run(kMatrix, true), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(R"({"machines":[{"gpuCount":2,"gpus":[{"index":0,"numaNode":0,)"),
                    HasSubstr(R"("nicPath":"PIX","nearestNics":["mlx5_4"],"bInter":)"),
                    HasSubstr(R"("gpuPath":"PIX","nearestGpus":["GPU0"])"),
                    HasSubstr(R"("gpuPairs":[{"path":"SYS","pairs":1,"gigabytesPerSecond":6}])")));
}

TEST_F(TopoTest, TellsWhatLabelsAloneSay) {
  constexpr std::string_view kNode = R"(apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, nvidia.com/gpu.count: "8"}
)";
  EXPECT_EQ(run(kNode), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("node n1: 8 GPUs, 0 NICs"), HasSubstr("371 GB/s"),
                                HasSubstr("NVSwitch"), HasSubstr("assumed: NICs")));
  EXPECT_EQ(run(kNode, false, true), 3);
  EXPECT_THAT(err_.str(), HasSubstr("labels alone make no annotation"));
}

TEST_F(TopoTest, WarnsOfAReportThatCannotBeRead) {
  EXPECT_EQ(run("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  annotations:\n"
                "    rankward.io/topology: '{\"version\":2}'\n"),
            0);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("n1"), HasSubstr("version")));
}

TEST_F(TopoTest, RefusesWithFileLineAndReason) {
  const std::string file = (folder_ / "input").string();
  EXPECT_EQ(run("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tOK\t0\n"), 3);
  EXPECT_THAT(err_.str(), HasSubstr(file + ":2: GPU0: "));
  EXPECT_EQ(run("  GPU0 GPU1\n GPU0 X OK\n"), 3);
  EXPECT_THAT(err_.str(), HasSubstr("topo -p2p"));
  EXPECT_EQ(run("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"), 3);
  EXPECT_THAT(err_.str(), HasSubstr("must be what `nvidia-smi topo -m` prints, Nodes"));
  EXPECT_EQ(run(R"({"version":2})"), 3);
  EXPECT_THAT(err_.str(), HasSubstr("the only version known"));
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n";
  EXPECT_EQ(run(node + node, false, true), 3);
  EXPECT_THAT(err_.str(), HasSubstr("not 2 Nodes"));
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(topo({(folder_ / "absent").string()}, console_), 3);
}

}  // namespace
}  // namespace rankward::commands
