// The parts of metav1.ObjectMeta that are read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankward::kube {

using StringMap = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  // metadata.deletionTimestamp is set: the object is on its way out.
  bool deleting = false;

  // "namespace/name", or the name alone for what has no namespace; generateName where no name is
  // set.
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] const OwnerReference* controller() const;
};

// nullptr where the key is absent, so that absent and "" stay two things.
[[nodiscard]] const std::string* find(const StringMap& map, std::string_view key);

}  // namespace rankward::kube
