// Whether the rest of a gang will find room in the same part of the fabric.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// Adds up what each domain can host, so that the first ranks of a gang do not go to a leaf that is
// too small for all of them.
class DomainOutlook {
 public:
  explicit DomainOutlook(const Options& options) : options_(options) {}

  void add(const topology::FabricPosition& fabric, std::int64_t pods);
  // The lowest tier at which the domain around the node hosts that many pods.
  [[nodiscard]] std::uint32_t tier(const topology::FabricPosition& fabric, std::int64_t pods) const;

 private:
  const Options& options_;
  boost::unordered_flat_map<std::uint64_t, std::int64_t> room_;  // by hash of domain and tier
};

}  // namespace rankward::placement
