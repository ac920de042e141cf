// The fabric as the packers see it: levels of node labels, the host at the bottom.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace rankward::sim {

using DomainIndex = std::uint32_t;

struct Domain {
  std::string path;  // from the top, "spine/leaf/host": unique, and the order of equals
  DomainIndex parent = 0;
  std::vector<DomainIndex> children;  // by path
};

// The root is domain 0 at level 0; hosts are the last level. Hosts without labels hang below one
// domain of each level.
class TopologyTree {
 public:
  explicit TopologyTree(const placement::Snapshot& snapshot);

  [[nodiscard]] const std::vector<std::vector<DomainIndex>>& levels() const { return levels_; }
  [[nodiscard]] const Domain& domain(DomainIndex index) const { return domains_[index]; }
  [[nodiscard]] std::size_t size() const { return domains_.size(); }
  [[nodiscard]] std::size_t host_level() const { return levels_.size() - 1; }
  [[nodiscard]] DomainIndex of_host(HostIndex host) const { return of_host_[host]; }
  // Only for domains of the host level.
  [[nodiscard]] HostIndex host(DomainIndex domain) const { return host_of_[domain]; }

  // Sums over the hosts below each domain, by domain.
  [[nodiscard]] std::vector<std::int64_t> rolled_up(
      const std::function<std::int64_t(HostIndex)>& of_host) const;

 private:
  std::vector<Domain> domains_;
  std::vector<std::vector<DomainIndex>> levels_;
  std::vector<DomainIndex> of_host_;
  std::vector<HostIndex> host_of_;
};

}  // namespace rankward::sim
