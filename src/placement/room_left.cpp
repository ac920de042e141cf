#include "room_left.hpp"

namespace rankward::placement {

bool is_taken_by_others(const Request& request, const NodeState& node, std::span<const Held> held) {
  if (held.empty()) return false;
  const std::string_view own = request.gang ? std::string_view(request.gang->key) : "";
  const auto short_of = [&](std::string_view resource, std::int64_t need) {
    if (need <= 0) return false;
    const std::int64_t taken = held_by_others(held, own, resource);
    if (taken == 0) return false;
    const auto free = node.free(resource);
    return free && *free - taken < need;
  };
  if (short_of("pods", 1)) return true;
  for (const auto& [name, amount] : request.resources) {
    if (short_of(name, amount.value())) return true;
  }
  return false;
}

}  // namespace rankward::placement
