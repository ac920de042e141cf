// The record of one answer, written after it was sent: what was asked, by snapshot number, and why
// the nodes came out as they did.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rankward/placement/plan_tiers.hpp"
#include "rankward/placement/reason.hpp"
#include "rankward/record/log.hpp"

namespace rankward::record {

// A node that was named in the answer, with the terms of its score.
struct ScoredNode {
  std::string name;
  int score = 0;                    // 0..10
  double seconds = 0;               // predicted time of the collective
  double gigabytes_per_second = 0;  // B; infinite where nothing is sent
  std::string bottleneck;
  std::uint32_t nodes = 1;  // nodes that the gang would stand on
  std::uint32_t tier = 0;   // highest fabric tier crossed
};

struct Decision {
  std::string verb;  // filter, prioritize, preempt
  std::string request_id;
  std::string pod;         // namespace/name
  std::string gang;        // "" for none
  std::int32_t rank = -1;  // -1: not known
  bool managed = true;     // false: asks for nothing of ours and passed at once
  std::size_t candidates = 0;
  std::size_t fits = 0;
  std::size_t answered = 0;                                      // names that were returned
  std::array<std::uint32_t, placement::kReasonCodes> rejects{};  // by ReasonCode
  std::vector<ScoredNode> best;                                  // the ten best
  std::uint64_t snapshot = 0;
  // Of pods in a gang.
  std::string_view standing;        // planned, refused, ... (placement::GangStanding); "" for none
  std::uint64_t plan = 0;           // number of the plan among those of this gang; 0: none
  std::uint64_t plan_snapshot = 0;  // on which it was made
  bool planned_now = false;         // by this call
  placement::PlanTiers tiers;       // of that plan
  bool plan_missed = false;         // since no place of the last plan was offered
  bool plan_refused = false;        // there is no plan that holds the gang
  std::string refusal;              // why there is no plan, one sentence
  std::int64_t microseconds = 0;
  std::string error;
};

struct AdmissionDecision {
  std::string request_id;  // uid of the review
  std::string object;      // "Pod team-a/train-0"
  std::string operation;
  bool allowed = true;
  bool dry_run = false;
  std::string rules;  // "HP-01,ENV-01"
  std::string exempted_by;
  std::int64_t microseconds = 0;
};

void write(Log& log, const Decision& decision);
void write(Log& log, const AdmissionDecision& decision);

}  // namespace rankward::record
