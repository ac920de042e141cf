#include "rankward/kube/meta.hpp"

#include <gtest/gtest.h>

namespace rankward::kube {
namespace {

TEST(ObjectMeta, FullNameHasTheNamespaceAndFallsBackToGenerateName) {
  ObjectMeta meta;
  meta.generate_name = "train-";
  EXPECT_EQ(meta.full_name(), "train-");
  meta.namespace_ = "research";
  EXPECT_EQ(meta.full_name(), "research/train-");
  meta.name = "train-x7";
  EXPECT_EQ(meta.full_name(), "research/train-x7");
}

TEST(ObjectMeta, ControllerIsTheOwnerThatSaysSo) {
  ObjectMeta meta;
  EXPECT_EQ(meta.controller(), nullptr);
  meta.owner_references = {{"v1", "ConfigMap", "notes", "1", false},
                           {"batch/v1", "Job", "train", "2", true}};
  ASSERT_NE(meta.controller(), nullptr);
  EXPECT_EQ(meta.controller()->name, "train");
  meta.owner_references.pop_back();
  EXPECT_EQ(meta.controller(), nullptr);
}

TEST(Find, TellsAbsentFromEmpty) {
  const StringMap map = {{"empty", ""}, {"full", "x"}};
  EXPECT_EQ(find(map, "absent"), nullptr);
  ASSERT_NE(find(map, "empty"), nullptr);
  EXPECT_EQ(*find(map, "empty"), "");
  EXPECT_EQ(*find(map, "full"), "x");
}

}  // namespace
}  // namespace rankward::kube
