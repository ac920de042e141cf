// What the preempt verb asks: does the node take the pod once its victims are gone.
#pragma once

#include <span>
#include <string_view>

#include "rankward/placement/reservations.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// The node judged without the holders of these UIDs, as in a filter call: the scheduler has done
// its own counting. UIDs that hold nothing here are passed over; no victims at all is a candidate
// too (preemption by an extender earlier in the chain, or victims that have gone meanwhile).
// `held`: what gangs with plans hold on the node; nobody is evicted to make room that others have
// been promised.
[[nodiscard]] bool fits_after_preemption(const Request& request, const kube::PodSpec& spec,
                                         const NodeState& node,
                                         std::span<const std::string_view> victims,
                                         std::span<const Held> held, const Options& options);

}  // namespace rankward::placement
