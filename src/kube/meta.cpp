#include "rankward/kube/meta.hpp"

#include <algorithm>

namespace rankward::kube {

std::string ObjectMeta::full_name() const {
  const std::string& own = name.empty() ? generate_name : name;
  return namespace_.empty() ? own : namespace_ + "/" + own;
}

const OwnerReference* ObjectMeta::controller() const {
  const auto it = std::find_if(owner_references.begin(), owner_references.end(),
                               [](const OwnerReference& owner) { return owner.controller; });
  return it == owner_references.end() ? nullptr : &*it;
}

const std::string* find(const StringMap& map, std::string_view key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace rankward::kube
