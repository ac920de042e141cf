// The demo's pictures.
#pragma once

#include <map>
#include <string>

#include "demo_client.hpp"
#include "rankward/commands/console.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::commands {

// The fabric as a tree; beside each node who stands there, or why nobody does. `before` is the
// cluster as the first rank saw it, `rank_of_node` what was placed.
void draw_cluster(const kube::Pod& first_rank, const placement::Snapshot& before,
                  const std::map<std::string, std::string>& rank_of_node, const Console& console);

void draw_denial(const Denial& denial, const Console& console);

}  // namespace rankward::commands
