// The annotation in which a node's report of its own hardware stands. Its JSON Schema is
// docs/rankward-topology.schema.json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::formats {

inline constexpr std::string_view kTopologyAnnotation = "rankward.io/topology";
inline constexpr std::size_t kMaxTopologyBytes = 16 * 1024;

// Strict about the types of the keys that it knows and about shapes (a matrix has one row a GPU),
// tolerant of keys that it does not know. What is absent or null stays unknown. `sources` is
// Source::kAnnotation. Refused: another version than 1, more than 16 KiB.
[[nodiscard]] Result<topology::NodeTopology> read_topology(std::string_view annotation);

// Compact JSON. UUIDs are left out where it would not fit with them; kTooLarge where it does not
// fit without. Facts that only labels give (fabric, product, sharing mode) are not written.
[[nodiscard]] Result<std::string> print_topology(const topology::NodeTopology& topology);

}  // namespace rankward::formats
