#include "rankward/kube/rankward_keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace rankward::kube {
namespace {

struct Form {
  std::string_view key;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
};

TEST(RankwardKeys, TakeTheValuesOfTheirForm) {
  const std::vector<Form> forms{
      {kGangKey, {"llama-3.1_a", std::string(253, 'a')}, {"", "a b", "a/b", std::string(254, 'a')}},
      {kGangSizeKey, {"1", "64", "100000", "004"}, {"0", "-1", "+4", "4.0", "4 ", "", "100001"}},
      {kRankKey, {"0", "99999"}, {"-1", "-0", "100000", "first", ""}},
      {kTopologyRequiredKey, {"nvidia.com/gpu.clique", "leaf"}, {"", "a/b/c", "a b"}},
      {kTopologyPreferredKey, {"topology.kubernetes.io/zone"}, {"rack,leaf"}},
      {kTransportKey, {"rdma-required", "rdma-preferred", "tcp", "any"}, {"RDMA", "rdma", ""}},
      {kSharingKey, {"exclusive", "mig", "shared"}, {"none", "Shared", ""}},
      {kGpuMemoryKey, {"12Gi", "1", "0.5", "1Pi", "80e9"}, {"12GB", "0", "-1Gi", "2Pi", "", "x"}},
      {kMessageSizeKey, {"64M", "1Gi"}, {"1e30", "64MiB"}},
      {kWithKueueKey, {"true"}, {"True", "yes", "1", "false", ""}},
      {kAssignedGpusKey, {"0", "0,1,5", "1023"}, {"", "0,", ",0", "0, 1", "1024", "a"}},
      {kFabricTestKey, {"true"}, {"", "false", "yes"}},
  };
  for (const Form& form : forms) {
    const RankwardKey* known = find_rankward_key(form.key);
    ASSERT_NE(known, nullptr) << form.key;
    ASSERT_NE(known->accepts, nullptr) << form.key;
    for (const std::string& value : form.accepted)
      EXPECT_TRUE(known->accepts(value)) << form.key << "=" << value;
    for (const std::string& value : form.refused)
      EXPECT_FALSE(known->accepts(value)) << form.key << "=" << value;
  }
}

TEST(RankwardKeys, AreNamedOnceAndSayWhatTheyAccept) {
  std::set<std::string_view> keys;
  for (const RankwardKey& known : rankward_keys()) {
    EXPECT_TRUE(keys.insert(known.key).second) << known.key;
    EXPECT_TRUE(known.key.starts_with(kRankwardPrefix)) << known.key;
    EXPECT_FALSE(known.accepted.empty()) << known.key;
    const bool on_pods =
        known.place == KeyPlace::kPodAnnotation || known.place == KeyPlace::kPodLabel;
    EXPECT_EQ(known.accepts != nullptr, on_pods) << known.key;
  }
  EXPECT_EQ(find_rankward_key("rankward.io/Gang"), nullptr);
  EXPECT_EQ(find_rankward_key("rankward.io/"), nullptr);
}

}  // namespace
}  // namespace rankward::kube
