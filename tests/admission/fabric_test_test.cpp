// FAB-01.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric_test_program.hpp"
#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

struct Started {
  std::vector<std::string> command;
  const char* name;  // "" where no test is started
  std::optional<std::int64_t> bytes;
};

TEST(FabricTestProgram, IsFoundInCommandsAndInTheTextOfAShell) {
  const std::vector<Started> cases{
      {{"/opt/nccl-tests/build/all_reduce_perf", "-b", "8", "-e", "16G"},
       "all_reduce_perf",
       std::int64_t{16} << 30},
      {{"mpirun", "-np", "16", "all_gather_perf_mpi", "--maxbytes=512M"},
       "all_gather_perf_mpi",
       512 * kMebibyte},
      {{"bash", "-c", "mpirun \\\n -np 64 /x/alltoall_perf -b 512M -e8G -f 2"},
       "alltoall_perf",
       std::int64_t{8} << 30},
      // Without the option: what the program does by itself.
      {{"sendrecv_perf", "-g", "8"}, "sendrecv_perf", 32 * kMebibyte},
      {{"sh", "-c", "all_reduce_perf; echo -e 8G"}, "all_reduce_perf", 32 * kMebibyte},
      {{"ib_write_bw", "server"}, "ib_write_bw", 65'536},
      {{"ib_send_lat"}, "ib_send_lat", 2},
      {{"ib_read_bw", "-s", "1048576"}, "ib_read_bw", kMebibyte},
      {{"ib_write_bw", "-a"}, "ib_write_bw", 8 * kMebibyte},
      {{"all_reduce_perf", "-e", "1.5g"}, "all_reduce_perf", std::int64_t{3} << 29},
      // Sizes that only the shell knows.
      {{"all_reduce_perf", "-e", "$(SIZE)"}, "all_reduce_perf", std::nullopt},
      {{"all_reduce_perf", "-e"}, "all_reduce_perf", std::nullopt},
      {{"all_reduce_perf", "-e", "8Gi"}, "all_reduce_perf", std::nullopt},
      {{"all_reduce_perf", "-e", "nan"}, "all_reduce_perf", std::nullopt},
      {{"all_reduce_perf", "-e", "-1"}, "all_reduce_perf", std::nullopt},
      {{"all_reduce_perf", "-e", "1e300G"}, "all_reduce_perf", INT64_MAX},
      {{"python", "train.py", "--perf"}, "", std::nullopt},
      {{"my_perf"}, "", std::nullopt},
      {{"echo", "all_reduce_performance"}, "", std::nullopt},
  };
  for (const Started& c : cases) {
    for (const bool as_args : {false, true}) {
      kube::Container tested = container();
      (as_args ? tested.args : tested.command) = c.command;
      const auto program = fabric_test_program(tested);
      SCOPED_TRACE(c.command.back());
      ASSERT_EQ(program.has_value(), *c.name != '\0');
      if (!program) continue;
      EXPECT_EQ(program->name, c.name);
      EXPECT_EQ(program->message_bytes, c.bytes);
    }
  }
}

TEST(FabricTestProgram, IsToldByTheImageElse) {
  kube::Container tested = container();  // the program's name views it
  const auto of = [&tested](const char* image) {
    tested.image = image;
    return fabric_test_program(tested);
  };
  EXPECT_EQ(of("ghcr.io/coreweave/nccl-tests:12.9.1-nccl2.28.3")->name, "nccl-tests");
  EXPECT_EQ(of("registry:5000/rocm/rccl-tests-ubuntu@sha256:0")->name, "rccl-tests-ubuntu");
  EXPECT_TRUE(of("perftest")->by_image);
  EXPECT_FALSE(of("registry.example.com/nccl-tests/train:1"));
  EXPECT_FALSE(of("pytorch:nccl-tests"));
  EXPECT_FALSE(of(""));
}

TestPod test_pod(bool labelled,
                 std::vector<std::string> command = {"all_reduce_perf", "-e", "1G"}) {
  TestPod pod = TestPod().with(asking(container()));
  pod.spec.containers[0].command = std::move(command);
  pod.spec.host_network = true;
  if (labelled) pod.metadata.labels["rankward.io/fabric-test"] = "true";
  return pod;
}

using Approve = void (*)(FabricTestOptions&);

Policy approving(Approve approve) {
  PolicyOptions options;
  approve(options.fabric_tests);
  return policy_of(options);
}

std::vector<std::string> texts(const TestPod& pod, const Policy& policy) {
  std::vector<std::string> out;
  for (const Finding& finding : judge_create(pod, policy).findings)
    out.push_back(finding.what);
  return out;
}

TEST(FabricTest, IsNotJudgedWhereNothingIsConfigured) {
  EXPECT_EQ(verdicts(test_pod(true)), Verdicts{});
  EXPECT_EQ(verdicts(test_pod(false)), Verdicts{});
}

TEST(FabricTest, IsDeniedWhereItIsLabelledAndWarnedOfElse) {
  const Policy policy = approving([](FabricTestOptions& o) { o.max_seconds = 600; });
  EXPECT_EQ(verdicts(test_pod(true), policy), (Verdicts{"enforce FAB-01"}));
  EXPECT_EQ(verdicts(test_pod(false), policy), (Verdicts{"warn FAB-01"}));
  EXPECT_EQ(verdicts(test_pod(true, {"my-own-test"}), policy), (Verdicts{"enforce FAB-01"}));
  EXPECT_EQ(verdicts(test_pod(false, {"train"}), policy), Verdicts{});
}

TEST(FabricTest, EndsInTheApprovedTime) {
  const Policy policy = approving([](FabricTestOptions& o) { o.max_seconds = 600; });
  TestPod pod = test_pod(true);
  EXPECT_THAT(texts(pod, policy),
              ElementsAre("fabric test \"all_reduce_perf\" with activeDeadlineSeconds none, where "
                          "600 are approved."));
  pod.spec.active_deadline_seconds = 601;
  EXPECT_THAT(texts(pod, policy), ElementsAre(HasSubstr("activeDeadlineSeconds 601")));
  pod.spec.active_deadline_seconds = 600;
  EXPECT_THAT(texts(pod, policy), IsEmpty());
}

TEST(FabricTest, SendsNoMoreThanTheApprovedSize) {
  const Policy policy = approving([](FabricTestOptions& o) { o.max_message_size = "1Gi"; });
  EXPECT_THAT(texts(test_pod(true), policy), IsEmpty());
  EXPECT_THAT(texts(test_pod(true, {"all_reduce_perf", "-e", "8G"}), policy),
              ElementsAre(HasSubstr("with messages of 8.00 GiB (8.59 GB), where 1.00 GiB (1.07 GB) "
                                    "are approved.")));
  EXPECT_THAT(texts(test_pod(true, {"all_reduce_perf"}), policy), IsEmpty());
  const TestPod unknown = test_pod(true, {"all_reduce_perf", "-e", "$(SIZE)"});
  EXPECT_THAT(texts(unknown, policy), ElementsAre(HasSubstr("messages of unknown size")));
  TestPod stated = unknown;
  stated.metadata.annotations["rankward.io/message-size"] = "1Gi";
  EXPECT_THAT(texts(stated, policy), IsEmpty());
  stated.metadata.annotations["rankward.io/message-size"] = "2Gi";
  EXPECT_THAT(texts(stated, policy), ElementsAre(HasSubstr("2.00 GiB")));
}

Verdicts of_template(const TestPod& pod, const Policy& policy, const char* kind, const char* role,
                     std::optional<std::int64_t> replicas,
                     const kube::ObjectMeta* object = nullptr) {
  Review review;
  review.subjects.push_back(pod.template_of(kind));
  review.subjects[0].role = role;
  review.subjects[0].replicas = replicas;
  review.subjects[0].object_metadata = object;
  return verdicts(judge(policy, review, kNow));
}

const Verdicts kDenied{"enforce FAB-01"};

TEST(FabricTest, RunsOnTheApprovedNumberOfNodes) {
  const Policy policy = approving([](FabricTestOptions& o) {
    o.min_nodes = 2;
    o.max_nodes = 8;
  });
  EXPECT_THAT(texts(test_pod(true), policy),
              ElementsAre(HasSubstr("on 1 node, where at least 2 and at most 8 are approved.")));
  for (const auto& [nodes, fits] : {std::pair{1, false}, {2, true}, {8, true}, {9, false}})
    EXPECT_EQ(of_template(test_pod(true), policy, "JobSet", "w", nodes),
              fits ? Verdicts{} : kDenied)
        << nodes;
  EXPECT_EQ(of_template(test_pod(true), policy, "Job", "", {}), Verdicts{}) << "not known";
  TestPod gang = test_pod(true).annotated("rankward.io/gang", "g");
  gang.metadata.annotations["rankward.io/gang-size"] = "16";
  EXPECT_EQ(verdicts(gang, policy), kDenied);
  gang.metadata.annotations["rankward.io/gang-size"] = "4";
  EXPECT_EQ(verdicts(gang, policy), Verdicts{});
}

TEST(FabricTest, OfAnMpiJobIsStartedByItsLauncherAndSpreadByItsWorkers) {
  const Policy policy = approving([](FabricTestOptions& o) {
    o.max_seconds = 600;
    o.max_message_size = "1Gi";
    o.max_nodes = 8;
    o.min_nodes = 2;
  });
  TestPod launcher = test_pod(true);
  launcher.spec.active_deadline_seconds = 600;
  EXPECT_EQ(of_template(launcher, policy, "MPIJob", "Launcher", 1), Verdicts{});
  const TestPod worker = test_pod(true, {"sshd"});
  EXPECT_EQ(of_template(worker, policy, "MPIJob", "Worker", 8), Verdicts{});
  EXPECT_EQ(of_template(worker, policy, "MPIJob", "Worker", 9), kDenied);
  TestPod its_pod = worker;
  its_pod.metadata.labels["training.kubeflow.org/job-role"] = "worker";
  its_pod.metadata.labels["training.kubeflow.org/job-name"] = "nccl";
  its_pod.metadata.owner_references = {{"kubeflow.org/v2beta1", "MPIJob", "nccl", "u", true}};
  EXPECT_EQ(verdicts(its_pod, policy), Verdicts{});
}

TEST(FabricTest, StaysOutOfProductionsQueues) {
  const Policy policy = approving([](FabricTestOptions& o) {
    o.queues = {"test-*"};
    o.production_queues = {"prod-*"};
  });
  const auto queued = [](const char* queue) {
    TestPod pod = test_pod(true);
    pod.metadata.labels["kueue.x-k8s.io/queue-name"] = queue;
    return pod;
  };
  EXPECT_EQ(verdicts(queued("test-fabric"), policy), Verdicts{});
  EXPECT_THAT(texts(queued("prod-a"), policy), ElementsAre(HasSubstr("which is for production")));
  EXPECT_THAT(texts(queued("team-a"), policy), ElementsAre(HasSubstr("not approved for tests")));
  EXPECT_THAT(texts(test_pod(true), policy), ElementsAre(HasSubstr("without a queue.")));
  kube::ObjectMeta job;
  job.labels["kueue.x-k8s.io/queue-name"] = "test-fabric";
  EXPECT_EQ(of_template(test_pod(true), policy, "Job", "", 2, &job), Verdicts{});
  job.labels["kueue.x-k8s.io/queue-name"] = "prod-a";
  EXPECT_EQ(of_template(test_pod(true), policy, "Job", "", 2, &job), kDenied);
  TestPod of_job = test_pod(true);
  of_job.metadata.owner_references = {{"batch/v1", "Job", "nccl", "u", true}};
  EXPECT_EQ(verdicts(of_job, policy), Verdicts{}) << "its Job has the queue";

  const Policy only_production =
      approving([](FabricTestOptions& o) { o.production_queues = {"prod-*"}; });
  EXPECT_EQ(verdicts(test_pod(true), only_production), Verdicts{});
  EXPECT_EQ(verdicts(queued("team-a"), only_production), Verdicts{});
}

TEST(FabricTest, IsLabelledOnItsWorkloadObjectToo) {
  const Policy policy = approving([](FabricTestOptions& o) { o.max_seconds = 600; });
  kube::ObjectMeta job;
  EXPECT_EQ(of_template(test_pod(false, {"x"}), policy, "Job", "", 1, &job), Verdicts{});
  job.labels["rankward.io/fabric-test"] = "true";
  EXPECT_EQ(of_template(test_pod(false, {"x"}), policy, "Job", "", 1, &job), kDenied);
}

}  // namespace
}  // namespace rankward::admission
