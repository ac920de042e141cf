// Pods, Nodes and lists of them as the API server writes them: JSON in, values out, without a DOM.
// Absent and null are the same thing, unknown fields are passed over. Refused with the byte offset
// and the field: what is not JSON, bad UTF-8, more than 64 levels, a key twice at the top level or
// among the keys that are read, a number outside its field's range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// Objects and arrays inside each other, counted from the outermost value of the input.
inline constexpr std::size_t kMaxJsonDepth = 64;

// An amount that Kubernetes cannot read is an error here: the API server stores no such Pod.
[[nodiscard]] Result<kube::Pod> read_pod(std::string_view json);
[[nodiscard]] Result<kube::Node> read_node(std::string_view json);
// `metadata` and `spec` of a template. Amounts that cannot be read stay in
// ResourceRequirements::unreadable, since nobody validates the templates of custom resources.
[[nodiscard]] Result<kube::PodTemplate> read_pod_template(std::string_view json);

// What every object says of itself.
struct ObjectHead {
  std::string api_version;
  std::string kind;
  kube::ObjectMeta metadata;
};
[[nodiscard]] Result<ObjectHead> read_object_head(std::string_view json);

struct ListMeta {
  std::string resource_version;
  std::string continue_token;  // empty on the last page
};

// Gives each item's JSON to `item`, in order, as a view into `json`; an error of `item` ends the
// read and comes back under `items[i]`. The list's own metadata may stand before or after the
// items.
[[nodiscard]] Result<ListMeta> read_list(
    std::string_view json, const std::function<Result<void>(std::string_view item_json)>& item);

// One line of a watch. `object_json` is a view into the line.
struct WatchEvent {
  std::string type;  // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
  std::string_view object_json;
  std::string resource_version;  // of the object; empty for ERROR
  std::int32_t code = 0;         // of the Status in an ERROR event; 410: list again
  std::string message;           // of that Status
};
[[nodiscard]] Result<WatchEvent> read_watch_event(std::string_view line);

}  // namespace rankward::formats
