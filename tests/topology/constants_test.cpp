#include <gtest/gtest.h>

#include <set>

#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {
namespace {

double value_of(std::string_view name) {
  for (const Constant& constant : constants()) {
    if (constant.name == name) return constant.value;
  }
  ADD_FAILURE() << "no constant " << name;
  return 0;
}

TEST(Constants, AreNamedOnceAndSourced) {
  std::set<std::string_view> names;
  for (const Constant& constant : constants()) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    EXPECT_GT(constant.value, 0) << constant.name;
    EXPECT_GE(constant.source.size(), 10u) << constant.name;
  }
}

// Figures of NCCL v2.30.7, src/graph/topo.h and src/graph/tuning.cc.
TEST(Constants, EqualNcclsModel) {
  const std::pair<const char*, double> expected[] = {
      {"nvlink-sm70", 20},
      {"nvlink-sm80", 20},
      {"nvlink-sm86", 12},
      {"nvlink-sm90", 20.6},
      {"nvlink-sm100", 40.1},
      {"pcie-gen3-x16", 12},
      {"pcie-gen4-x16", 24},
      {"cpu-link-broadwell", 6},
      {"cpu-link-skylake", 10},
      {"cpu-link-amd", 16},
      {"cpu-link-arm", 6},
      {"cpu-link-power9", 32},
      {"step-nvlink", 3.4e-6},
      {"step-pcie", 5.7e-6},
      {"step-network", 14e-6},
      {"cpu-link-sapphire-rapids", 22},
      {"cpu-link-emerald-rapids", 40},
      {"nic-100g", 12},
  };
  for (const auto& [name, value] : expected)
    EXPECT_DOUBLE_EQ(value_of(name), value) << name;
}

}  // namespace
}  // namespace rankward::topology
