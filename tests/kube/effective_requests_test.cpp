// Golden values: k8s.io/component-helpers/resource v0.37.2 (PodRequests), after the API server's
// own defaulting (SetDefaults_Pod, DefaultPodLevelResources of k8s.io/kubernetes v1.37.2).
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "rankward/kube/scheduling.hpp"

namespace rankward::kube {
namespace {

// Parts of `pod`, separated by ';': a letter, then requests, '|' and limits. c is a container, i an
// init container, s a sidecar, p the pod itself, o the overhead.
struct GoldenPod {
  const char* pod;
  const char* requests;
};

ResourceList amounts(const std::string& text) {
  ResourceList out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const auto amount = Quantity::parse(word.substr(equals + 1));
    EXPECT_TRUE(amount) << word;
    if (amount) out.emplace(word.substr(0, equals), *amount);
  }
  return out;
}

PodSpec pod_spec(const std::string& text) {
  PodSpec spec;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    part.erase(0, part.find_first_not_of(' '));
    const std::string amounts_text = part.substr(1);
    const std::size_t bar = amounts_text.find('|');
    Container container;
    container.resources.requests = amounts(amounts_text.substr(0, bar));
    if (bar != std::string::npos) {
      container.resources.limits = amounts(amounts_text.substr(bar + 1));
    }
    switch (part[0]) {
      case 'c':
        spec.containers.push_back(container);
        break;
      case 's':
        container.restart_policy = "Always";
        [[fallthrough]];
      case 'i':
        spec.init_containers.push_back(container);
        break;
      case 'p':
        spec.pod_resources = container.resources;
        break;
      case 'o':
        spec.overhead = container.resources.requests;
        break;
      default:
        ADD_FAILURE() << part;
    }
  }
  return spec;
}

std::string to_string(const ResourceList& list) {
  std::string out;
  for (const auto& [name, amount] : list) {
    if (!out.empty()) out += ' ';
    out += name + '=' + amount.to_string();
  }
  return out;
}

constexpr GoldenPod kPods[] = {
    GoldenPod{"", ""},
    GoldenPod{"c ", ""},
    GoldenPod{"c nvidia.com/gpu=1|nvidia.com/gpu=1", "nvidia.com/gpu=1"},
    GoldenPod{"c |nvidia.com/gpu=8 cpu=4 memory=32Gi", "cpu=4 memory=32Gi nvidia.com/gpu=8"},
    GoldenPod{"c cpu=500m|cpu=2 nvidia.com/gpu=1", "cpu=500m nvidia.com/gpu=1"},
    GoldenPod{"c cpu=500m; c cpu=1500m; c memory=1Gi", "cpu=2 memory=1Gi"},
    GoldenPod{"c nvidia.com/gpu=1|; c |nvidia.com/gpu=2", "nvidia.com/gpu=3"},
    GoldenPod{"c nvidia.com/gpu=0", "nvidia.com/gpu=0"},
    GoldenPod{"c cpu=0|cpu=4", "cpu=0"},
    GoldenPod{"i nvidia.com/gpu=4; c nvidia.com/gpu=1", "nvidia.com/gpu=4"},
    GoldenPod{"i nvidia.com/gpu=1; c nvidia.com/gpu=4", "nvidia.com/gpu=4"},
    GoldenPod{"i nvidia.com/gpu=2; i nvidia.com/gpu=3; c cpu=1", "cpu=1 nvidia.com/gpu=3"},
    GoldenPod{"i cpu=3 memory=1Gi; c cpu=1 memory=4Gi", "cpu=3 memory=4Gi"},
    GoldenPod{"i |memory=8Gi; c memory=2Gi|memory=4Gi", "memory=8Gi"},
    GoldenPod{"s cpu=200m; c cpu=1", "cpu=1200m"},
    GoldenPod{"s cpu=200m; i cpu=900m; c cpu=1", "cpu=1200m"},
    GoldenPod{"s cpu=200m; i cpu=1; c cpu=900m", "cpu=1200m"},
    GoldenPod{"i cpu=2; s cpu=500m; c cpu=1", "cpu=2"},
    GoldenPod{"s cpu=1; i cpu=1; s cpu=2; i cpu=3; c cpu=1", "cpu=6"},
    GoldenPod{"s nvidia.com/gpu=1; i nvidia.com/gpu=2; c nvidia.com/gpu=1", "nvidia.com/gpu=3"},
    GoldenPod{"s nvidia.com/gpu=1; s nvidia.com/gpu=1; i rdma/hca=1; c nvidia.com/gpu=2",
              "nvidia.com/gpu=4 rdma/hca=1"},
    GoldenPod{"s |cpu=250m; c |cpu=250m", "cpu=500m"},
    GoldenPod{"c cpu=1; o cpu=250m memory=120Mi", "cpu=1250m memory=120Mi"},
    GoldenPod{"o cpu=250m; i cpu=4; c cpu=1", "cpu=4250m"},
    GoldenPod{"p cpu=4 memory=8Gi|; c cpu=1; c cpu=1 nvidia.com/gpu=2",
              "cpu=4 memory=8Gi nvidia.com/gpu=2"},
    GoldenPod{"p cpu=1|; c cpu=1; c cpu=2; o cpu=100m", "cpu=1100m"},
    GoldenPod{"p |cpu=4 memory=8Gi; c cpu=1", "cpu=1 memory=8Gi"},
    GoldenPod{"p cpu=2|memory=8Gi; c memory=1Gi", "cpu=2 memory=1Gi"},
    GoldenPod{"p cpu=2|cpu=8; c nvidia.com/gpu=8|; s cpu=16", "cpu=2 nvidia.com/gpu=8"},
    GoldenPod{"p |hugepages-2Mi=64Mi; c |hugepages-2Mi=32Mi; c |memory=1Gi",
              "hugepages-2Mi=64Mi memory=1Gi"},
    GoldenPod{"p hugepages-2Mi=128Mi|hugepages-2Mi=128Mi; c |hugepages-2Mi=32Mi",
              "hugepages-2Mi=128Mi"},
    GoldenPod{"p cpu=1|; c |hugepages-1Gi=2Gi memory=1Gi", "cpu=1 hugepages-1Gi=2Gi memory=1Gi"},
    GoldenPod{"p nvidia.com/gpu=4 cpu=1|; c nvidia.com/gpu=1", "cpu=1 nvidia.com/gpu=1"},
    GoldenPod{"p ephemeral-storage=4Gi|; c ephemeral-storage=1Gi", "ephemeral-storage=1Gi"},
    GoldenPod{"c memory=1Gi; c memory=1G", "memory=2073741824"},
    GoldenPod{"c memory=0; c memory=1Gi; c memory=500M", "memory=1573741824"},
    GoldenPod{"c cpu=100m|; c cpu=1e-1; c cpu=0.0000000001", "cpu=200000001n"},
    GoldenPod{"c hugepages-2Mi=4Mi|hugepages-2Mi=4Mi; i |hugepages-2Mi=8Mi", "hugepages-2Mi=8Mi"},
    GoldenPod{"c nvidia.com/mig-1g.10gb=2|; i nvidia.com/mig-2g.20gb=1",
              "nvidia.com/mig-1g.10gb=2 nvidia.com/mig-2g.20gb=1"},
    GoldenPod{"c memory=9223372036854775807; c memory=1", "memory=9223372036854775808"},
};

TEST(EffectiveRequests, AreWhatTheSchedulerCounts) {
  for (const GoldenPod& golden : kPods) {
    EXPECT_EQ(to_string(effective_requests(pod_spec(golden.pod))), golden.requests) << golden.pod;
  }
}

TEST(ContainerRequest, IsTheRequestElseTheLimit) {
  Container container;
  container.resources.requests = amounts("cpu=1");
  container.resources.limits = amounts("cpu=2 nvidia.com/gpu=4");
  EXPECT_EQ(container_request(container, "cpu"), Quantity(1));
  EXPECT_EQ(container_request(container, "nvidia.com/gpu"), Quantity(4));
  EXPECT_EQ(container_request(container, "memory"), std::nullopt);
}

TEST(AsksForAccelerator, CountsRequestsLimitsAndClaimsButNotZero) {
  struct Case {
    const char* pod;
    bool asks;
  };
  for (const Case& c :
       {Case{"c nvidia.com/gpu=1", true}, Case{"c |nvidia.com/gpu=1", true},
        Case{"c cpu=1; c amd.com/gpu=1", true}, Case{"i nvidia.com/gpu=1; c", true},
        Case{"s nvidia.com/mig-1g.10gb=1; c", true}, Case{"c nvidia.com/gpu=500m", true},
        Case{"c nvidia.com/gpu=0", false}, Case{"c nvidia.com/gpu=0|nvidia.com/gpu=0", false},
        Case{"c cpu=4 rdma/ib=1", false}, Case{"c", false}, Case{"", false}}) {
    EXPECT_EQ(asks_for_accelerator(pod_spec(c.pod)), c.asks) << c.pod;
  }
  Container container;
  container.resources.claims = {"gpu"};
  EXPECT_TRUE(asks_for_accelerator(container));
}

}  // namespace
}  // namespace rankward::kube
