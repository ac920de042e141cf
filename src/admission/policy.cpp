#include "rankward/admission/policy.hpp"

#include <algorithm>

#include "host_path_table.hpp"
#include "owner_kind.hpp"
#include "policy_checks.hpp"
#include "rankward/admission/rules.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_glob(pattern, text); });
}

std::string element(std::string_view list, std::size_t index, std::string_view member) {
  std::string out(list);
  return out.append("[").append(std::to_string(index)).append("].").append(member);
}

template <class Range, class Name>
std::string listed(const Range& range, Name name) {
  std::string out;
  for (const auto& item : range)
    out.append(out.empty() ? "" : ", ").append(name(item));
  return out;
}

std::string rule_ids() {
  return listed(catalogue(), [](const RuleInfo& info) { return info.id; });
}

Error unknown_rule(std::string_view written) {
  return Error::invalid("unknown rule " + in_quotes(written) + "; must be one of " + rule_ids());
}

Result<Mode> parse_mode(const std::string& written) {
  if (const auto mode = mode_from_string(written)) return *mode;
  return Error::invalid("unknown mode " + in_quotes(written) + "; must be one of " +
                        listed(mode_names(), [](std::string_view name) { return name; }));
}

Result<void> check_exempted_rule(const std::string& written) {
  const RuleInfo* info = find_rule(written);
  if (info == nullptr) return unknown_rule(written);
  if (!info->exemptible)
    return Error::invalid(written + " allows no exemption; set its mode instead");
  return {};
}

Result<void> check_exemption(const ExemptionOption& option) {
  const auto must = [](std::string_view member, std::string_view what) {
    return Error::invalid(std::string(what)).at_field(std::string(member));
  };
  if (option.namespaces.empty()) return must("namespaces", "must name at least one namespace");
  if (option.service_accounts.empty())
    return must("serviceAccounts",
                "must name at least one service account (\"default\" for pods that name none)");
  if (option.rules.empty()) return must("rules", "must name at least one of " + rule_ids());
  for (std::size_t i = 0; i < option.rules.size(); ++i)
    if (auto checked = check_exempted_rule(option.rules[i]); !checked)
      return std::move(checked.error()).at_field("rules[" + std::to_string(i) + "]");
  if (option.reason.empty())
    return must("reason", "must say why, for those who read the audit log");
  if (!option.expires) return must("expires", "must be the time from which it no longer holds");
  return {};
}

std::vector<std::string> all_exemptible_rules() {
  std::vector<std::string> ids;
  for (const RuleInfo& info : catalogue())
    if (info.exemptible) ids.emplace_back(info.id);
  return ids;
}

}  // namespace

Policy::Policy() {
  *this = std::move(Policy::make(PolicyOptions{}).value());
}

Result<Policy> Policy::make(PolicyOptions options) {
  Policy policy(std::move(options));
  if (auto added = policy.add_modes(); !added) return std::move(added.error());
  if (auto added = policy.add_exemptions(); !added) return std::move(added.error());
  if (auto added = policy.add_presets(); !added) return std::move(added.error());
  const std::string& workloads = policy.options_.workloads;
  if (workloads != "warn" && workloads != "deny")
    return Error::invalid("unknown value " + in_quotes(workloads) + "; must be one of warn, deny")
        .at_field("workloads");
  policy.denies_workloads_ = workloads == "deny";
  if (auto ok = policy.add_vendors(); !ok) return std::move(ok.error());
  if (auto ok = check_allowed_host_paths(policy.options_); !ok) return std::move(ok.error());
  if (auto ok = check_fabric_tests(policy.options_.fabric_tests); !ok) return std::move(ok.error());
  return policy;
}

Result<void> Policy::add_modes() {
  for (std::size_t i = 0; i < options_.modes.size(); ++i) {
    const ModeOption& option = options_.modes[i];
    if (find_rule(option.rule) == nullptr)
      return unknown_rule(option.rule).at_field(element("modes", i, "rule"));
    auto mode = parse_mode(option.mode);
    if (!mode) return std::move(mode.error()).at_field(element("modes", i, "mode"));
    Modes& modes = modes_[option.rule];
    if (option.namespaces.empty()) modes.everywhere = *mode;
    for (const std::string& name : option.namespaces)
      modes.by_namespace[name] = *mode;
  }
  return {};
}

Result<void> Policy::add_exemptions() {
  for (std::size_t i = 0; i < options_.exemptions.size(); ++i) {
    const ExemptionOption& option = options_.exemptions[i];
    const std::string name = "exemptions[" + std::to_string(i) + "]";
    if (auto checked = check_exemption(option); !checked)
      return std::move(checked.error()).under(name);
    Exemption exemption{
        option.namespaces, option.service_accounts, option.owner_kinds, option.rules, name,
        option.reason,     option.expires};
    for (std::string& kind : exemption.owner_kinds)
      kind = owner_kind_of_pods(kind);
    exemptions_.push_back(std::move(exemption));
  }
  return {};
}

Result<void> Policy::add_presets() {
  for (std::size_t i = 0; i < options_.presets.size(); ++i) {
    const PresetOption& option = options_.presets[i];
    const auto known = presets();
    const auto preset = std::find_if(known.begin(), known.end(), [&](const Preset& candidate) {
      return candidate.name == option.name;
    });
    if (preset == known.end())
      return Error::invalid("unknown preset " + in_quotes(option.name) + "; must be one of " +
                            listed(known, [](const Preset& p) { return p.name; }))
          .at_field(element("presets", i, "name"));
    Exemption exemption;
    exemption.name = preset->name;
    exemption.reason = preset->reason;
    exemption.namespaces = option.namespaces;
    if (exemption.namespaces.empty())
      exemption.namespaces.assign(preset->namespaces.begin(), preset->namespaces.end());
    exemption.service_accounts.assign(preset->service_accounts.begin(),
                                      preset->service_accounts.end());
    exemption.owner_kinds.assign(preset->owner_kinds.begin(), preset->owner_kinds.end());
    if (preset->rules.empty()) {
      exemption.rules = all_exemptible_rules();
    } else {
      exemption.rules.assign(preset->rules.begin(), preset->rules.end());
    }
    exemptions_.push_back(std::move(exemption));
  }
  return {};
}

Result<void> Policy::add_vendors() {
  if (auto ok = check_vendors(options_); !ok) return ok;
  device_variables_ = options_.env_names;
  for (const VendorOption& vendor : options_.vendors)
    device_variables_.insert(device_variables_.end(), vendor.env_names.begin(),
                             vendor.env_names.end());
  host_paths_ = std::make_shared<const HostPathTable>(options_.vendors);
  return {};
}

std::optional<Mode> Policy::mode(std::string_view rule, std::string_view namespace_) const {
  const auto modes = modes_.find(rule);
  if (modes == modes_.end()) return std::nullopt;
  const auto here = modes->second.by_namespace.find(namespace_);
  return here != modes->second.by_namespace.end() ? std::optional(here->second)
                                                  : modes->second.everywhere;
}

bool Policy::excludes(std::string_view namespace_) const {
  return contains(options_.excluded_namespaces, namespace_);
}

const Exemption* Policy::exemption(std::string_view rule, std::string_view namespace_,
                                   std::string_view service_account, std::string_view owner_kind,
                                   UnixSeconds now) const {
  for (const Exemption& exemption : exemptions_) {
    if (exemption.expires && now >= *exemption.expires) continue;
    if (contains(exemption.namespaces, namespace_) &&
        contains(exemption.service_accounts, service_account) &&
        (exemption.owner_kinds.empty() || contains(exemption.owner_kinds, owner_kind)) &&
        contains(exemption.rules, rule))
      return &exemption;
  }
  return nullptr;
}

std::vector<ExpiringExemption> expiring_exemptions(const Policy& policy, UnixSeconds now,
                                                   UnixSeconds within) {
  std::vector<ExpiringExemption> out;
  for (const Exemption& exemption : policy.exemptions()) {
    if (!exemption.expires || *exemption.expires - now > within) continue;
    out.push_back(
        {exemption.name, exemption.reason, *exemption.expires, *exemption.expires <= now});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.expires < b.expires; });
  return out;
}

bool Policy::is_gpu_runtime_class(std::string_view name) const {
  return any_matches(options_.runtime_classes, name);
}

bool Policy::is_device_variable(std::string_view name) const {
  return contains(device_variables_, name);
}

bool Policy::is_vendor_resource(std::string_view name) const {
  return std::any_of(
      options_.vendors.begin(), options_.vendors.end(), [&](const VendorOption& vendor) {
        return std::any_of(
            vendor.resources.begin(), vendor.resources.end(),
            [&](const std::string& pattern) { return matches_segments(pattern, name); });
      });
}

bool Policy::is_gpu_node_label(std::string_view key) const {
  return any_matches(options_.gpu_node_labels, key);
}

bool Policy::is_gpu_toleration_key(std::string_view key) const {
  return any_matches(options_.gpu_toleration_keys, key);
}

}  // namespace rankward::admission
