#include "rankward/placement/reason.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace rankward::placement {
namespace {

TEST(ReasonTable, HasEachCodeOnceInItsPlace) {
  ASSERT_EQ(reasons().size(), kReasonCodes);
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < kReasonCodes; ++i) {
    const Reason& row = reasons()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.code), i);
    EXPECT_EQ(&reason(row.code), &row);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(texts.insert(row.text).second) << row.text;
  }
}

// kube-scheduler groups equal strings, joins them with ", " behind a count, and cuts the event at
// 1,024 characters.
TEST(ReasonTable, TextsSuitTheSchedulersEvent) {
  for (const Reason& row : reasons()) {
    EXPECT_FALSE(row.text.empty()) << row.name;
    EXPECT_LE(row.text.size(), 80U) << row.name;
    EXPECT_FALSE(row.text.ends_with('.')) << row.name;
    EXPECT_EQ(row.text.find("%"), std::string_view::npos) << row.name;
    EXPECT_EQ(row.text.find("/"), std::string_view::npos) << "a resource's name in " << row.name;
    for (const char c : row.text) {
      EXPECT_FALSE(std::isdigit(static_cast<unsigned char>(c))) << row.name;
      EXPECT_TRUE(c >= ' ' && c <= '~') << row.name;
    }
    // Lower case as Kubernetes' own reasons, abbreviations aside.
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(row.text[0])) ||
                std::isupper(static_cast<unsigned char>(row.text[1])))
        << row.text;
    EXPECT_TRUE(row.next_step.ends_with('.')) << row.name;
  }
}

// The table of placement.md, "Verdict on one node".
TEST(ReasonTable, GivesStageAndPreemptionAsSpecified) {
  using enum ReasonCode;
  const std::set<ReasonCode> host{kGpuUnhealthy, kHostCountMismatch, kTopologyStale,
                                  kTopologyUnknown};
  const std::set<ReasonCode> advertise{kNotAdvertised,    kNothingAllocatable, kDevicesUnhealthy,
                                       kMigReconfiguring, kMigConfigFailed,    kMigNotApplied,
                                       kSharingMismatch};
  const std::set<ReasonCode> occupied{kInsufficientGpu, kInsufficientNic, kGangDoesNotFit};
  const std::set<ReasonCode> geometry{kNumaCannotAlign, kGpuLinkTooFar, kNoGpuDirect,
                                      kNodeUnavailable};
  for (const Reason& row : reasons()) {
    const Stage stage = host.count(row.code) != 0        ? Stage::kHost
                        : advertise.count(row.code) != 0 ? Stage::kAdvertise
                        : row.code == kRuntimeRejected   ? Stage::kInject
                                                         : Stage::kMatch;
    EXPECT_EQ(row.stage, stage) << row.name;
    const PreemptionHelps helps = occupied.count(row.code) != 0 ? PreemptionHelps::kYes
                                  : geometry.count(row.code) != 0
                                      ? PreemptionHelps::kIfEmptyNodeFits
                                      : PreemptionHelps::kNo;
    EXPECT_EQ(row.preemption_helps, helps) << row.name;
  }
}

// An autoscaler simulates the scheduler's own filters. What they judge we do not judge again in a
// filter call; what a filter call of ours refuses no autoscaler sees.
TEST(ReasonTable, WhatAnAutoscalerSeesIsNeverUsedInFilter) {
  for (const Reason& row : reasons())
    EXPECT_FALSE(row.autoscaler_sees && row.usable_in_filter) << row.name;
  for (const ReasonCode code :
       {ReasonCode::kNotAdvertised, ReasonCode::kNothingAllocatable, ReasonCode::kDevicesUnhealthy,
        ReasonCode::kMigNotApplied, ReasonCode::kNotAGpuNode, ReasonCode::kWrongResourceName,
        ReasonCode::kInsufficientGpu, ReasonCode::kInsufficientNic, ReasonCode::kNodeUnavailable}) {
    EXPECT_FALSE(reason(code).usable_in_filter) << reason(code).name;
    EXPECT_TRUE(reason(code).autoscaler_sees) << reason(code).name;
  }
}

TEST(ReasonTable, NamesItsStages) {
  EXPECT_EQ(to_string(Stage::kHost), "host");
  EXPECT_EQ(to_string(Stage::kAdvertise), "advertise");
  EXPECT_EQ(to_string(Stage::kMatch), "match");
  EXPECT_EQ(to_string(Stage::kInject), "inject");
}

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

std::string preemption(PreemptionHelps helps) {
  return helps == PreemptionHelps::kNo    ? "no"
         : helps == PreemptionHelps::kYes ? "yes"
                                          : "if the empty node would fit";
}

// docs/reasons.md has a section a code, in the table's order, and says what the table says.
TEST(ReasonPage, SaysWhatTheTableSays) {
  std::ifstream file(RANKWARD_SOURCE_DIR "/docs/reasons.md");
  ASSERT_TRUE(file.is_open());
  std::stringstream read;
  read << file.rdbuf();
  const std::string page = read.str();
  std::size_t at = 0;
  for (const Reason& row : reasons()) {
    std::string section = "\n## ";
    section += row.name;
    section += "\n\n> ";
    section += row.text;
    section +=
        "\n\n| stage | preemption helps | a new node helps | an autoscaler sees it | used by "
        "filter |\n|---|---|---|---|---|\n| ";
    section += to_string(row.stage);
    section += " | " + preemption(row.preemption_helps) + " | " + yes_or_no(row.new_node_helps) +
               " | " + yes_or_no(row.autoscaler_sees) + " | " + yes_or_no(row.usable_in_filter) +
               " |\n";
    const std::size_t found = page.find(section, at);
    ASSERT_NE(found, std::string::npos) << "expected in docs/reasons.md, in order:" << section;
    at = found + section.size();
    const std::string_view rest = std::string_view(page).substr(at, page.find("\n## ", at) - at);
    EXPECT_NE(rest.find(row.next_step), std::string_view::npos)
        << row.name << " lacks its next step: " << row.next_step;
  }
  std::istringstream lines(page);
  std::size_t sections = 0;
  for (std::string line; std::getline(lines, line);)
    sections += line.starts_with("## ") ? 1 : 0;
  EXPECT_EQ(sections, kReasonCodes);
}

}  // namespace
}  // namespace rankward::placement
