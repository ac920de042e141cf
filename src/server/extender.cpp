#include "extender.hpp"

#include <algorithm>
#include <memory>

#include "rankward/formats/extender.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/topology_annotation.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rankward/placement/preemption.hpp"
#include "rankward/placement/ranking.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::server {
namespace {

using placement::Candidate;
using placement::Ranking;

constexpr std::size_t kBestInRecord = 10;
constexpr int kMostAttempts = 100;
constexpr std::string_view kNotSynced =
    "rankward has not seen the cluster yet: the first list of nodes and pods is under way";

// Memory that a thread keeps from call to call.
struct Workspace {
  formats::ExtenderArgsReader reader;
  std::vector<std::string_view> passed;
  std::vector<std::string_view> names;
  std::vector<std::int64_t> scores;
  std::vector<formats::RejectedNode> failed;
  std::vector<formats::RejectedNode> unresolvable;
};

Workspace& workspace() {
  thread_local Workspace memory;
  return memory;
}

// Without an API server: a cluster of the Nodes in this one request, all idle.
Result<std::shared_ptr<const placement::Snapshot>> snapshot_of(
    const formats::ExtenderArgs& args, const topology::LabelOptions& labels) {
  placement::SnapshotBuilder builder;
  for (std::size_t i = 0; i < args.node_items.size(); ++i) {
    Result<kube::Node> node = formats::read_node(args.node_items[i]);
    if (!node) {
      return std::move(node.error()).under("Nodes.items[" + std::to_string(i) + "]");
    }
    topology::NodeTopology found = topology::from_labels(*node, labels);
    if (const std::string* report =
            kube::find(node->metadata.annotations, formats::kTopologyAnnotation)) {
      // A report that cannot be read leaves the node with what its labels say.
      if (auto read = formats::read_topology(*report)) {
        found = topology::merge(std::move(*read), found);
      }
    }
    builder.put_node(std::move(*node), std::move(found));
  }
  return builder.build();
}

std::vector<record::ScoredNode> best_of(const Ranking& ranking,
                                        const std::vector<std::string_view>& names) {
  std::vector<record::ScoredNode> best;
  for (std::size_t i = 0; i < std::min(kBestInRecord, ranking.fits.size()); ++i) {
    const placement::Ranked& ranked = ranking.fits[i];
    const placement::Prediction& prediction = ranked.prediction;
    best.push_back({.name = std::string(names[ranked.candidate]),
                    .score = ranked.score,
                    .seconds = prediction.seconds.value,
                    .gigabytes_per_second = prediction.bandwidth.value,
                    .bottleneck = prediction.bottleneck,
                    .nodes = prediction.nodes,
                    .tier = prediction.tier});
  }
  return best;
}

void describe(const placement::Request& request, record::Decision& decision) {
  decision.pod = request.pod;
  if (request.gang) {
    decision.gang = request.gang->key;
    decision.rank = request.gang->rank.value_or(-1);
  }
}

std::string_view to_string(placement::GangStanding standing) {
  switch (standing) {
    case placement::GangStanding::kPlanned:
      return "planned";
    case placement::GangStanding::kNotPlannable:
      return "notPlannable";
    case placement::GangStanding::kIncomplete:
      return "incomplete";
    case placement::GangStanding::kGatedByOthers:
      return "gatedByOthers";
    case placement::GangStanding::kPinned:
      return "pinned";
    case placement::GangStanding::kWhole:
      return "whole";
    case placement::GangStanding::kRefused:
      return "refused";
    case placement::GangStanding::kWaiting:
      return "waiting";
  }
  return "";
}

void describe(const placement::CallAnswer& answer, const placement::Snapshot& snapshot,
              record::Decision& decision) {
  if (decision.gang.empty()) return;
  decision.standing = to_string(answer.gang.standing);
  decision.plan_missed = answer.plan_missed;
  decision.planned_now = answer.planned_now;
  if (answer.gang.reservation) {
    if (answer.planned_now) {
      decision.tiers = placement::tiers_of(*answer.gang.reservation, snapshot);
    }
    decision.plan = answer.gang.reservation->plan_number;
    decision.plan_snapshot = answer.gang.reservation->snapshot;
  }
  decision.plan_refused = answer.gang.standing == placement::GangStanding::kRefused;
  decision.refusal = answer.gang.refusal.note;
}

void count_rejects(const Ranking& ranking, record::Decision& decision) {
  for (const auto& reason : ranking.reasons) {
    if (reason) ++decision.rejects[static_cast<std::size_t>(*reason)];
  }
}

// With an empty list in the scheduler's configuration every pod of the cluster comes: ours are
// those that reach for an accelerator or belong to a gang.
bool is_ours(const kube::Pod& pod, const std::vector<std::string>& managed_resources) {
  if (!managed_resources.empty()) return placement::is_managed(pod, managed_resources);
  if (kube::asks_for_accelerator(pod.spec) || !pod.spec.resource_claims.empty()) return true;
  const auto gang = placement::gang_of(pod);
  return !gang || gang->has_value();
}

Answer filter_error(std::string message, formats::NodeForm form, record::Decision decision,
                    std::string& out) {
  formats::write_filter_result({.form = form, .error = message}, out);
  decision.error = std::move(message);
  return {200, Outcome::kError, std::move(decision)};
}

Answer bad_request(const Error& error, record::Decision decision, std::string& out) {
  decision.error = error.to_string();
  out += decision.error;
  out += '\n';
  return {400, Outcome::kBadRequest, std::move(decision)};
}

}  // namespace

Extender::Extender(ExtenderOptions options, cluster::PlanBoard* board)
    : options_(std::move(options)), board_(board) {}

Result<Extender::Judged> Extender::judge(const placement::Request& request,
                                         const formats::ExtenderArgs& args,
                                         std::size_t most) const {
  if (board_ == nullptr) {
    auto snapshot = snapshot_of(args, options_.labels);
    if (!snapshot) return std::move(snapshot.error());
    // Nobody remembers anything between two calls here, so there are no plans to keep.
    std::vector<Candidate> candidates;
    for (const std::string_view name : args.node_names)
      candidates.push_back({name, (*snapshot)->find(name)});
    placement::CallAnswer answer;
    answer.ranking = placement::rank(request, args.pod.spec, **snapshot, candidates,
                                     options_.placement, placement::Use::kFilter, nullptr, most);
    return Judged{std::move(*snapshot), std::move(answer)};
  }
  // Whoever publishes second plans again on what the first one left. Every failure is another's
  // success, so the bound is for the case that nobody thought of.
  for (int attempt = 1;; ++attempt) {
    const auto view = board_->view();
    placement::CallAnswer answer = placement::answer_call(*view, request, args.pod, args.node_names,
                                                          board_->now(), options_.placement, most);
    if (!answer.next || board_->replace(view, answer.next) || attempt == kMostAttempts) {
      return Judged{view->snapshot, std::move(answer)};
    }
  }
}

Answer Extender::filter(std::string_view body, std::string& out) const {
  Workspace& memory = workspace();
  record::Decision decision{.verb = "filter"};
  const auto read = memory.reader.read(body);
  if (!read) {
    return filter_error("rankward cannot read the request: " + read.error().to_string(),
                        formats::NodeForm::kNone, std::move(decision), out);
  }
  const formats::ExtenderArgs& args = **read;
  decision.pod = args.pod.metadata.full_name();
  decision.candidates = args.node_names.size();

  if (!is_ours(args.pod, options_.managed_resources)) {
    decision.managed = false;
    decision.fits = decision.answered = args.node_names.size();
    formats::write_filter_result(
        {.form = args.form,
         .passed = args.form == formats::NodeForm::kNodes ? args.node_items : args.node_names},
        out);
    return {200, Outcome::kOk, std::move(decision)};
  }
  if (!ready()) return filter_error(std::string(kNotSynced), args.form, std::move(decision), out);
  const auto request = placement::make_request(args.pod, options_.request);
  if (!request) {
    return filter_error(request.error().to_string(), args.form, std::move(decision), out);
  }
  describe(*request, decision);

  auto judged = judge(*request, args, options_.placement.max_candidates);
  if (!judged) {
    return filter_error(judged.error().to_string(), args.form, std::move(decision), out);
  }
  const Ranking& ranking = judged->answer.ranking;
  decision.snapshot = judged->snapshot->number();
  describe(judged->answer, *judged->snapshot, decision);
  if (judged->answer.gang.standing == placement::GangStanding::kWaiting) {
    // An error makes the scheduler come back after its backoff; an unschedulable pod may sleep.
    return filter_error("rankward waits to plan gang " + request->gang->key + ": " +
                            judged->answer.gang.refusal.note +
                            ". The scheduler tries again; if this lasts, "
                            "rankward_watch_restarts_total and the log say why the watch is late",
                        args.form, std::move(decision), out);
  }
  decision.fits = ranking.fitting;
  decision.best = best_of(ranking, args.node_names);
  count_rejects(ranking, decision);

  memory.passed.clear();
  const auto& source_of =
      args.form == formats::NodeForm::kNodes ? args.node_items : args.node_names;
  const std::size_t answered = ranking.fits.size();
  for (std::size_t i = 0; i < answered; ++i) {
    memory.passed.push_back(source_of[ranking.fits[i].candidate]);
  }
  decision.answered = answered;

  memory.failed.clear();
  memory.unresolvable.clear();
  if (answered == 0 || options_.always_list_reasons) {
    for (std::size_t i = 0; i < ranking.reasons.size(); ++i) {
      const auto& refused_for = ranking.reasons[i];
      if (!refused_for) continue;
      const std::string_view name = args.node_names[i];
      const auto index = judged->snapshot->find(name);
      const bool preemptable = index && placement::preemption_could_help(
                                            *refused_for, *request, args.pod.spec,
                                            judged->snapshot->node(*index), options_.placement);
      (preemptable ? memory.failed : memory.unresolvable)
          .push_back({name, placement::reason(*refused_for).text});
    }
  }
  formats::write_filter_result({.form = args.form,
                                .passed = memory.passed,
                                .failed = memory.failed,
                                .failed_and_unresolvable = memory.unresolvable},
                               out);
  return {200, Outcome::kOk, std::move(decision)};
}

Answer Extender::prioritize(std::string_view body, std::string& out) const {
  Workspace& memory = workspace();
  record::Decision decision{.verb = "prioritize"};
  const auto read = memory.reader.read(body);
  if (!read) return bad_request(read.error(), std::move(decision), out);
  const formats::ExtenderArgs& args = **read;
  decision.pod = args.pod.metadata.full_name();
  decision.candidates = args.node_names.size();
  memory.names.assign(args.node_names.begin(), args.node_names.end());
  memory.scores.assign(args.node_names.size(), 0);

  if (!is_ours(args.pod, options_.managed_resources)) {
    // Keeps pods that need no accelerator off the nodes that have some, where there is a choice.
    decision.managed = false;
    auto snapshot = board_ != nullptr ? board_->view()->snapshot : nullptr;
    if (snapshot == nullptr) {
      auto made = snapshot_of(args, options_.labels);
      if (!made) return bad_request(made.error(), std::move(decision), out);
      snapshot = std::move(*made);
    }
    decision.snapshot = snapshot->number();
    for (std::size_t i = 0; i < args.node_names.size(); ++i) {
      const auto index = snapshot->find(args.node_names[i]);
      const bool accelerators = index && placement::has_accelerators(snapshot->node(*index));
      memory.scores[i] = accelerators ? 0 : 10;
    }
  } else {
    const auto request = placement::make_request(args.pod, options_.request);
    if (!request) return bad_request(request.error(), std::move(decision), out);
    describe(*request, decision);
    auto judged = judge(*request, args, args.node_names.size());
    if (!judged) return bad_request(judged.error(), std::move(decision), out);
    const Ranking& ranking = judged->answer.ranking;
    decision.snapshot = judged->snapshot->number();
    describe(judged->answer, *judged->snapshot, decision);
    for (const placement::Ranked& ranked : ranking.fits) {
      memory.scores[ranked.candidate] = ranked.score;
    }
    decision.fits = ranking.fits.size();
    decision.best = best_of(ranking, args.node_names);
    count_rejects(ranking, decision);
  }
  decision.answered = memory.names.size();
  formats::write_host_priorities(memory.names, memory.scores, out);
  return {200, Outcome::kOk, std::move(decision)};
}

Answer Extender::preempt(std::string_view body, std::string& out) const {
  record::Decision decision{.verb = "preempt"};
  auto args = formats::read_preemption_args(body);
  if (!args) return bad_request(args.error(), std::move(decision), out);
  decision.pod = args->pod.metadata.full_name();
  decision.candidates = args->candidates.size();
  // Without state nobody knows what the victims hold: the scheduler's own choice stands.
  if (board_ == nullptr || !is_ours(args->pod, options_.managed_resources)) {
    decision.managed = board_ != nullptr ? false : decision.managed;
    decision.fits = decision.answered = args->candidates.size();
    formats::write_preemption_result(args->candidates, out);
    return {200, Outcome::kOk, std::move(decision)};
  }
  const auto request = placement::make_request(args->pod, options_.request);
  if (!request) return bad_request(request.error(), std::move(decision), out);
  describe(*request, decision);
  const auto view = board_->view();
  const placement::Snapshot& snapshot = *view->snapshot;
  decision.snapshot = snapshot.number();

  std::vector<formats::PreemptionCandidate> kept;
  std::vector<std::string_view> victims;
  for (formats::PreemptionCandidate& candidate : args->candidates) {
    const auto index = snapshot.find(candidate.node);
    victims.clear();
    for (const formats::PreemptionVictim& victim : candidate.victims)
      victims.push_back(victim.uid);
    // A node that the snapshot does not have yet is the scheduler's to judge.
    if (!index ||
        placement::fits_after_preemption(*request, args->pod.spec, snapshot.node(*index), victims,
                                         view->held.on(*index), options_.placement)) {
      kept.push_back(std::move(candidate));
    }
  }
  decision.fits = decision.answered = kept.size();
  formats::write_preemption_result(kept, out);
  return {200, Outcome::kOk, std::move(decision)};
}

}  // namespace rankward::server
