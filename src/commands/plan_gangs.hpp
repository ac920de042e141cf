// Whole gangs for `rankward plan`: one block for all ranks in place of a table for each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankward/commands/console.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/placement/gang_call.hpp"

namespace rankward::commands {

struct GangPlan {
  std::string key;
  placement::GangOutcome outcome;
  std::shared_ptr<const placement::Snapshot> snapshot;

  [[nodiscard]] bool planned() const {
    return outcome.standing == placement::GangStanding::kPlanned;
  }
  // The node of that pod's rank; "" where it has none.
  [[nodiscard]] std::string node_of(const kube::Pod& pod) const;
};

// The gang of a pod that the snapshot shows pending, planned as the extender would. Nothing for
// pods without a gang, of a gang of one, and where the gang's size is not known: those go one by
// one.
[[nodiscard]] std::optional<GangPlan> plan_gang_of(
    const kube::Pod& pod, std::shared_ptr<const placement::Snapshot> snapshot);

void print_gang(const GangPlan& plan, const Console& console);
void write_gang(const GangPlan& plan, formats::JsonWriter& json);

}  // namespace rankward::commands
