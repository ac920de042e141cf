// Which containers are told that they see no GPU.
#include "rankward/admission/companion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::Container container(const std::string& name) {
  kube::Container out;
  out.name = name;
  return out;
}

kube::Container with_gpu(const std::string& name, const char* amount = "1") {
  kube::Container out = container(name);
  out.resources.limits["nvidia.com/gpu"] = kube::Quantity::parse(amount).value();
  return out;
}

kube::Container with_variable(const std::string& name, kube::EnvVar variable) {
  kube::Container out = container(name);
  out.env.push_back(std::move(variable));
  return out;
}

struct Pod {
  kube::ObjectMeta metadata;
  kube::PodSpec spec;
  std::string namespace_ = "team-a";

  [[nodiscard]] Subject subject() const {
    return {.metadata = metadata,
            .spec = spec,
            .namespace_ = namespace_,
            .path_prefix = "",
            .workload_kind = ""};
  }
};

std::vector<std::string> told(const Pod& pod, const Policy& policy = {},
                              Operation operation = Operation::kCreate,
                              std::string_view sub_resource = "", const Pod* old = nullptr) {
  const Subject subject = pod.subject();
  std::optional<Subject> old_subject;
  if (old != nullptr) old_subject.emplace(old->subject());
  std::vector<std::string> out;
  for (const VoidAddition& addition :
       void_additions(policy,
                      {.operation = operation,
                      .sub_resource = sub_resource,
                      .pod = subject,
                      .old_pod = old_subject ? &*old_subject : nullptr},
                      0)) {
    out.push_back(std::string(addition.list) + "/" + std::to_string(addition.index) +
                  (addition.first_in_env ? " new" : " more"));
  }
  return out;
}

TEST(Companion, TellsEveryContainerThatAsksForNothing) {
  Pod pod;
  pod.spec.containers = {container("a"), with_gpu("b"), with_variable("c", {"PATH", "/", ""}),
                         with_gpu("zero", "0")};
  pod.spec.init_containers = {with_gpu("i"), container("j")};
  EXPECT_THAT(told(pod), ElementsAre("containers/0 new", "containers/2 more", "containers/3 new",
                                     "initContainers/1 new"));
}

TEST(Companion, LeavesAVariableThatIsSetAsItIs) {
  Pod pod;
  pod.spec.containers = {with_variable("a", {"NVIDIA_VISIBLE_DEVICES", "all", ""}),
                         with_variable("b", {"NVIDIA_VISIBLE_DEVICES", "", "fieldRef"}),
                         with_variable("c", {"NVIDIA_VISIBLE_DEVICES", "void", ""})};
  EXPECT_THAT(told(pod), IsEmpty());
}

TEST(Companion, AddsNothingASecondTime) {
  Pod pod;
  pod.spec.containers = {container("a")};
  ASSERT_THAT(told(pod), ElementsAre("containers/0 new"));
  pod.spec.containers[0].env.push_back({std::string(kVoidVariable), std::string(kVoidValue), ""});
  EXPECT_THAT(told(pod), IsEmpty());
}

TEST(Companion, CountsFractionsAndClaimsAsRequests) {
  Pod pod;
  pod.spec.containers = {container("a"), container("b")};
  pod.spec.containers[1].resources.claims = {"gpu"};
  pod.metadata.annotations["gpu-fraction"] = "0.5";
  EXPECT_THAT(told(pod), IsEmpty());
}

TEST(Companion, LeavesAloneWhoMayChoose) {
  Pod pod;
  pod.spec.containers = {container("a")};
  pod.namespace_ = "kube-system";
  EXPECT_THAT(told(pod), IsEmpty()) << "excluded";

  pod.namespace_ = "monitoring";
  pod.spec.service_account_name = "dcgm";
  PolicyOptions options;
  options.exemptions = {{{"monitoring"}, {"dcgm"}, {}, {"ENV-01"}, "why", 1'000}};
  EXPECT_THAT(told(pod, Policy::make(options).value()), IsEmpty()) << "exempt";
  options.exemptions[0].rules = {"ENV-02"};
  EXPECT_THAT(told(pod, Policy::make(options).value()), ElementsAre("containers/0 new"));
  options.modes = {{"ENV-01", "off", {"monitoring"}}};
  EXPECT_THAT(told(pod, Policy::make(options).value()), IsEmpty()) << "off";
}

TEST(Companion, LeavesMirrorPodsAndPodsThatEndAlone) {
  Pod pod;
  pod.spec.containers = {container("a")};
  pod.metadata.annotations["kubernetes.io/config.mirror"] = "hash";
  EXPECT_THAT(told(pod), IsEmpty());
  pod.metadata.annotations.clear();
  pod.metadata.deleting = true;
  EXPECT_THAT(told(pod), IsEmpty());
}

TEST(Companion, TellsOnlyTheEphemeralContainersThatAreAdded) {
  Pod old;
  old.spec.containers = {container("a")};
  old.spec.ephemeral_containers = {container("first")};
  Pod pod = old;
  pod.spec.ephemeral_containers.push_back(container("second"));
  EXPECT_THAT(told(pod, {}, Operation::kUpdate, "ephemeralcontainers", &old),
              ElementsAre("ephemeralContainers/1 new"));
  EXPECT_THAT(told(pod, {}, Operation::kUpdate, "", &old), IsEmpty());
  EXPECT_THAT(told(pod, {}, Operation::kUpdate, "resize", &old), IsEmpty());
  EXPECT_THAT(told(pod, {}, Operation::kDelete), IsEmpty());
}

}  // namespace
}  // namespace rankward::admission
