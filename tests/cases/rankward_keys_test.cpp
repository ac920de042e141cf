// What placement reads and what KEY-01 lets through are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/kube/rankward_keys.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::cases {
namespace {

kube::Pod annotated(std::string_view key, const std::string& value) {
  kube::Pod pod;
  pod.metadata.name = "p";
  pod.metadata.namespace_ = "team-a";
  pod.metadata.annotations.emplace(key, value);
  pod.spec.containers.emplace_back().name = "train";
  return pod;
}

bool is_denied_by_key(const kube::Pod& pod) {
  admission::Review review;
  review.subjects.push_back({.metadata = pod.metadata,
                             .spec = pod.spec,
                             .namespace_ = pod.metadata.namespace_,
                             .path_prefix = "",
                             .workload_kind = ""});
  const auto judgement = admission::judge(admission::Policy(), review, 0);
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [](const auto& finding) { return finding.rule == "KEY-01"; });
}

TEST(RankwardKeys, AreReadByPlacementAsAdmissionLetsThemThrough) {
  const std::vector<std::string> values{"",
                                        "0",
                                        "1",
                                        "4",
                                        "-1",
                                        "+4",
                                        "4.0",
                                        "004",
                                        "99999",
                                        "100000",
                                        "100001",
                                        "4 ",
                                        "llama",
                                        "a b",
                                        "a/b",
                                        "a/b/c",
                                        "mig",
                                        "MIG",
                                        "shared",
                                        "exclusive",
                                        "tcp",
                                        "any",
                                        "rdma",
                                        "rdma-required",
                                        "rdma-preferred",
                                        "12Gi",
                                        "12GB",
                                        "1Pi",
                                        "2Pi",
                                        "1e30",
                                        "0.5",
                                        "12G",
                                        "true",
                                        "leaf",
                                        "nvidia.com/gpu.clique",
                                        std::string(253, 'a'),
                                        std::string(254, 'a')};
  std::size_t refused = 0;
  for (const kube::RankwardKey& known : kube::rankward_keys()) {
    if (known.place != kube::KeyPlace::kPodAnnotation) continue;
    // Admission's own, and what an agent writes: a list that placement cannot read it leaves out.
    if (known.key == kube::kWithKueueKey || known.key == kube::kAssignedGpusKey) continue;
    for (const std::string& value : values) {
      const kube::Pod pod = annotated(known.key, value);
      const bool read = placement::make_request(pod, {}).has_value();
      EXPECT_EQ(is_denied_by_key(pod), !read) << known.key << "=" << value;
      if (!read) ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace rankward::cases
