// One writer puts values here, many readers take the newest.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace rankward::cluster {

// Each thread keeps a weak reference to what it took last and compares one version number, so that
// between two publications a reader does one atomic load and one reference count. The mutex is
// taken once a thread and publication, at most some 50 times a second. std::atomic<shared_ptr> is
// not used: in libstdc++ 12 it is a spin bit that all readers share, which TSan cannot follow. The
// reference is weak so that an idle thread keeps no old value in memory.
template <class T>
class Latest {
 public:
  Latest() : id_(next_id()), value_(empty()) {}
  Latest(const Latest&) = delete;
  Latest& operator=(const Latest&) = delete;

  // Null counts as an empty T.
  void store(std::shared_ptr<const T> value) {
    if (!value) value = empty();
    {
      const std::lock_guard lock(mutex_);
      value_.swap(value);
      version_.fetch_add(1, std::memory_order_release);
    }
    // The old value ends here, outside the lock, if nobody else has it: it may be large.
  }

  // Never null.
  [[nodiscard]] std::shared_ptr<const T> load() const {
    Taken& taken = taken_by_this_thread();
    if (taken.holder == id_ && taken.version == version_.load(std::memory_order_acquire)) {
      // Fails only where store() has just replaced it and nobody else holds it.
      if (auto value = taken.value.lock()) return value;
    }
    const std::lock_guard lock(mutex_);
    taken = {id_, version_.load(std::memory_order_relaxed), value_};
    return value_;
  }

 private:
  // One slot: a process has one holder of a type, tests a few.
  struct Taken {
    std::uint64_t holder = 0;
    std::uint64_t version = 0;
    std::weak_ptr<const T> value;
  };
  static Taken& taken_by_this_thread() {
    thread_local Taken taken;
    return taken;
  }
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
  static const std::shared_ptr<const T>& empty() {
    static const auto value = std::make_shared<const T>();
    return value;
  }

  const std::uint64_t id_;  // of this holder in a thread's cache; never used twice in a process
  std::atomic<std::uint64_t> version_{1};
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;  // under mutex_
};

}  // namespace rankward::cluster
