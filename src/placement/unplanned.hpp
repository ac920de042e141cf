// A gang without a plan: what has to be seen before it can get one, and what is remembered of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rankward/kube/pod.hpp"
#include "rankward/placement/reservations.hpp"

namespace rankward::placement {

// Whether the gang's size is not known, but its owner is watched and may come any moment. `pod` is
// one of the gang's.
[[nodiscard]] bool awaits_owner(const ClusterView& view, std::string_view gang_key,
                                const kube::Pod& pod, Instant now);

// Whether a rank other than `uid` was placed by itself and the watch has not shown where.
[[nodiscard]] bool has_unseen_rank(const ClusterView& view, std::string_view gang_key,
                                   std::string_view uid, Instant now);

// What is to be remembered after a call that was told to wait; null: it is already.
[[nodiscard]] std::shared_ptr<const Unplanned> with_call(const Reservations& reservations,
                                                         const std::string& gang_key, Instant now);

// After one whose pod may be bound to any of several nodes now; null: that was less than
// `least_milliseconds` ago the last time, since each change is a publication.
[[nodiscard]] std::shared_ptr<const Unplanned> with_rank_let_go(const Reservations& reservations,
                                                                const std::string& gang_key,
                                                                const std::string& uid, Instant now,
                                                                std::int64_t least_milliseconds);

}  // namespace rankward::placement
