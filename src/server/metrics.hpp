// Everything /metrics shows. Names follow Prometheus' conventions: base units, _total for counters.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/placement/plan_tiers.hpp"
#include "rankward/placement/reason.hpp"

namespace rankward::server {

enum class Verb : std::uint8_t { kFilter, kPrioritize, kPreempt, kValidate, kMutate };
inline constexpr std::size_t kVerbs = 5;
[[nodiscard]] std::string_view to_string(Verb verb);

enum class Outcome : std::uint8_t { kOk, kError, kBadRequest };

// A gauge or counter whose value stands elsewhere and is read when somebody asks.
struct Sample {
  std::string name;
  std::string help;
  bool counter = false;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

// Counting is atomic and takes no lock; each series exists from the start, so that a rate is never
// computed from a series that appears with its first event.
class Metrics {
 public:
  // `exemptions`: the names of those configured and of the presets.
  Metrics(const std::vector<std::string>& rules, const std::vector<std::string>& exemptions);

  void answered(Verb verb, Outcome outcome, double seconds);
  void rejected(placement::ReasonCode code, std::uint32_t nodes);
  // A plan made by the keeper, from the watch.
  void planned_ahead(const placement::PlanTiers& tiers);
  // What a filter call made of a gang's plan.
  void planned(const placement::PlanTiers& tiers);
  void plan_missed();
  void plan_refused();
  void found(const admission::RuleCount& count);
  void exempted(std::string_view exemption);

  // Prometheus text format, version 0.0.4.
  [[nodiscard]] std::string text(const std::vector<Sample>& samples) const;

 private:
  prometheus::Registry registry_;
  std::array<std::array<prometheus::Counter*, 3>, kVerbs> requests_{};
  std::array<prometheus::Histogram*, kVerbs> durations_{};
  std::array<prometheus::Counter*, placement::kReasonCodes> rejects_{};
  void count(std::string_view made_by, const placement::PlanTiers& tiers);

  prometheus::Counter* plans_ = nullptr;
  prometheus::Family<prometheus::Counter>* tiers_ = nullptr;
  prometheus::Counter* plan_misses_ = nullptr;
  prometheus::Counter* plan_refusals_ = nullptr;
  using ByName = std::map<std::string, prometheus::Counter*, std::less<>>;
  ByName denials_;
  ByName warnings_;
  ByName audits_;
  ByName exemptions_;
};

}  // namespace rankward::server
