#include "gang_roster.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace rankward::placement {

namespace {

// Unknown ranks behind the known ones.
bool before(const PendingMember& a, const PendingMember& b) {
  const auto order = [](const PendingMember& member) {
    const auto rank = member.rank();
    return std::tuple(!rank.has_value(), rank.value_or(0), std::string_view(member.pod),
                      std::string_view(member.uid));
  };
  return order(a) < order(b);
}

std::shared_ptr<const GangState> state_of(const std::string& key, const GangRoster::Gang& gang) {
  if (gang.pending.empty() && gang.facts.empty()) return nullptr;
  auto state = std::make_shared<GangState>();
  state->key = key;
  state->pending.reserve(gang.pending.size());
  for (const auto& [uid, member] : gang.pending)
    state->pending.push_back(member);
  std::sort(state->pending.begin(), state->pending.end(), before);
  state->facts.reserve(gang.facts.size());
  for (const auto& [owner, facts] : gang.facts)
    state->facts.push_back(facts);
  return state;
}

}  // namespace

GangRoster::Gang& GangRoster::touched(const std::string& gang_key) {
  changed_.insert(gang_key);
  return gangs_[gang_key];
}

void GangRoster::drop_if_empty(const std::string& gang_key) {
  const auto gang = gangs_.find(gang_key);
  if (gang != gangs_.end() && gang->second.empty()) gangs_.erase(gang);
}

void GangRoster::bind(const std::string& gang_key, const std::string& node) {
  ++touched(gang_key).bound[node];
}

void GangRoster::unbind(const std::string& gang_key, const std::string& node) {
  auto& bound = touched(gang_key).bound;
  const auto members = bound.find(node);
  if (members != bound.end() && --members->second == 0) bound.erase(members);
  drop_if_empty(gang_key);
}

const std::string& GangRoster::put_pending(PendingMember member) {
  const std::string& key = member.request->gang->key;
  Gang& gang = touched(key);
  gang.state_changed = true;
  const auto place = gangs_.find(key);
  gang.pending.insert_or_assign(member.uid, std::move(member));
  return place->first;
}

void GangRoster::remove_pending(const std::string& gang_key, const std::string& uid) {
  Gang& gang = touched(gang_key);
  gang.state_changed = true;
  gang.pending.erase(uid);
  drop_if_empty(gang_key);
}

void GangRoster::clear_members() {
  for (auto it = gangs_.begin(); it != gangs_.end();) {
    auto& [key, gang] = *it;
    if (!gang.bound.empty() || !gang.pending.empty()) changed_.insert(key);
    gang.state_changed = gang.state_changed || !gang.pending.empty();
    gang.bound.clear();
    gang.pending.clear();
    it = gang.empty() ? gangs_.erase(it) : std::next(it);
  }
}

void GangRoster::drop_facts(const std::string& owner, const std::vector<std::string>& gang_keys) {
  for (const std::string& key : gang_keys) {
    Gang& gang = touched(key);
    gang.state_changed = true;
    for (auto it = gang.facts.lower_bound({owner, 0});
         it != gang.facts.end() && it->first.first == owner;) {
      it = gang.facts.erase(it);
    }
    drop_if_empty(key);
  }
}

bool GangRoster::has_said(const std::string& owner, const std::vector<GangFacts>& facts) const {
  const auto keys = owners_.find(owner);
  if (keys == owners_.end()) return facts.empty();
  if (keys->second.size() != facts.size()) return false;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (keys->second[i] != facts[i].gang_key) return false;
    if (gangs_.find(facts[i].gang_key)->second.facts.at({owner, i}) != facts[i]) return false;
  }
  return true;
}

void GangRoster::put_facts(const std::string& owner, std::vector<GangFacts> facts) {
  // Owners come with every change of their status.
  if (has_said(owner, facts)) return;
  remove_facts(owner);
  if (facts.empty()) return;
  auto& keys = owners_[owner];
  for (std::size_t i = 0; i < facts.size(); ++i) {
    keys.push_back(facts[i].gang_key);
    Gang& gang = touched(facts[i].gang_key);
    gang.state_changed = true;
    gang.facts.insert_or_assign({owner, i}, std::move(facts[i]));
  }
}

void GangRoster::remove_facts(std::string_view owner) {
  const auto place = owners_.find(owner);
  if (place == owners_.end()) return;
  drop_facts(place->first, place->second);
  owners_.erase(place);
}

void GangRoster::clear_facts(std::string_view owner_prefix) {
  for (auto it = owners_.lower_bound(owner_prefix);
       it != owners_.end() && it->first.compare(0, owner_prefix.size(), owner_prefix) == 0;) {
    drop_facts(it->first, it->second);
    it = owners_.erase(it);
  }
}

const GangRoster::Gangs& GangRoster::refreshed() {
  for (const std::string& key : changed_) {
    const auto gang = gangs_.find(key);
    if (gang == gangs_.end() || !gang->second.state_changed) continue;
    gang->second.state = state_of(key, gang->second);
    gang->second.state_changed = false;
  }
  return gangs_;
}

}  // namespace rankward::placement
