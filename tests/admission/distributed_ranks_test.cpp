// REQ-04.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Verdicts kWarned{"warn REQ-04"};

TestPod training(std::int64_t gpus = 8) {
  return TestPod().with(asking(container(), "nvidia.com/gpu", gpus));
}

TestPod in_gang(TestPod pod, const char* size = "4") {
  pod.metadata.annotations["rankward.io/gang"] = "pretrain";
  if (size != nullptr) pod.metadata.annotations["rankward.io/gang-size"] = size;
  return pod;
}

struct Template {
  const char* kind;
  const char* role;
  std::optional<std::int64_t> replicas;
  bool is_rank;
};

Judgement judge_template(const TestPod& pod, const std::string& kind, const std::string& role,
                         std::optional<std::int64_t> replicas) {
  Review review;
  review.subjects.push_back(pod.template_of(kind));
  review.subjects[0].role = role;
  review.subjects[0].replicas = replicas;
  return judge(Policy(), review, kNow);
}

TEST(DistributedRanks, AreToldByTheKindThatMakesThemAndTheirNumber) {
  for (const Template& c :
       {Template{"PyTorchJob", "Worker", 2, true}, Template{"MPIJob", "Worker", 8, true},
        Template{"TFJob", "Worker", 2, true}, Template{"JAXJob", "Worker", 4, true},
        Template{"JobSet", "workers", 4, true}, Template{"TrainJob", "trainer", 2, true},
        Template{"Job", "worker", 2, true},  // Volcano's has roles
        // Launchers and single pods talk to nobody by NCCL.
        Template{"MPIJob", "Launcher", 2, false}, Template{"PyTorchJob", "Worker", 1, false},
        Template{"PyTorchJob", "Worker", {}, false}, Template{"JobSet", "workers", 1, false},
        // Pods beside each other, and serving.
        Template{"Job", "", 16, false}, Template{"CronJob", "", 4, false},
        Template{"Deployment", "", 16, false}, Template{"StatefulSet", "", 4, false},
        Template{"DaemonSet", "", {}, false}, Template{"LeaderWorkerSet", "worker", 2, false},
        Template{"RayService", "gpu-group", 4, false},
        Template{"RayCluster", "gpu-group", 4, false}, Template{"Notebook", "", {}, false}}) {
    EXPECT_EQ(verdicts(judge_template(training(), c.kind, c.role, c.replicas)),
              c.is_rank ? kWarned : Verdicts{})
        << c.kind << " " << c.role;
  }
}

// Case 26: the pods name a gang of 4 and ask for 8 GPUs each, without any vpc.amazonaws.com/efa.
TEST(DistributedRanks, AreToldByTheGangThatAPodNames) {
  const Judgement judgement = judge_create(in_gang(training()));
  ASSERT_EQ(verdicts(judgement), kWarned);
  EXPECT_THAT(judgement.findings[0].what,
              HasSubstr("a rank of gang \"pretrain\" (4 pods) asks for nvidia.com/gpu: 8 but no "
                        "container asks for an RDMA resource."));
  EXPECT_EQ(judgement.findings[0].field, "spec.containers[0].resources");
  EXPECT_EQ(verdicts(in_gang(training(), "1")), Verdicts{});
  EXPECT_EQ(verdicts(training()), Verdicts{});
}

TEST(DistributedRanks, AreToldByAGroupWhoseSizeStandsOnThePod) {
  TestPod pod = training();
  pod.metadata.labels["kueue.x-k8s.io/pod-group-name"] = "g";
  pod.metadata.annotations["kueue.x-k8s.io/pod-group-total-count"] = "4";
  EXPECT_EQ(verdicts(pod), kWarned);
  pod.metadata.annotations["kueue.x-k8s.io/pod-group-total-count"] = "1";
  EXPECT_EQ(verdicts(pod), Verdicts{});
}

struct Told {
  std::vector<std::string> command;
  kube::StringMap env;
  bool is_rank;
};

TEST(DistributedRanks, AreToldByTheNodesThatTheProgramIsToldOf) {
  for (const Told& c :
       {Told{{"torchrun", "--nnodes=2", "train.py"}, {}, true},
        Told{{"torchrun", "--nnodes", "2", "train.py"}, {}, true},
        Told{{"bash", "-c", "set -e; torchrun \\\n --nnodes 16 \\\n train.py"}, {}, true},
        Told{{"torchrun", "--nnodes=1:4"}, {}, true}, Told{{}, {{"PET_NNODES", "2"}}, true},
        Told{{}, {{"NNODES", "4"}}, true}, Told{{}, {{"WORLD_SIZE", "16"}}, true},
        Told{{"torchrun", "--nnodes=1"}, {}, false},
        Told{{"torchrun", "--standalone", "--nproc-per-node=8"}, {}, false},
        Told{{"torchrun", "--nnodes=${NUM_NODES}"}, {}, false},
        Told{{"torchrun", "--nnodes", "$(GROUP)"}, {}, false},
        Told{{"torchrun", "--nnodes"}, {}, false}, Told{{}, {{"PET_NNODES", "1"}}, false},
        Told{{}, {{"WORLD_SIZE", "8"}}, false}, Told{{}, {{"NNODES", "many"}}, false}}) {
    TestPod pod = training();
    pod.spec.containers[0].command = c.command;
    for (const auto& [name, value] : c.env)
      pod.spec.containers[0].env.push_back({name, value, {}});
    SCOPED_TRACE(c.command.empty() ? "" : c.command.back());
    EXPECT_EQ(verdicts(pod), c.is_rank ? kWarned : Verdicts{});
    EXPECT_EQ(verdicts(judge_template(pod, "Job", "", {})), c.is_rank ? kWarned : Verdicts{});
    EXPECT_EQ(verdicts(judge_template(pod, "Deployment", "", {})), Verdicts{}) << "serving";
  }
}

using Change = void (*)(TestPod&);

TEST(DistributedRanks, WithANetworkOfTheirOwnOrAChoicePass) {
  const std::vector<Change> honest{
      [](TestPod& pod) { pod.spec.containers[0].resources.limits["rdma/ib"] = kube::Quantity(1); },
      [](TestPod& pod) {
        pod.spec.containers[0].resources.limits["vpc.amazonaws.com/efa"] = kube::Quantity(32);
      },
      [](TestPod& pod) {
        pod.spec.containers.push_back(asking(container("daemon"), "nvidia.com/hostdev"));
      },
      [](TestPod& pod) { pod.spec.host_network = true; },
      [](TestPod& pod) { pod.metadata.annotations["rankward.io/transport"] = "tcp"; },
      [](TestPod& pod) { pod.metadata.annotations["rankward.io/transport"] = "any"; },
      [](TestPod& pod) { pod.metadata.annotations["k8s.v1.cni.cncf.io/networks"] = "sriov"; },
      [](TestPod& pod) { pod.metadata.annotations["networking.gke.io/interfaces"] = "[]"; },
      [](TestPod& pod) {
        pod.spec.resource_claims = {{"rdma", "", "default-rdma"}};
        pod.spec.containers[0].resources.claims = {"rdma"};
      },
      [](TestPod& pod) {
        pod.spec.containers[0].env.push_back({"NCCL_IB_DISABLE", "1", {}});
      },
      [](TestPod& pod) {
        pod.spec.containers[0].env.push_back({"NCCL_NET", "Socket", {}});
      },
      [](TestPod& pod) { pod.spec.node_selector["kubernetes.io/hostname"] = "gpu-a"; },
      [](TestPod& pod) {
        pod.metadata.annotations["rankward.io/topology-required"] = "kubernetes.io/hostname";
      },
      [](TestPod& pod) {
        pod.spec.containers[0].resources.limits = {{"cpu", kube::Quantity(4)}};
      },
      [](TestPod& pod) {
        pod.spec.containers[0].resources.limits = {{"google.com/tpu", kube::Quantity(4)}};
      }};
  for (std::size_t i = 0; i < honest.size(); ++i) {
    TestPod pod = in_gang(training());
    honest[i](pod);
    EXPECT_EQ(verdicts(pod), Verdicts{}) << i;
  }
  const TestPod opens_all = in_gang(TestPod().with(privileged(asking(container()))));
  EXPECT_EQ(verdicts(opens_all), (Verdicts{"warn PRIV-02"}));
  TestPod zero = in_gang(training());
  zero.spec.containers[0].resources.limits["rdma/ib"] = kube::Quantity(0);
  EXPECT_EQ(verdicts(zero), kWarned);
  EXPECT_EQ(verdicts(in_gang(TestPod().with(asking(container(), "amd.com/gpu")))), kWarned);
}

TEST(DistributedRanks, ThatRequireRdmaAskForIt) {
  EXPECT_EQ(verdicts(training().annotated("rankward.io/transport", "rdma-required")), kWarned);
  EXPECT_EQ(verdicts(training().annotated("rankward.io/transport", "rdma-preferred")), Verdicts{});
}

TEST(DistributedRanks, OnPartsOfGpusNeedTheirConsent) {
  for (const char* part : {"nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"}) {
    TestPod pod = in_gang(TestPod().with(asking(container(), part)));
    const Judgement judgement = judge_create(pod);
    ASSERT_EQ(verdicts(judgement), kWarned) << part;
    EXPECT_THAT(judgement.findings[0].what, HasSubstr(std::string(part) + ", a part of a GPU."));
    pod.metadata.annotations["rankward.io/sharing"] = "mig";
    EXPECT_EQ(verdicts(pod), Verdicts{}) << part;
    pod.metadata.annotations["rankward.io/sharing"] = "exclusive";
    EXPECT_EQ(verdicts(pod), kWarned) << part;
    EXPECT_EQ(verdicts(TestPod().with(asking(container(), part))), Verdicts{}) << "no gang";
  }
}

std::vector<std::string> texts(const Judgement& judgement) {
  std::vector<std::string> out;
  for (const Finding& finding : judgement.findings)
    out.push_back(finding.what);
  return out;
}

TEST(Gangs, WithoutTheirSizeAreWarnedOf) {
  TestPod pod = in_gang(training(), nullptr);
  pod.spec.host_network = true;
  EXPECT_THAT(texts(judge_create(pod)),
              ElementsAre("rankward.io/gang=\"pretrain\" without rankward.io/gang-size."));
}

TEST(Gangs, ThatNobodyNamesAreWarnedOf) {
  const auto sized = [] {
    TestPod pod = training().annotated("rankward.io/gang-size", "4");
    pod.spec.host_network = true;
    return pod;
  };
  EXPECT_THAT(texts(judge_create(sized())),
              ElementsAre("rankward.io/gang-size=\"4\" on a pod of no gang."));
  TestPod of_job = sized();
  of_job.metadata.labels["batch.kubernetes.io/job-name"] = "train";
  EXPECT_EQ(verdicts(of_job), Verdicts{});
  TestPod of_native_group = sized();
  of_native_group.spec.pod_group_name = "g";
  EXPECT_EQ(verdicts(of_native_group), Verdicts{});
  EXPECT_EQ(verdicts(judge_template(sized(), "Job", "", 4)), Verdicts{})
      << "its pods get the Job's labels";
}

TEST(Ranks, ThatAreNoPlaceInTheGangAreWarnedOf) {
  const auto ranked = [](const char* rank) {
    TestPod pod = in_gang(training()).annotated("rankward.io/rank", rank);
    pod.spec.host_network = true;
    return pod;
  };
  EXPECT_EQ(verdicts(ranked("0")), Verdicts{});
  EXPECT_EQ(verdicts(ranked("3")), Verdicts{});
  EXPECT_THAT(texts(judge_create(ranked("4"))),
              ElementsAre("rankward.io/rank=\"4\" in a gang of 4."));
  EXPECT_THAT(texts(judge_template(ranked("1"), "Job", "", 4)),
              ElementsAre("rankward.io/rank=\"1\" in a template of 4 pods."));
  EXPECT_EQ(verdicts(judge_template(ranked("1"), "Job", "", 1)), Verdicts{});
}

TEST(Ranks, OfFrameworksAreNumbers) {
  const auto labelled = [](const char* key, const char* value) {
    TestPod pod = training();
    pod.metadata.labels[key] = value;
    return pod;
  };
  for (const char* key :
       {"batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index",
        "leaderworkerset.sigs.k8s.io/worker-index", "volcano.sh/task-index"}) {
    EXPECT_EQ(verdicts(labelled(key, "3")), Verdicts{}) << key;
    EXPECT_EQ(verdicts(labelled(key, "first")), kWarned) << key;
    EXPECT_EQ(verdicts(labelled(key, "")), kWarned) << key;
  }
  TestPod grouped = labelled("kueue.x-k8s.io/pod-group-name", "g");
  grouped.spec.host_network = true;
  grouped.metadata.annotations["kueue.x-k8s.io/pod-group-total-count"] = "4";
  grouped.metadata.labels["kueue.x-k8s.io/pod-group-pod-index"] = "4";
  EXPECT_THAT(texts(judge_create(grouped)),
              ElementsAre("kueue.x-k8s.io/pod-group-pod-index=\"4\" in a group of 4."));
}

}  // namespace
}  // namespace rankward::admission
