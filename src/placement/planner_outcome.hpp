// A choice of nodes spelled out: slots in tree order, and what the gang gets there.
#pragma once

#include <cstdint>

#include "node_choice.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::placement {

struct OutcomeContext {
  const PlanNodes* nodes = nullptr;
  ShareTables* tables = nullptr;
  const Snapshot* snapshot = nullptr;
  const Options* options = nullptr;
  const Request* request = nullptr;
  std::uint32_t tier = 0;      // that the gang crosses
  std::int64_t gpus = 0;       // G
  bool as_one_of_two = false;  // a lone pod, priced as one of two on two nodes under one leaf
};

[[nodiscard]] Plan spell_out(const NodeChoice& choice, const OutcomeContext& context);

}  // namespace rankward::placement
