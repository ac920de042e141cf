#include "samples.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace rankward::server {

void SampleList::gauge(std::string name, std::string help, double value, Labels labels) {
  samples_.push_back({std::move(name), std::move(help), false, std::move(labels), value});
}

void SampleList::counter(std::string name, std::string help, std::uint64_t value, Labels labels) {
  samples_.push_back(
      {std::move(name), std::move(help), true, std::move(labels), static_cast<double>(value)});
}

void add_board_samples(cluster::PlanBoard& board, SampleList& list) {
  const auto view = board.view();
  std::size_t held = 0;
  for (const auto& [gang, reservation] : view->reservations->all()) {
    for (const placement::ReservedPart& part : reservation->parts) {
      held += static_cast<std::size_t>(
          std::count_if(part.slots.begin(), part.slots.end(),
                        [](const placement::Slot& slot) { return !slot.bound; }));
    }
  }
  const placement::Snapshot& snapshot = *view->snapshot;
  std::size_t pods = 0;
  for (std::uint32_t i = 0; i < snapshot.size(); ++i)
    pods += snapshot.node({i}).holders.size();
  list.gauge("rankward_snapshot_nodes", "Nodes in the current snapshot.",
             static_cast<double>(snapshot.size()));
  list.gauge("rankward_snapshot_pods", "Pods on nodes in the current snapshot.",
             static_cast<double>(pods));
  list.gauge("rankward_snapshot_number", "Number of the current snapshot.",
             static_cast<double>(snapshot.number()));
  list.gauge("rankward_reservations", "Gangs whose plan stands and that are not whole yet.",
             static_cast<double>(view->reservations->all().size()));
  list.gauge("rankward_reserved_slots", "Places that are held for pods without a node.",
             static_cast<double>(held));
}

void add_watcher_samples(const cluster::ClusterWatcher& watcher, SampleList& list) {
  const cluster::WatcherStats stats = watcher.stats();
  if (const auto age = watcher.snapshot_age()) {
    list.gauge("rankward_snapshot_age_seconds",
               "Time since the API server last gave a sign of life on the quieter watch.",
               std::chrono::duration<double>(*age).count());
  }
  const std::array resources{std::pair{"nodes", &stats.nodes}, std::pair{"pods", &stats.pods}};
  for (const auto& [resource, of] : resources) {
    list.counter("rankward_relists_total", "Complete lists after the first.", of->relists,
                 {{"resource", resource}});
  }
  for (const auto& [resource, of] : resources) {
    list.counter("rankward_watch_restarts_total", "Watches that had to be begun again.",
                 of->watch_ends + of->failures, {{"resource", resource}});
  }
  for (const cluster::GangSourceStats& of : stats.gang_sources) {
    list.gauge("rankward_gang_source_watched",
               "Whether objects that say how large gangs are can be watched here.",
               of.state == cluster::GangSourceState::kWatched ? 1 : 0, {{"resource", of.resource}});
  }
  list.counter("rankward_watch_parse_errors_total", "Objects of a watch that could not be read.",
               stats.parse_errors());
  list.counter("rankward_topology_reports_unreadable_total",
               "Topology annotations that could not be read, each time one was seen.",
               stats.bad_annotations);
}

void add_facts_samples(const cluster::ClusterFactsWatcher& facts, SampleList& list) {
  const auto stats = facts.stats();
  const auto each = [&](auto&& emit) {
    for (const cluster::FactsStats& of : stats)
      emit(of, SampleList::Labels{{"resource", std::string(cluster::to_string(of.resource))}});
  };
  each([&](const auto& of, auto labels) {
    list.gauge("rankward_cluster_facts_watched",
               "Whether admission sees these objects of the cluster.",
               of.state == cluster::FactsState::kWatched ? 1 : 0, labels);
  });
  each([&](const auto& of, auto labels) {
    list.counter("rankward_cluster_facts_failures_total",
                 "Lists and watches of these objects that failed.", of.watch.failures, labels);
  });
}

void add_exemption_samples(const admission::Policy& policy, admission::UnixSeconds now,
                           SampleList& list) {
  for (const admission::Exemption& exemption : policy.exemptions()) {
    if (!exemption.expires) continue;
    list.gauge("rankward_admission_exemption_expiry_seconds",
               "Time until the exemption ends; below 0 it exempts nothing any more.",
               static_cast<double>(*exemption.expires - now), {{"exemption", exemption.name}});
  }
}

void add_keeper_samples(const cluster::GangKeeperStats& stats, SampleList& list) {
  list.gauge("rankward_leader", "Whether this process holds the Lease and writes.",
             stats.leader.leading ? 1 : 0);
  list.counter("rankward_leader_failures_total", "Reads or writes of the Lease that failed.",
               stats.leader.failures);
  list.counter("rankward_watch_plans_total", "Plans made or changed from the watch.",
               stats.planned);
  const auto nominations = [&](const char* what, std::uint64_t value) {
    list.counter("rankward_nominations_total",
                 "Nominations made, made again, cleared, and left alone as another's.", value,
                 {{"action", what}});
  };
  nominations("made", stats.nominations_made);
  nominations("renewed", stats.nominations_renewed);
  nominations("cleared", stats.nominations_cleared);
  nominations("foreign", stats.nominations_foreign);
  const auto gates = [&](const char* plan, std::uint64_t value) {
    list.counter("rankward_gates_lifted_total",
                 "Scheduling gates lifted, with a plan and without one.", value, {{"plan", plan}});
  };
  gates("yes", stats.gates_lifted_planned);
  gates("no", stats.gates_lifted_unplanned);
  list.counter("rankward_events_total", "Events written on pods.", stats.events);
  list.counter("rankward_wakes_total", "Times that waiting pods were woken.", stats.wakes);
  const auto failures = [&](const char* write, std::uint64_t value) {
    list.counter("rankward_write_failures_total", "Writes to the API server that failed.", value,
                 {{"write", write}});
  };
  failures("nominate", stats.nominate_failures);
  failures("gate", stats.gate_failures);
  failures("event", stats.event_failures);
  failures("wake", stats.wake_failures);
}

void add_door_samples(const net::Server& server, const std::vector<std::string>& doors,
                      SampleList& list) {
  const auto stats = server.stats();
  const auto each_door = [&](auto&& emit) {
    for (std::size_t i = 0; i < doors.size(); ++i)
      emit(stats[i], SampleList::Labels{{"door", doors[i]}});
  };
  each_door([&](const auto& of, auto labels) {
    list.gauge("rankward_connections", "Open connections.",
               static_cast<double>(of.connections_open), labels);
  });
  each_door([&](const auto& of, auto labels) {
    list.gauge("rankward_requests_in_flight", "Calls that are being answered.",
               static_cast<double>(of.requests_in_flight), labels);
  });
  each_door([&](const auto& of, auto labels) {
    list.counter("rankward_connections_rejected_total", "Connections over the limit, answered 503.",
                 of.connections_rejected, labels);
  });
  each_door([&](const auto& of, auto labels) {
    list.counter("rankward_handshake_failures_total", "TLS handshakes that failed.",
                 of.handshake_failures, labels);
  });
  each_door([&](const auto& of, auto labels) {
    list.counter("rankward_requests_refused_total", "Requests refused before a verb was called.",
                 of.requests_refused, labels);
  });
  each_door([&](const auto& of, auto labels) {
    list.counter("rankward_handler_failures_total", "Faults of our own, answered 500.",
                 of.handler_failures, labels);
  });
  const auto not_after = server.certificates_not_after();
  for (std::size_t i = 0; i < doors.size(); ++i) {
    if (!not_after[i]) continue;
    const auto left = *not_after[i] - std::chrono::system_clock::now();
    list.gauge("rankward_certificate_expiry_seconds", "Time until the serving certificate ends.",
               std::chrono::duration<double>(left).count(), {{"door", doors[i]}});
  }
}

}  // namespace rankward::server
