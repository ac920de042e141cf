#include "rankward/record/decision.hpp"

#include "rankward/formats/json_writer.hpp"

namespace rankward::record {
namespace {

std::string rejects_json(const Decision& decision) {
  std::string out;
  formats::JsonWriter json(out);
  json.begin_object();
  for (const placement::Reason& reason : placement::reasons()) {
    const auto count = decision.rejects[static_cast<std::size_t>(reason.code)];
    if (count != 0) json.member(reason.name, count);
  }
  json.end_object();
  return out;
}

// null for a pod without a gang.
std::string plan_json(const Decision& decision) {
  if (decision.standing.empty()) return "null";
  std::string out;
  formats::JsonWriter json(out);
  json.begin_object()
      .member("standing", decision.standing)
      .member("number", decision.plan)
      .member("snapshot", decision.plan_snapshot)
      .member("new", decision.planned_now)
      .member("missed", decision.plan_missed)
      .member("refusal", decision.refusal)
      .end_object();
  return out;
}

std::string best_json(const Decision& decision) {
  std::string out;
  formats::JsonWriter json(out);
  json.begin_array();
  for (const ScoredNode& node : decision.best) {
    json.begin_object()
        .member("node", node.name)
        .member("score", node.score)
        .member("seconds", node.seconds)
        .member("gigabytesPerSecond", node.gigabytes_per_second)
        .member("bottleneck", node.bottleneck)
        .member("nodes", node.nodes)
        .member("tier", node.tier)
        .end_object();
  }
  json.end_array();
  return out;
}

}  // namespace

void write(Log& log, const Decision& decision) {
  // What asks for nothing of ours is every pod of the cluster where managedResources is empty.
  const int verbosity = decision.managed ? 0 : 4;
  if (!log.enabled(verbosity)) return;
  if (!decision.error.empty()) {
    log.error("decision", decision.error,
              {{"verb", decision.verb},
               {"requestID", decision.request_id},
               {"pod", decision.pod},
               {"microseconds", decision.microseconds}});
    return;
  }
  const std::string rejects = rejects_json(decision);
  const std::string best = best_json(decision);
  const std::string plan = plan_json(decision);
  log.info(verbosity, "decision",
           {{"verb", decision.verb},
            {"requestID", decision.request_id},
            {"pod", decision.pod},
            {"gang", decision.gang},
            {"rank", std::int64_t{decision.rank}},
            {"plan", Field::Raw{plan}},
            {"managed", decision.managed},
            {"candidates", static_cast<std::uint64_t>(decision.candidates)},
            {"fits", static_cast<std::uint64_t>(decision.fits)},
            {"answered", static_cast<std::uint64_t>(decision.answered)},
            {"rejects", Field::Raw{rejects}},
            {"best", Field::Raw{best}},
            {"snapshot", decision.snapshot},
            {"microseconds", decision.microseconds}});
}

void write(Log& log, const AdmissionDecision& decision) {
  // Objects without a finding are the rule; they are counted, and logged only where asked for.
  const int verbosity = decision.rules.empty() && decision.exempted_by.empty() ? 4 : 0;
  log.info(verbosity, "admission",
           {{"requestID", decision.request_id},
            {"object", decision.object},
            {"operation", decision.operation},
            {"allowed", decision.allowed},
            {"dryRun", decision.dry_run},
            {"rules", decision.rules},
            {"exemptedBy", decision.exempted_by},
            {"microseconds", decision.microseconds}});
}

}  // namespace rankward::record
