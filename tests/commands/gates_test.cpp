#include "rankward/commands/gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "../cluster/fake_writes.hpp"

namespace rankward::commands {
namespace {

using ::testing::HasSubstr;

class GatesLiftTest : public ::testing::Test {
 protected:
  GatesLiftTest() {
    std::ofstream(kubeconfig_)
        << "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:"
        << api_.address().port << "'}}]\nusers: [{name: u, user: {token: t}}]\n";
    for (const char* name : {"job-0", "job-1"}) {
      api_.put_pod("team/pods/" + std::string(name),
                   R"({"metadata":{"namespace":"team","name":")" + std::string(name) +
                       R"(","uid":"u","annotations":{"rankward.io/gang":"job"}},)"
                       R"("spec":{"schedulingGates":[{"name":"rankward.io/gang"}]}})");
    }
  }
  ~GatesLiftTest() override { std::filesystem::remove(kubeconfig_); }

  int lift(std::vector<std::string> names, bool dry_run = false) {
    out_.str("");
    err_.str("");
    GatesLiftOptions options;
    options.name_space = "team";
    options.names = std::move(names);
    options.kubeconfig = kubeconfig_;
    options.dry_run = dry_run;
    return gates_lift(options, {out_, err_});
  }

  cluster::FakeWriteServer api_;
  const std::string kubeconfig_ =
      (std::filesystem::temp_directory_path() / ("rankward-gates-test-" + std::to_string(getpid())))
          .string();
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(GatesLiftTest, AGangIsLetGoPodByPodAndTheSecondTimeThereIsNothingToDo) {
  EXPECT_EQ(lift({"job"}, true), 0);
  EXPECT_EQ(out_.str(), "pod/job-0 would be lifted\npod/job-1 would be lifted\n");
  EXPECT_EQ(lift({"job"}), 0);
  EXPECT_EQ(out_.str(), "pod/job-0 lifted\npod/job-1 lifted\n");
  EXPECT_EQ(lift({"job"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("pod/job-1 has no gate rankward.io/gang"));
}

TEST_F(GatesLiftTest, ANameOfNobodyAndAServerThatRefusesAreErrors) {
  EXPECT_EQ(lift({"nobody"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("nobody"));
  api_.answer_all(403);
  EXPECT_EQ(lift({"job"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("403"));
}

}  // namespace
}  // namespace rankward::commands
