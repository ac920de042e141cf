#include <algorithm>

#include "checks.hpp"

namespace rankward::placement {

namespace {

using topology::Bytes;

// Time-slicing divides nothing, so what others have declared is taken from the same cards. Which
// card a replica is on nobody says: only what cannot fit on all of them together is refused.
bool does_not_fit_beside_others(const Question& question, Bytes card, Bytes need) {
  std::int64_t cards = std::max<std::int64_t>(1, question.topology.gpu_count.value_or(1));
  if (!question.topology.gpus.empty()) {
    cards = static_cast<std::int64_t>(question.topology.gpus.size());
  }
  std::int64_t all = 0;
  std::int64_t wanted = 0;
  if (__builtin_mul_overflow(card.count, cards, &all)) return false;
  if (__builtin_mul_overflow(need.count, question.device.count, &wanted) ||
      __builtin_add_overflow(wanted, co_tenants(question).declared.count, &wanted)) {
    return true;
  }
  return wanted > all;
}

}  // namespace

bool device_memory_is_too_small(const Question& question) {
  const auto need = question.request.gpu_memory;
  if (!need) return false;
  const auto has = device_memory(question);
  if (!has) return false;
  if (*need > *has) return true;
  const bool time_sliced = question.shared() &&
                           question.topology.sharing == topology::SharingMode::kTimeSlicing &&
                           !kube::mig_profile(question.device.resource);
  return time_sliced && does_not_fit_beside_others(question, *has, *need);
}

}  // namespace rankward::placement
