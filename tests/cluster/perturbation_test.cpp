// Whatever happens on the way, the end is what an undisturbed client would see.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "watched.hpp"

namespace rankward::cluster {
namespace {

struct Perturbation {
  std::string name;
  std::function<void(Watched&)> happens;
  bool relists;  // whether it has to end in a new list
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

// Random changes, with faults strewn in between.
class RandomHistory : public testing::TestWithParam<unsigned> {};

TEST_P(RandomHistory, ends_where_an_undisturbed_one_ends) {
  std::mt19937 random(GetParam());
  const auto draw = [&](unsigned below) { return random() % below; };
  constexpr Fault kFaults[] = {Fault::kCutInsideLine, Fault::kCutBetween, Fault::kCleanEnd,
                               Fault::kEndInsideLine, Fault::kGarbage,    Fault::kGoneEvent,
                               Fault::kErrorEvent,    Fault::kBookmark,   Fault::kUnknownType};
  Watched cluster;
  cluster.put_node("node-0", 8);
  cluster.start();
  unsigned uid = 0;
  for (int step = 0; step < 120; ++step) {
    const std::string node = "node-" + std::to_string(draw(6));
    const std::string pod = "pod-" + std::to_string(draw(20));
    const std::string resource = draw(2) == 0 ? "nodes" : "pods";
    switch (draw(10)) {
      case 0:
      case 1:
        cluster.put_node(node, static_cast<int>(draw(9)));
        break;
      case 2:
        cluster.server_.remove("nodes", node);
        break;
      case 3:
      case 4:
      case 5:
        // Kubernetes never moves a pod: another node means another pod.
        cluster.server_.remove("pods", pod);
        cluster.put_pod(pod, "uid-" + std::to_string(++uid), node, static_cast<int>(draw(4)));
        break;
      case 6:
        cluster.server_.remove("pods", pod);
        break;
      case 7:
        cluster.server_.disturb(resource, kFaults[draw(std::size(kFaults))]);
        break;
      case 8:
        if (draw(3) == 0) cluster.server_.compact();
        cluster.server_.send_events_twice(draw(2) == 0);
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
