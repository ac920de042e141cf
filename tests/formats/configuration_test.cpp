#include "rankward/formats/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rankward::formats {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Result<Configuration> read(const std::string& keys) {
  return read_configuration(
      "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n" + keys, "file");
}

TEST(Configuration, GangsAreNominatedAndHeldForAMinuteUnlessItSaysOtherwise) {
  const auto configuration = read("").value();
  EXPECT_TRUE(configuration.nominate);
  EXPECT_EQ(configuration.gate_max_hold, milliseconds(60'000));
  EXPECT_FALSE(read("nominate: false").value().nominate);
}

TEST(Configuration, DurationsAreReadAsKubernetesWritesThem) {
  for (const auto& [text, want] : {std::pair{"60s", 60'000},
                                   {"1m30s", 90'000},
                                   {"500ms", 500},
                                   {"0s", 0},
                                   {"1h", 3'600'000},
                                   {"59m59s999ms", 3'599'999}}) {
    const auto configuration = read("gateMaxHold: " + std::string(text));
    ASSERT_TRUE(configuration) << configuration.error().to_string();
    EXPECT_EQ(configuration->gate_max_hold, milliseconds(want)) << text;
  }
}

TEST(Configuration, WhatIsNoDurationIsRefusedWithTheAcceptedForm) {
  for (const char* text : {"60", "s", "-1s", "1.5s", "60 s", "1h1ms", "60sec", "9999999999s", "1d",
                           "\"\"", "[60s]", "18446744073709551617s"}) {
    const auto configuration = read("gateMaxHold: " + std::string(text));
    ASSERT_FALSE(configuration) << text;
    EXPECT_EQ(configuration.error().field(), "gateMaxHold") << text;
  }
  EXPECT_THAT(read("gateMaxHold: 60").error().message(), HasSubstr("60s or 1m30s"));
}

TEST(Configuration, TheWebhookWatchesWhatItMayAndMutatesNothingUnlessItSaysOtherwise) {
  using Names = std::vector<std::string>;
  const auto defaults = read("").value();
  EXPECT_EQ(defaults.admission_watch, (Names{"persistentvolumes", "namespaces", "nodes"}));
  EXPECT_FALSE(defaults.mutate);
  const auto set = read("admission: {watch: [nodes], mutate: true}").value();
  EXPECT_EQ(set.admission_watch, Names{"nodes"});
  EXPECT_TRUE(set.mutate);
  EXPECT_EQ(read("admission: {watch: []}").value().admission_watch, Names{});
  const auto unknown = read("admission: {watch: [secrets]}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().field(), "admission.watch");
  EXPECT_THAT(unknown.error().message(), HasSubstr("persistentvolumes, namespaces, nodes"));
}

TEST(Configuration, WhatIsPrintedIsReadBack) {
  for (const char* keys : {"nominate: false\ngateMaxHold: 2m", "gateMaxHold: 1500ms",
                           "admission: {watch: [], mutate: true}", ""}) {
    const auto configuration = read(keys).value();
    const auto again = read_configuration(print_configuration(configuration), "printed");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->nominate, configuration.nominate);
    EXPECT_EQ(again->gate_max_hold, configuration.gate_max_hold);
    EXPECT_EQ(again->admission_watch, configuration.admission_watch);
    EXPECT_EQ(again->mutate, configuration.mutate);
    EXPECT_EQ(print_configuration(*again), print_configuration(configuration));
  }
}

}  // namespace
}  // namespace rankward::formats
