// Many gangs and single pods against one scheduler whose watch lags: nothing is given twice, and no
// gang is left half started.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "clusters.hpp"
#include "rankward/placement/gang_call.hpp"

namespace rankward::placement {
namespace {

using testing::hgx;
using testing::leaf;
using testing::node;
using testing::pod;
using testing::running_on;

constexpr std::int64_t kGpus = 8;

// A single pod's answer names many nodes, and which of them the scheduler took only the watch
// tells: so with single pods the watch is at once, with gangs alone it lags.
enum class Kind { kGangsAndSinglePods, kGangsUnderALaggingWatch };

class Race {
 public:
  Race(unsigned seed, Kind kind) : kind_(kind), random_(seed) {
    for (int i = 0; i < 8; ++i) {
      names_.push_back("n" + std::to_string(i));
      cluster_.add(
          node(names_.back(), {{"nvidia.com/gpu", kGpus}}, leaf(i < 4 ? "leaf-a" : "leaf-b")),
          hgx());
    }
    view_ = make_view(cluster_.snapshot(), std::make_shared<const Reservations>());
  }

  // Pods are created and end, the watch shows it late, the scheduler tries whoever waits.
  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      now_ += below(100);
      switch (below(10)) {
        case 0:
          create();
          break;
        case 1:
          if (below(4) == 0) end_one();
          break;
        case 2:
        case 3:
        case 4:
          deliver(1 + below(3));
          break;
        default:
          try_one();
      }
      if (kind_ == Kind::kGangsAndSinglePods) deliver(events_.size());
      check();
      if (::testing::Test::HasFailure()) return;
    }
  }

  // Nothing new comes; whoever waits is tried until nobody can be placed any more.
  void settle() {
    for (int idle = 0; idle < 2;) {
      deliver(events_.size());
      bool placed = false;
      const std::vector<std::string> waiting(pending_.begin(), pending_.end());
      for (const std::string& name : waiting) {
        placed = try_pod(name) || placed;
        deliver(events_.size());
      }
      check();
      if (::testing::Test::HasFailure()) return;
      idle = placed ? 0 : idle + 1;
      // What is held for pods that never come ends now.
      if (!placed) now_ += 700'000;
    }
    deliver(events_.size());
    for (const auto& [gang, members] : gangs_) {
      std::set<bool> standing;
      for (const std::string& name : members)
        standing.insert(bound_.contains(name));
      EXPECT_LT(standing.size(), 2U) << gang << " of " << members.size() << " is half started";
    }
  }

  [[nodiscard]] int whole() const { return whole_; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void create() {
    if (pending_.size() > 24) return;
    const std::string gang = "g" + std::to_string(created_++);
    if (kind_ == Kind::kGangsAndSinglePods && below(3) == 0) {
      add(pod(gang, {{"nvidia.com/gpu", 1 + static_cast<std::int64_t>(below(8))}}));
      return;
    }
    const auto size = static_cast<int>(2 + below(5));
    const std::int64_t gpus = std::int64_t{1} << below(4);
    const bool ranked = below(2) == 0;
    for (int rank = 0; rank < size; ++rank) {
      kube::Pod made =
          pod(gang + "-" + std::to_string(rank), {{"nvidia.com/gpu", gpus}},
              {{"rankward.io/gang", gang}, {"rankward.io/gang-size", std::to_string(size)}});
      if (ranked) made.metadata.annotations["rankward.io/rank"] = std::to_string(rank);
      gangs_[gang].push_back(made.metadata.name);
      add(std::move(made));
    }
  }

  void add(kube::Pod made) {
    pending_.insert(made.metadata.name);
    events_.push_back([this, made] { cluster_.add(made); });
    pods_.emplace(made.metadata.name, std::move(made));
  }

  // A whole gang or a single pod ends, running or not.
  void end_one() {
    if (pods_.empty()) return;
    auto place = pods_.begin();
    std::advance(place, below(pods_.size()));
    const auto gang = place->second.metadata.annotations.find("rankward.io/gang");
    std::vector<std::string> names{place->first};
    if (gang != place->second.metadata.annotations.end()) {
      names = gangs_[gang->second];
      whole_ += std::all_of(names.begin(), names.end(),
                            [this](const std::string& name) { return bound_.contains(name); });
      gangs_.erase(gang->second);
    }
    for (const std::string& name : names) {
      const auto bound = bound_.find(name);
      if (bound != bound_.end()) {
        used_[bound->second] -= gpus_of(name);
        bound_.erase(bound);
      }
      pending_.erase(name);
      pods_.erase(name);
      events_.push_back([this, name] { cluster_.remove("uid-" + name); });
    }
  }

  std::int64_t gpus_of(const std::string& name) {
    return make_request(pods_.at(name), {}).value().gpus();
  }

  void deliver(std::size_t count) {
    for (; count > 0 && !events_.empty(); --count) {
      events_.front()();
      events_.pop_front();
    }
    view_ = advance(*view_, cluster_.snapshot(), {static_cast<std::int64_t>(now_)}, {});
  }

  void try_one() {
    if (pending_.empty()) return;
    auto place = pending_.begin();
    std::advance(place, below(pending_.size()));
    try_pod(*place);
  }

  // The scheduler's own filter knows at once what it has bound; ours knows what the watch has
  // shown.
  bool try_pod(const std::string& name) {
    const kube::Pod asked = pods_.at(name);
    const std::int64_t gpus = gpus_of(name);
    std::vector<std::string_view> offered;
    for (const std::string& each : names_) {
      if (used_[each] + gpus <= kGpus) offered.push_back(each);
    }
    if (offered.empty()) return false;
    std::shuffle(offered.begin(), offered.end(), random_);
    const Request request = make_request(asked, {}).value();
    const CallAnswer answer =
        answer_call(*view_, request, asked, offered, {static_cast<std::int64_t>(now_)}, {});
    if (answer.next) view_ = make_view(view_->snapshot, answer.next);
    if (answer.ranking.fits.empty()) return false;
    // Other score plugins may have their way now and then.
    const std::size_t choice = below(8) == 0 ? below(answer.ranking.fits.size()) : 0;
    const std::string on(offered[answer.ranking.fits[choice].candidate]);
    used_[on] += gpus;
    bound_[name] = on;
    pending_.erase(name);
    events_.push_back([this, asked, on] { cluster_.add(running_on(on, asked)); });
    return true;
  }

  [[nodiscard]] std::string describe(const std::string& on) {
    std::string text = on;
    for (const auto& [name, where] : bound_) {
      if (where == on) text += "; " + name + " has " + std::to_string(gpus_of(name));
    }
    for (const auto& [key, reservation] : view_->reservations->all()) {
      for (const Slot& slot : reservation->parts.front().slots) {
        if (slot.node != on || slot.bound) continue;
        text += "; " + key + " holds " +
                std::to_string(reservation->parts.front().request->gpus()) + " for '" + slot.uid +
                "', plan " + std::to_string(reservation->plan_number);
      }
    }
    return text;
  }

  // By what is true, not by what the watch has shown: devices of bound pods, and places held for
  // pods that are not bound. A gang that has ended may hold on until the watch has shown all of it.
  void check() {
    auto sums = used_;
    for (const auto& [key, reservation] : view_->reservations->all()) {
      if (!gangs_.contains(key.substr(key.rfind('/') + 1))) continue;
      for (const ReservedPart& part : reservation->parts) {
        for (const Slot& slot : part.slots) {
          const bool stands =
              slot.bound || (!slot.uid.empty() && bound_.contains(slot.uid.substr(4)));
          if (!stands) sums[slot.node] += part.request->gpus();
        }
      }
    }
    for (const auto& [name, sum] : sums)
      ASSERT_LE(sum, kGpus) << "held places included: " << describe(name);
  }

  Kind kind_;
  std::mt19937_64 random_;
  testing::Cluster cluster_;
  std::vector<std::string> names_;
  std::shared_ptr<const ClusterView> view_;
  std::uint64_t now_ = 0;
  int created_ = 0;
  int whole_ = 0;
  std::map<std::string, kube::Pod> pods_;
  std::map<std::string, std::vector<std::string>> gangs_;
  std::set<std::string> pending_;
  std::map<std::string, std::string> bound_;
  std::map<std::string, std::int64_t> used_;
  std::deque<std::function<void()>> events_;
};

class GangRace : public ::testing::TestWithParam<Kind> {};

TEST_P(GangRace, NothingIsGivenTwiceAndNoGangIsLeftHalfStarted) {
  int whole = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Race race(seed, GetParam());
    race.run(300);
    if (!HasFailure()) race.settle();
    whole += race.whole();
    if (HasFailure()) return;
  }
  EXPECT_GT(whole, 200) << "gangs that ran whole and ended: else this shows nothing";
}

INSTANTIATE_TEST_SUITE_P(EachKind, GangRace,
                         ::testing::Values(Kind::kGangsAndSinglePods,
                                           Kind::kGangsUnderALaggingWatch));

}  // namespace
}  // namespace rankward::placement
