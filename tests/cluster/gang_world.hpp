// Two leaves of nodes of eight GPUs, gangs on them, and what the API server would make of writes:
// for tests of the keeper without a network.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../placement/clusters.hpp"
#include "api_writes.hpp"
#include "fake_clock.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/placement/gang.hpp"

namespace rankward::cluster {

class GangWorld final : public SnapshotSource, public GangWrites {
 public:
  GangWorld() {
    for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"})
      put_node(name);
    publish();
  }

  [[nodiscard]] std::shared_ptr<const placement::Snapshot> current() const override {
    return snapshot_;
  }
  [[nodiscard]] bool ready() const override { return true; }

  // The watch sees what is there now.
  void publish() { snapshot_ = cluster_.snapshot(); }

  static kube::Node make_node(const std::string& name) {
    return placement::testing::node(name, {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}},
                                    placement::testing::leaf(name[0] == 'a' ? "leaf-a" : "leaf-b"));
  }
  void put_node(const std::string& name, kube::Readiness ready = kube::Readiness::kReady) {
    auto node = make_node(name);
    node.ready = ready;
    cluster_.add(std::move(node), placement::testing::hgx());
  }
  void put_node(kube::Node node) { cluster_.add(std::move(node), placement::testing::hgx()); }
  void remove_node(const std::string& name) { cluster_.remove_node(name); }

  // Rank `rank` of a gang of `size` pods with a node of GPUs each.
  static kube::Pod member(const std::string& gang, int rank, int size,
                          std::vector<std::string> gates = {}) {
    auto pod = placement::testing::pod(gang + "-" + std::to_string(rank),
                                       {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}},
                                       {{"rankward.io/gang", gang},
                                        {"rankward.io/gang-size", std::to_string(size)},
                                        {"rankward.io/rank", std::to_string(rank)}});
    pod.spec.scheduling_gates = std::move(gates);
    return pod;
  }
  void put_pod(kube::Pod pod) {
    cluster_.add(pod);
    pods_[pod.metadata.full_name()] = std::move(pod);
  }
  void remove_pod(const std::string& name) {
    cluster_.remove("uid-" + name);
    pods_.erase("team-a/" + name);
  }
  void put_gang(const std::string& gang, int size, const std::vector<std::string>& gates = {}) {
    for (int rank = 0; rank < size; ++rank)
      put_pod(member(gang, rank, size, gates));
  }
  // As the scheduler does: on a node, or tried and not placed, which clears the nomination.
  void bind(const std::string& name, const std::string& node) {
    auto pod = pods_.at("team-a/" + name);
    pod.spec.node_name = node;
    pod.status = {.phase = "Running"};
    put_pod(std::move(pod));
  }
  void fail_attempt(const std::string& name) { set_nomination(name, ""); }
  void set_unschedulable(const std::string& name) {
    auto pod = pods_.at("team-a/" + name);
    pod.status.unschedulable = true;
    put_pod(std::move(pod));
  }
  void set_nomination(const std::string& name, const std::string& node) {
    auto pod = pods_.at("team-a/" + name);
    pod.status.nominated_node_name = node;
    by_us_.erase(name);
    put_pod(std::move(pod));
  }
  // Written by a leader before this one.
  void nominated_before(const std::string& name, const std::string& node) {
    set_nomination(name, node);
    by_us_[name] = true;
  }
  [[nodiscard]] std::string nomination_of(const std::string& name) const {
    return pods_.at("team-a/" + name).status.nominated_node_name;
  }
  [[nodiscard]] std::size_t gates_of(const std::string& name) const {
    return pods_.at("team-a/" + name).spec.scheduling_gates.size();
  }

  WriteOutcome nominate(std::string_view pod, std::string_view uid, std::string_view seen,
                        std::string_view node) override {
    if (const auto outcome = next("nominate"); !outcome.done()) return outcome;
    const auto found = pods_.find(std::string(pod));
    if (found == pods_.end()) return {WriteResult::kGone, "not found", {}};
    auto changed = found->second;
    if (changed.metadata.uid != uid || changed.status.nominated_node_name != seen) {
      return {WriteResult::kConflict, "a test failed", {}};
    }
    changed.status.nominated_node_name = node;
    log_.push_back((node.empty() ? "clear " : "nominate ") + changed.metadata.name +
                   (node.empty() ? "" : " " + std::string(node)));
    by_us_[changed.metadata.name] = true;
    put_pod(std::move(changed));
    return {};
  }
  WriteOutcome lift_gate(std::string_view pod, std::string_view uid) override {
    if (const auto outcome = next("lift"); !outcome.done()) return outcome;
    const auto found = pods_.find(std::string(pod));
    if (found == pods_.end()) return {WriteResult::kGone, "not found", {}};
    auto changed = found->second;
    auto& gates = changed.spec.scheduling_gates;
    if (changed.metadata.uid != uid || gates.empty() || gates.front() != placement::kGangGate) {
      return {WriteResult::kConflict, "a test failed", {}};
    }
    gates.erase(gates.begin());
    log_.push_back("lift " + changed.metadata.name);
    put_pod(std::move(changed));
    return {};
  }
  WriteOutcome post_event(const formats::PodEvent& event) override {
    if (const auto outcome = next("event"); !outcome.done()) return outcome;
    events_.push_back(event);
    return {};
  }
  WriteOutcome wake(std::string_view /*value*/) override {
    if (const auto outcome = next("wake"); !outcome.done()) return outcome;
    log_.emplace_back("wake");
    return {};
  }
  Result<formats::NominationHead> nomination(std::string_view pod) override {
    if (const auto outcome = next("ask"); !outcome.done()) return Error::unavailable(outcome.what);
    const auto found = pods_.find(std::string(pod));
    if (found == pods_.end()) return Error(ErrorKind::kNotFound, "gone");
    const auto& name = found->second.metadata.name;
    asked_.push_back(name);
    return formats::NominationHead{found->second.metadata.uid,
                                   found->second.status.nominated_node_name, by_us_.contains(name)};
  }

  // What has been written since the last call, in order.
  std::vector<std::string> take_log() { return std::exchange(log_, {}); }
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const auto& event : events_)
      out.push_back(event.reason + " " + event.pod);
    return out;
  }

  std::map<std::string, WriteOutcome> answers_;  // to every call of that name, until erased
  std::map<std::string, int> calls_;
  std::vector<formats::PodEvent> events_;
  std::vector<std::string> asked_;

 private:
  WriteOutcome next(const std::string& call) {
    ++calls_[call];
    const auto found = answers_.find(call);
    return found == answers_.end() ? WriteOutcome{} : found->second;
  }

  placement::testing::Cluster cluster_;
  std::shared_ptr<const placement::Snapshot> snapshot_;
  std::map<std::string, kube::Pod> pods_;
  std::map<std::string, bool> by_us_;
  std::vector<std::string> log_;
};

}  // namespace rankward::cluster
