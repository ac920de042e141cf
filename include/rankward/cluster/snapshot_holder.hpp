// Where Snapshots are published.
#pragma once

#include "rankward/cluster/latest.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::cluster {

using SnapshotHolder = Latest<placement::Snapshot>;

}  // namespace rankward::cluster
