#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../temporary_folder.hpp"
#include "rankward/commands/simulate.hpp"
#include "rankward/sim/simulation.hpp"

namespace rankward::commands {
namespace {

class SimulateCommandTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  std::string cluster_of(int hosts) {
    return file("cluster.yaml",
                "apiVersion: sim.rankward.io/v1alpha1\nkind: SimulatedCluster\nname: small\n"
                "machines: [{name: h100}]\nspines: [{leaves: 2, hosts: " +
                    std::to_string(hosts) + "}]\n");
  }
  int run(const SimulateOptions& options) {
    out_.str("");
    err_.str("");
    return simulate(options, Console{out_, err_, false});
  }

  TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(SimulateCommandTest, ComparesEveryPolicyOnASmallCluster) {
  SimulateOptions options;
  options.nodes = cluster_of(8);
  options.gangs = options.singles = 20;
  options.plot = folder_.path("plot.svg");
  EXPECT_EQ(run(options), 0) << err_.str();
  for (const sim::PolicyName& policy : sim::policies())
    EXPECT_NE(out_.str().find("\n" + std::string(policy.name) + " "), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(options.plot), 1'000U);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(SimulateCommandTest, KubernetesNodesAreSimulatedToo) {
  SimulateOptions options;
  options.nodes = file("nodes.yaml", R"(apiVersion: v1
kind: Node
metadata: {name: a}
status:
  allocatable: {cpu: "8", memory: 64Gi, pods: "110", nvidia.com/gpu: "4"}
  conditions: [{type: Ready, status: "True"}]
)");
  options.jobs = file("jobs.csv", "name,arrival,duration,pods,gpus\na,0,60,2,2\nb,0,60,2,2\n");
  options.policies = {"koordinator", "rankward"};
  options.output = ReportForm::kCsv;
  EXPECT_EQ(run(options), 0) << err_.str();
  EXPECT_NE(out_.str().find("\nkoordinator,2,0,1,1,1,"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("\nrankward,2,0,1,1,1,"), std::string::npos) << out_.str();
}

TEST_F(SimulateCommandTest, JobsThatNeverStartAreAnExitCode) {
  SimulateOptions options;
  options.nodes = cluster_of(2);
  options.jobs = file("jobs.yaml",
                      "apiVersion: sim.rankward.io/v1alpha1\nkind: SimulatedJobs\n"
                      "jobs: [{name: large, pods: 3, gpus: 8}]\n");
  options.policies = {"kai"};
  EXPECT_EQ(run(options), 1);
  EXPECT_NE(out_.str().find("kai: 1 jobs never started"), std::string::npos);
}

TEST_F(SimulateCommandTest, InputThatCannotBeUsedIsNamed) {
  struct Case {
    std::string nodes;
    std::string jobs;
    std::string policy;
    std::string says;
  };
  const std::string cluster = cluster_of(1);
  for (const Case& test :
       {Case{"fabric", "gangs", "kai", "\"fabric\" is no built-in cluster"},
        Case{folder_.path("none.yaml"), "gangs", "kai", "none.yaml: No such file or directory"},
        Case{cluster, file("bad.csv", "name\n"), "kai", "must have the column \"arrival\""},
        Case{cluster, file("empty.csv", "name,arrival,duration,pods,gpus\n"), "kai", "has no job"},
        Case{cluster, "gangs", "best", "\"best\" is no policy; known: random, "}}) {
    SimulateOptions options;
    options.nodes = test.nodes;
    options.jobs = test.jobs;
    options.policies = {test.policy};
    options.gangs = options.singles = 1;
    EXPECT_EQ(run(options), 3);
    EXPECT_NE(err_.str().find(test.says), std::string::npos) << err_.str();
  }
}

}  // namespace
}  // namespace rankward::commands
