// What is known of gangs while a Snapshot is in the making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/placement/gang.hpp"

namespace rankward::placement {

class GangRoster {
 public:
  struct Gang {
    std::map<std::string, std::uint32_t> bound;    // node name -> members on it
    std::map<std::string, PendingMember> pending;  // by UID
    // By owner, then by the place among what that owner says.
    std::map<std::pair<std::string, std::size_t>, GangFacts> facts;
    std::shared_ptr<const GangState> state;  // as last made; null: none
    bool state_changed = false;

    [[nodiscard]] bool empty() const { return bound.empty() && pending.empty() && facts.empty(); }
  };
  using Gangs = std::map<std::string, Gang, std::less<>>;

  void bind(const std::string& gang_key, const std::string& node);
  void unbind(const std::string& gang_key, const std::string& node);
  // Returns the gang's key, which lives as long as the gang has a member.
  const std::string& put_pending(PendingMember member);
  void remove_pending(const std::string& gang_key, const std::string& uid);
  // All members, bound and pending; facts stay.
  void clear_members();
  void put_facts(const std::string& owner, std::vector<GangFacts> facts);
  void remove_facts(std::string_view owner);
  void clear_facts(std::string_view owner_prefix);

  // By key. States are made anew where something has changed since the last call.
  [[nodiscard]] const Gangs& refreshed();
  // Keys of gangs that have changed since forget_changes(), those that are gone included.
  [[nodiscard]] const std::set<std::string, std::less<>>& changed() const { return changed_; }
  void forget_changes() { changed_.clear(); }

 private:
  Gang& touched(const std::string& gang_key);
  void drop_if_empty(const std::string& gang_key);
  [[nodiscard]] bool has_said(const std::string& owner, const std::vector<GangFacts>& facts) const;
  void drop_facts(const std::string& owner, const std::vector<std::string>& gang_keys);

  Gangs gangs_;
  std::map<std::string, std::vector<std::string>, std::less<>> owners_;  // -> gangs they speak of
  std::set<std::string, std::less<>> changed_;
};

}  // namespace rankward::placement
