#include "webhook_guard.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankward/formats/objects.hpp"
#include "rankward/formats/stored_configuration.hpp"
#include "webhook_request.hpp"

namespace rankward::server {
namespace {

using admission::Policy;

// One configuration of a ConfigMap, as far as admission goes.
struct Stored {
  std::optional<Policy> policy;  // absent where it cannot be read
  std::string unreadable;
  bool of_a_webhook = true;  // an extender's own file grants nothing
};

using StoredByField = std::map<std::string, Stored>;

Stored stored_of(const Result<formats::Configuration>& configuration) {
  Stored out;
  if (!configuration) {
    out.unreadable = configuration.error().to_string();
    return out;
  }
  out.of_a_webhook = configuration->webhook_door;
  auto policy = Policy::make(configuration->admission);
  if (policy) {
    out.policy.emplace(std::move(*policy));
  } else {
    out.unreadable = std::move(policy.error()).under("admission").to_string();
  }
  return out;
}

Result<StoredByField> stored_in(std::string_view config_map) {
  StoredByField out;
  if (config_map.empty()) return out;
  auto found = formats::read_stored_configurations(config_map);
  if (!found) return std::move(found.error());
  for (formats::StoredConfiguration& each : *found)
    out.emplace(std::move(each.field), stored_of(each.configuration));
  return out;
}

Result<bool> is_deleting(std::string_view object) {
  if (object.empty()) return false;
  const auto head = formats::read_object_head(object);
  if (!head) return head.error();
  return head->metadata.deleting;
}

Result<admission::Judgement> guard_config_map(const Policy& policy,
                                              const formats::AdmissionRequest& request) {
  const auto deleting = is_deleting(request.object);
  if (!deleting) return deleting.error();
  const auto old = stored_in(request.old_object);
  if (!old) return old.error();
  const auto now = stored_in(request.object);
  if (!now) return now.error();

  const Policy defaults;
  std::vector<admission::ConfigurationChange> changes;
  const auto change = [&](const std::string& field, const Policy& before, const Stored* after) {
    changes.push_back({.field = field,
                       .before = &before,
                       .after = after == nullptr ? &defaults
                                : after->policy  ? &*after->policy
                                                 : nullptr,
                       .unreadable = after == nullptr ? std::string() : after->unreadable});
  };
  for (const auto& [field, stored] : *now) {
    const auto before = old->find(field);
    const bool was_there = before != old->end() && before->second.of_a_webhook;
    if (!stored.of_a_webhook) continue;
    // A file that cannot be read was there already: somebody has changed a label.
    if (was_there && !stored.policy && before->second.unreadable == stored.unreadable) continue;
    change(field, was_there && before->second.policy ? *before->second.policy : policy, &stored);
  }
  // A server without its file does not start, one that is given another starts from the defaults.
  for (const auto& [field, stored] : *old) {
    if (now->count(field) == 0 && stored.of_a_webhook && stored.policy && !*deleting)
      change(field, *stored.policy, nullptr);
  }
  if (*deleting) changes.clear();
  return admission::judge_configuration(policy, requester_of(request), request.namespace_, changes);
}

Result<admission::Judgement> guard_namespace(const Policy& policy,
                                             const formats::AdmissionRequest& request) {
  if (request.object.empty()) return admission::Judgement{};
  const auto head = formats::read_object_head(request.object);
  if (!head) return head.error();
  std::optional<formats::ObjectHead> old;
  if (!request.old_object.empty()) {
    auto read = formats::read_object_head(request.old_object);
    if (!read) return read.error();
    old = std::move(*read);
  }
  return admission::judge_namespace(policy, requester_of(request),
                                    {.operation = operation_of(request.operation),
                                     .metadata = head->metadata,
                                     .old_metadata = old ? &old->metadata : nullptr});
}

}  // namespace

bool is_guarded(const formats::GroupVersionKind& kind) {
  return kind.group.empty() && (kind.kind == "ConfigMap" || kind.kind == "Namespace");
}

Result<admission::Judgement> guard(const Policy& policy, const formats::AdmissionRequest& request) {
  return request.kind.kind == "ConfigMap" ? guard_config_map(policy, request)
                                          : guard_namespace(policy, request);
}

}  // namespace rankward::server
