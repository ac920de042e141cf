#include "scan_owner.hpp"

#include <string_view>

namespace rankward::commands {

std::string owner_of(const kube::ObjectMeta& pod) {
  const kube::OwnerReference* owner = pod.controller();
  if (owner == nullptr) return "Pod/" + (pod.name.empty() ? pod.generate_name : pod.name);
  const std::string* hash = kube::find(pod.labels, "pod-template-hash");
  if (owner->kind == "ReplicaSet" && hash != nullptr && !hash->empty()) {
    const std::string ending = "-" + *hash;
    const std::string_view name = owner->name;
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
      return "Deployment/" + std::string(name.substr(0, name.size() - ending.size()));
    }
  }
  return owner->kind + "/" + owner->name;
}

}  // namespace rankward::commands
