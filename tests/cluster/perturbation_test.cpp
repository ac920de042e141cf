// Whatever happens on the way, the end is what an undisturbed client would see.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "watched.hpp"

namespace rankward::cluster {
namespace {

struct Perturbation {
  std::string name;
  std::function<void(Watched&)> happens;
  bool relists = false;  // whether it has to end in a new list
};

void PrintTo(const Perturbation& perturbation, std::ostream* out) {
  *out << perturbation.name;
}

// Changes on both sides of a fault of both watches.
Perturbation around(std::string name, Fault fault, bool relists = true) {
  return {std::move(name),
          [fault](Watched& cluster) {
            cluster.put_pod("p3", "uid-3", "node-a", 1);
            for (const auto* resource : {"nodes", "pods"}) {
              cluster.server_.disturb(resource, fault);
            }
            cluster.put_node("node-c", 8);
            cluster.put_pod("p4", "uid-4", "node-c", 8);
            cluster.server_.remove("pods", "p1");
          },
          relists};
}

// While the client is away, which it is kept by refusals.
Perturbation during_an_outage(std::string name, std::function<void(Watched&)> happens) {
  return {std::move(name),
          [happens = std::move(happens)](Watched& cluster) {
            for (const auto* resource : {"nodes", "pods"}) {
              for (int i = 0; i < 3; ++i) {
                cluster.server_.answer_next(std::string("list ") + resource, {503, "", ""});
              }
              cluster.server_.disturb(resource, Fault::kCutBetween);
            }
            eventually([&] {
              return cluster.server_.open_watches("nodes") == 0 &&
                     cluster.server_.open_watches("pods") == 0;
            });
            happens(cluster);
          },
          true};
}

class AnyHistory : public testing::TestWithParam<Perturbation> {};

TEST_P(AnyHistory, ends_where_an_undisturbed_one_ends) {
  Watched cluster;
  cluster.put_node("node-a", 8);
  cluster.put_node("node-b", 8);
  cluster.put_pod("p1", "uid-1", "node-a", 2);
  cluster.put_pod("p2", "uid-2", "node-b", 4);
  cluster.start();
  ASSERT_TRUE(cluster.settles());
  const auto before = cluster.watcher_->current()->number();
  GetParam().happens(cluster);
  ASSERT_TRUE(cluster.settles()) << describe(*cluster.watcher_->current()) << "instead of\n"
                                 << cluster.expected();
  EXPECT_GT(cluster.watcher_->current()->number(), before);
  EXPECT_EQ(cluster.watcher_->relists() > 0, GetParam().relists);
}

INSTANTIATE_TEST_SUITE_P(
    Perturbed, AnyHistory,
    testing::Values(around("nothing", Fault::kBookmark, false),
                    around("cut_inside_a_line", Fault::kCutInsideLine),
                    around("cut_between_events", Fault::kCutBetween),
                    around("ended_inside_a_line", Fault::kEndInsideLine),
                    around("garbage", Fault::kGarbage), around("gone_event", Fault::kGoneEvent),
                    around("error_event", Fault::kErrorEvent),
                    around("unknown_event", Fault::kUnknownType, false),
                    Perturbation{"every_event_twice",
                                 [](Watched& cluster) {
                                   cluster.server_.send_events_twice(true);
                                   cluster.put_pod("p3", "uid-3", "node-a", 1);
                                   cluster.server_.remove("pods", "p1");
                                   cluster.put_pod("p1", "uid-1b", "node-b", 1);
                                   cluster.put_node("node-a", 4);
                                   cluster.server_.remove("nodes", "node-b");
                                 },
                                 false},
                    Perturbation{"gone_as_status",
                                 [](Watched& cluster) {
                                   cluster.put_node("node-c", 8);
                                   eventually(
                                       [&] { return cluster.watcher_->stats().nodes.events == 1; });
                                   cluster.server_.compact();
                                   cluster.server_.disturb("nodes", Fault::kCleanEnd);
                                   cluster.server_.remove("nodes", "node-b");
                                 },
                                 true},
                    during_an_outage("missed_deletes",
                                     [](Watched& cluster) {
                                       cluster.server_.remove("nodes", "node-a");
                                       cluster.server_.remove("pods", "p1");
                                       cluster.server_.remove("pods", "p2");
                                       cluster.server_.compact();
                                     }),
                    during_an_outage("a_pod_replaced_by_one_of_its_name",
                                     [](Watched& cluster) {
                                       cluster.server_.remove("pods", "p1");
                                       cluster.put_pod("p1", "uid-1b", "node-b", 3);
                                     }),
                    during_an_outage("a_node_replaced_by_one_of_its_name",
                                     [](Watched& cluster) {
                                       cluster.server_.remove("nodes", "node-a");
                                       cluster.put_node("node-a", 2);
                                     }),
                    during_an_outage("everything_gone",
                                     [](Watched& cluster) {
                                       for (const auto* node : {"node-a", "node-b"})
                                         cluster.server_.remove("nodes", node);
                                       for (const auto* pod : {"p1", "p2"})
                                         cluster.server_.remove("pods", pod);
                                     })),
    [](const auto& tested) { return tested.param.name; });

// Gangs: their pods waiting and bound, and their owners, watched as two more resources.
const std::vector<std::string> kAllResources{"nodes", "pods", "jobs.batch", "statefulsets.apps"};

void change_gangs(Watched& cluster) {
  cluster.put_pod("g1-0", "uid-g1-0", "node-a", 1, "g1");
  cluster.put_job("g1", "g1", 3);
  cluster.put_pod("g1-2", "uid-g1-2", "", 1, "g1");
  cluster.server_.remove("statefulsets.apps", "g2");
  cluster.server_.remove("pods", "g2-0");
  cluster.put_pod("g3-0", "uid-g3-0", "", 1, "g3");
  cluster.put_stateful_set("g3", "g3", 2);
}

Perturbation gangs_around(std::string name, Fault fault, std::string resource = "") {
  return {std::move(name), [fault, resource](Watched& cluster) {
            cluster.put_pod("g1-0", "uid-g1-0", "node-b", 1, "g1");
            cluster.server_.remove("pods", "g1-0");
            for (const auto& each : kAllResources) {
              if (resource.empty() || each == resource) cluster.server_.disturb(each, fault);
            }
            change_gangs(cluster);
          }};
}

// Lists that are refused, with this status, before each resource is had again.
Perturbation gangs_refused(std::string name, int status, std::string headers = "") {
  return {std::move(name), [status, headers](Watched& cluster) {
            for (const auto& resource : kAllResources) {
              for (int i = 0; i < 3; ++i)
                cluster.server_.answer_next("list " + resource, {status, headers, ""});
              cluster.server_.disturb(resource, Fault::kCutBetween);
            }
            change_gangs(cluster);
          }};
}

Perturbation gangs_while(std::string name, std::function<void(Watched&)> happens) {
  return {std::move(name), std::move(happens)};
}

class GangHistory : public testing::TestWithParam<Perturbation> {};

TEST_P(GangHistory, ends_where_an_undisturbed_one_ends) {
  Watched cluster;
  cluster.server_.install("jobs.batch", "v1");
  cluster.server_.install("statefulsets.apps", "v1");
  cluster.put_node("node-a", 8);
  cluster.put_node("node-b", 8);
  cluster.put_job("g1", "g1", 2);
  cluster.put_stateful_set("g2", "g2", 1);
  cluster.put_pod("g1-0", "uid-g1-0", "", 1, "g1");
  cluster.put_pod("g1-1", "uid-g1-1", "", 1, "g1");
  cluster.put_pod("g2-0", "uid-g2-0", "node-b", 4, "g2");
  cluster.start(options_with_gangs());
  ASSERT_TRUE(cluster.settles());
  GetParam().happens(cluster);
  ASSERT_TRUE(cluster.settles()) << describe(*cluster.watcher_->current()) << "instead of\n"
                                 << cluster.expected();
  // Whatever comes later is still heard.
  cluster.put_job("g1", "g1", 9);
  EXPECT_TRUE(cluster.settles());
}

INSTANTIATE_TEST_SUITE_P(
    Perturbed, GangHistory,
    testing::Values(
        gangs_around("cut_inside_a_line", Fault::kCutInsideLine),
        gangs_around("cut_between_events", Fault::kCutBetween),
        gangs_around("clean_end", Fault::kCleanEnd),
        gangs_around("ended_inside_a_line", Fault::kEndInsideLine),
        gangs_around("garbage", Fault::kGarbage), gangs_around("gone_event", Fault::kGoneEvent),
        gangs_around("error_event", Fault::kErrorEvent),
        gangs_around("unknown_event", Fault::kUnknownType),
        gangs_around("bookmark", Fault::kBookmark),
        gangs_around("jobs_cut", Fault::kCutInsideLine, "jobs.batch"),
        gangs_around("jobs_gone", Fault::kGoneEvent, "jobs.batch"),
        gangs_around("stateful_sets_cut", Fault::kCutBetween, "statefulsets.apps"),
        gangs_around("pods_gone", Fault::kGoneEvent, "pods"),
        gangs_refused("throttled", 429, "Retry-After: 0\r\n"), gangs_refused("unavailable", 503),
        gangs_refused("internal_error", 500), gangs_refused("gone_lists", 410),
        gangs_while("nothing", [](Watched& cluster) { change_gangs(cluster); }),
        gangs_while("every_event_twice",
                    [](Watched& cluster) {
                      cluster.server_.send_events_twice(true);
                      change_gangs(cluster);
                    }),
        gangs_while("old_events_again",
                    [](Watched& cluster) {
                      change_gangs(cluster);
                      cluster.server_.replay(4);
                      for (const auto& resource : kAllResources)
                        cluster.server_.disturb(resource, Fault::kCleanEnd);
                      cluster.put_pod("g3-1", "uid-g3-1", "", 1, "g3");
                    }),
        gangs_while("slow_lists",
                    [](Watched& cluster) {
                      cluster.server_.delay(std::chrono::milliseconds(150));
                      for (const auto& resource : kAllResources)
                        cluster.server_.disturb(resource, Fault::kCutBetween);
                      change_gangs(cluster);
                      std::this_thread::sleep_for(std::chrono::milliseconds(60));
                      cluster.server_.delay(std::chrono::milliseconds(0));
                    }),
        gangs_while("compacted",
                    [](Watched& cluster) {
                      cluster.server_.compact();
                      for (const auto& resource : kAllResources)
                        cluster.server_.disturb(resource, Fault::kCleanEnd);
                      change_gangs(cluster);
                    }),
        gangs_while("restored",
                    [](Watched& cluster) {
                      change_gangs(cluster);
                      cluster.server_.restore();
                      cluster.put_job("g1", "g1", 7);
                    }),
        gangs_while("jobs_forbidden_for_a_while",
                    [](Watched& cluster) {
                      for (int i = 0; i < 3; ++i)
                        cluster.server_.answer_next("list jobs.batch", {403, "", ""});
                      cluster.server_.disturb("jobs.batch", Fault::kCutBetween);
                      change_gangs(cluster);
                    }),
        gangs_while("watch_of_jobs_forbidden_for_a_while",
                    [](Watched& cluster) {
                      cluster.server_.answer_next("watch jobs.batch", {403, "", ""});
                      cluster.server_.disturb("jobs.batch", Fault::kCutBetween);
                      change_gangs(cluster);
                    }),
        gangs_while("jobs_taken_away",
                    [](Watched& cluster) {
                      cluster.server_.uninstall("jobs.batch");
                      cluster.put_pod("g1-2", "uid-g1-2", "", 1, "g1");
                      eventually([&] { return cluster.server_.open_watches("jobs.batch") == 0; });
                      cluster.server_.install("jobs.batch", "v1");
                    }),
        gangs_while("jobs_in_a_later_version_of_the_server",
                    [](Watched& cluster) {
                      cluster.server_.uninstall("jobs.batch");
                      eventually([&] {
                        return cluster.watcher_->stats().gang_sources[0].state ==
                               GangSourceState::kAbsent;
                      });
                      change_gangs(cluster);
                      cluster.server_.install("jobs.batch", "v1");
                      cluster.put_job("g3", "g3", 4);
                    }),
        gangs_while("a_gang_made_again_under_its_name",
                    [](Watched& cluster) {
                      for (const auto* pod : {"g1-0", "g1-1"})
                        cluster.server_.remove("pods", pod);
                      cluster.server_.remove("jobs.batch", "g1");
                      for (const auto& resource : kAllResources)
                        cluster.server_.disturb(resource, Fault::kCutInsideLine);
                      cluster.put_job("g1", "g1", 5);
                      cluster.put_pod("g1-0", "uid-g1-0b", "node-a", 1, "g1");
                      cluster.put_pod("g1-1", "uid-g1-1b", "", 1, "g1");
                    }),
        gangs_while("a_whole_gang_bound_during_an_outage",
                    [](Watched& cluster) {
                      for (const auto& resource : kAllResources) {
                        cluster.server_.answer_next("list " + resource, {503, "", ""});
                        cluster.server_.disturb(resource, Fault::kCutBetween);
                      }
                      cluster.put_pod("g1-0", "uid-g1-0", "node-a", 1, "g1");
                      cluster.put_pod("g1-1", "uid-g1-1", "node-b", 1, "g1");
                    }),
        gangs_while("everything_gone",
                    [](Watched& cluster) {
                      for (const auto& resource : kAllResources)
                        cluster.server_.disturb(resource, Fault::kGoneEvent);
                      for (const auto* pod : {"g1-0", "g1-1", "g2-0"})
                        cluster.server_.remove("pods", pod);
                      cluster.server_.remove("jobs.batch", "g1");
                      cluster.server_.remove("statefulsets.apps", "g2");
                    })),
    [](const auto& tested) { return tested.param.name; });

// Random changes, with faults strewn in between.
class RandomHistory : public testing::TestWithParam<unsigned> {};

TEST_P(RandomHistory, ends_where_an_undisturbed_one_ends) {
  std::mt19937 random(GetParam());
  const auto draw = [&](unsigned below) { return random() % below; };
  constexpr Fault kFaults[] = {Fault::kCutInsideLine, Fault::kCutBetween, Fault::kCleanEnd,
                               Fault::kEndInsideLine, Fault::kGarbage,    Fault::kGoneEvent,
                               Fault::kErrorEvent,    Fault::kBookmark,   Fault::kUnknownType};
  Watched cluster;
  cluster.server_.install("jobs.batch", "v1");
  cluster.server_.install("statefulsets.apps", "v1");
  cluster.put_node("node-0", 8);
  cluster.start(options_with_gangs());
  unsigned uid = 0;
  std::map<std::string, std::pair<std::string, std::string>> waiting;  // pod -> UID, gang
  for (int step = 0; step < 160; ++step) {
    const std::string node = "node-" + std::to_string(draw(6));
    const std::string pod = "pod-" + std::to_string(draw(20));
    const std::string gang = draw(3) == 0 ? "" : "gang-" + std::to_string(draw(4));
    const std::string& resource = kAllResources[draw(4)];
    switch (draw(14)) {
      case 0:
      case 1:
        cluster.put_node(node, static_cast<int>(draw(9)));
        break;
      case 2:
        cluster.server_.remove("nodes", node);
        break;
      case 3:
      case 4:
      case 5: {
        // Kubernetes never moves a pod: another node means another pod.
        cluster.server_.remove("pods", pod);
        const std::string fresh = "uid-" + std::to_string(++uid);
        const bool waits = draw(2) == 0;
        cluster.put_pod(pod, fresh, waits ? "" : node, static_cast<int>(draw(4)), gang);
        waiting.erase(pod);
        if (waits) waiting[pod] = {fresh, gang};
        break;
      }
      case 6:
        cluster.server_.remove("pods", pod);
        waiting.erase(pod);
        break;
      case 7:
        cluster.server_.disturb(resource, kFaults[draw(std::size(kFaults))]);
        break;
      case 8:
        if (draw(3) == 0) cluster.server_.compact();
        cluster.server_.send_events_twice(draw(2) == 0);
        cluster.server_.replay(draw(4));
        break;
      case 9:
      case 10:
        if (const auto bound = waiting.find(pod); bound != waiting.end()) {
          cluster.put_pod(pod, bound->second.first, node, 1, bound->second.second);
          waiting.erase(bound);
        }
        break;
      case 11:
        cluster.put_job("job-" + std::to_string(draw(4)), "gang-" + std::to_string(draw(4)),
                        static_cast<int>(draw(9)));
        break;
      case 12:
        if (draw(2) == 0) {
          cluster.server_.remove("jobs.batch", "job-" + std::to_string(draw(4)));
        } else {
          cluster.put_stateful_set("set", "gang-" + std::to_string(draw(4)),
                                   static_cast<int>(draw(9)));
        }
        break;
      default:
        if (draw(3) == 0) {
          const int statuses[] = {410, 429, 500, 503};
          cluster.server_.answer_next((draw(2) == 0 ? "list " : "watch ") + resource,
                                      {statuses[draw(4)], "", ""});
        }
        std::this_thread::sleep_for(std::chrono::microseconds(draw(3000)));
    }
  }
  EXPECT_TRUE(cluster.settles()) << describe(*cluster.watcher_->current()) << "instead of\n"
                                 << cluster.expected();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, testing::Range(1U, 41U));

}  // namespace
}  // namespace rankward::cluster
