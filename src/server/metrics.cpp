#include "metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>

namespace rankward::server {
namespace {

constexpr std::array<std::string_view, 3> kOutcomes = {"ok", "error", "bad_request"};

// From 100 us, a filter answer at some hundred nodes, to the 5 s after which kube-scheduler gives
// up.
const prometheus::Histogram::BucketBoundaries kBuckets = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

// Fabrics have three or four; keeps labels few whatever a configuration says.
constexpr std::uint32_t kMostTier = 8;

}  // namespace

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return "filter";
    case Verb::kPrioritize:
      return "prioritize";
    case Verb::kPreempt:
      return "preempt";
    case Verb::kValidate:
      return "validate";
    case Verb::kMutate:
      return "mutate";
  }
  return "";
}

Metrics::Metrics(const std::vector<std::string>& rules,
                 const std::vector<std::string>& exemptions) {
  auto& requests = prometheus::BuildCounter()
                       .Name("rankward_requests_total")
                       .Help("Calls answered, by verb and outcome.")
                       .Register(registry_);
  auto& durations = prometheus::BuildHistogram()
                        .Name("rankward_request_duration_seconds")
                        .Help("Time from the complete request to the answer, by verb.")
                        .Register(registry_);
  for (std::size_t verb = 0; verb < kVerbs; ++verb) {
    const std::string name(to_string(static_cast<Verb>(verb)));
    for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome) {
      requests_[verb][outcome] =
          &requests.Add({{"verb", name}, {"outcome", std::string(kOutcomes[outcome])}});
    }
    durations_[verb] = &durations.Add({{"verb", name}}, kBuckets);
  }
  auto& rejects = prometheus::BuildCounter()
                      .Name("rankward_node_rejects_total")
                      .Help("Nodes refused in filter answers, by reason code.")
                      .Register(registry_);
  for (const placement::Reason& reason : placement::reasons()) {
    rejects_[static_cast<std::size_t>(reason.code)] =
        &rejects.Add({{"reason", std::string(reason.name)}});
  }
  const auto single = [this](const char* name, const char* help) {
    return &prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add({});
  };
  plans_ = single("rankward_plans_total", "Plans that filter calls made or changed.");
  tiers_ = &prometheus::BuildCounter()
                .Name("rankward_plan_tiers_total")
                .Help(
                    "Plans, by the fabric tier that was asked for and the highest one crossed: 0 "
                    "is one node or NVLink clique, 1 the leaf.")
                .Register(registry_);
  plan_misses_ =
      single("rankward_plan_miss_total", "Filter calls that offered no place of the gang's plan.");
  plan_refusals_ =
      single("rankward_plan_refusals_total", "Filter calls of gangs for which there is no plan.");
  auto& denials = prometheus::BuildCounter()
                      .Name("rankward_admission_denials_total")
                      .Help("Findings that denied an object, by rule.")
                      .Register(registry_);
  auto& warnings = prometheus::BuildCounter()
                       .Name("rankward_admission_warnings_total")
                       .Help("Findings that were returned as warnings, by rule.")
                       .Register(registry_);
  auto& audits = prometheus::BuildCounter()
                     .Name("rankward_admission_audits_total")
                     .Help("Findings that only the audit log shows, by rule.")
                     .Register(registry_);
  for (const std::string& rule : rules) {
    denials_[rule] = &denials.Add({{"rule", rule}});
    warnings_[rule] = &warnings.Add({{"rule", rule}});
    audits_[rule] = &audits.Add({{"rule", rule}});
  }
  auto& exempted = prometheus::BuildCounter()
                       .Name("rankward_admission_exempted_total")
                       .Help("Objects with findings that an exemption covered, by exemption.")
                       .Register(registry_);
  for (const std::string& exemption : exemptions)
    exemptions_[exemption] = &exempted.Add({{"exemption", exemption}});
}

void Metrics::answered(Verb verb, Outcome outcome, double seconds) {
  const auto index = static_cast<std::size_t>(verb);
  requests_[index][static_cast<std::size_t>(outcome)]->Increment();
  durations_[index]->Observe(seconds);
}

void Metrics::rejected(placement::ReasonCode code, std::uint32_t nodes) {
  rejects_[static_cast<std::size_t>(code)]->Increment(nodes);
}

void Metrics::planned(const placement::PlanTiers& tiers) {
  plans_->Increment();
  count("filter", tiers);
}

void Metrics::planned_ahead(const placement::PlanTiers& tiers) {
  count("watch", tiers);
}

void Metrics::count(std::string_view made_by, const placement::PlanTiers& tiers) {
  const auto label = [](std::uint32_t tier) { return std::to_string(std::min(tier, kMostTier)); };
  tiers_
      ->Add({{"by", std::string(made_by)},
             {"asked", tiers.asked ? label(*tiers.asked) : "none"},
             {"achieved", label(tiers.achieved)}})
      .Increment();
}

void Metrics::plan_missed() {
  plan_misses_->Increment();
}

void Metrics::plan_refused() {
  plan_refusals_->Increment();
}

void Metrics::found(const admission::RuleCount& count) {
  const auto add = [&](const ByName& counters) {
    if (const auto found = counters.find(count.rule); found != counters.end())
      found->second->Increment(count.count);
  };
  switch (count.mode) {
    case admission::Mode::kEnforce:
      return add(denials_);
    case admission::Mode::kWarn:
      return add(warnings_);
    case admission::Mode::kAudit:
      return add(audits_);
    case admission::Mode::kOff:
      return;
  }
}

void Metrics::exempted(std::string_view exemption) {
  if (const auto found = exemptions_.find(exemption); found != exemptions_.end())
    found->second->Increment();
}

std::string Metrics::text(const std::vector<Sample>& samples) const {
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  for (const Sample& sample : samples) {
    if (families.empty() || families.back().name != sample.name) {
      prometheus::MetricFamily& family = families.emplace_back();
      family.name = sample.name;
      family.help = sample.help;
      family.type =
          sample.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    }
    prometheus::ClientMetric& metric = families.back().metric.emplace_back();
    for (const auto& [name, value] : sample.labels)
      metric.label.push_back({name, value});
    if (sample.counter) {
      metric.counter.value = sample.value;
    } else {
      metric.gauge.value = sample.value;
    }
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace rankward::server
