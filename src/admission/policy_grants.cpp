// What one configuration lets through and another does not.
#include <algorithm>
#include <iterator>
#include <set>

#include "owner_kind.hpp"
#include "rankward/admission/rules.hpp"
#include "rankward/admission/self_guard.hpp"
#include "rankward/kube/quantity.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using Names = std::set<std::string, std::less<>>;

Names names_of(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

constexpr std::string_view kSchedulerNames = "schedulerNames";

bool within(const Names& part, const Names& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// The first few, in quotes.
template <class Range>
std::string listed(const Range& names) {
  constexpr std::size_t kListed = 3;
  std::string out;
  std::size_t count = 0;
  for (const auto& name : names) {
    if (++count > kListed) continue;
    out.append(out.empty() ? "" : ", ").append(in_quotes(name));
  }
  if (count > kListed) out += " and " + std::to_string(count - kListed) + " more";
  return out;
}

// An exemption or a preset, as far as it decides who may do what.
struct Cover {
  std::string field;
  Names namespaces;
  Names service_accounts;
  Names owner_kinds;  // empty: any
  Names rules;
  std::optional<UnixSeconds> expires;

  [[nodiscard]] bool covers(const Cover& other) const {
    const bool kinds = owner_kinds.empty() ||
                       (!other.owner_kinds.empty() && within(other.owner_kinds, owner_kinds));
    const bool time = !expires || (other.expires && *other.expires <= *expires);
    return kinds && time && within(other.namespaces, namespaces) &&
           within(other.service_accounts, service_accounts);
  }
};

Names all_exemptible_rules() {
  Names out;
  for (const RuleInfo& info : catalogue())
    if (info.exemptible) out.emplace(info.id);
  return out;
}

Cover cover_of(const PresetOption& option, std::string field) {
  Cover out;
  out.field = std::move(field);
  out.namespaces = names_of(option.namespaces);
  const auto known = presets();
  const auto preset = std::find_if(known.begin(), known.end(), [&](const Preset& candidate) {
    return candidate.name == option.name;
  });
  if (preset == known.end()) return out;  // Policy::make lets none through
  if (option.namespaces.empty())
    out.namespaces.insert(preset->namespaces.begin(), preset->namespaces.end());
  out.service_accounts.insert(preset->service_accounts.begin(), preset->service_accounts.end());
  out.owner_kinds.insert(preset->owner_kinds.begin(), preset->owner_kinds.end());
  if (preset->rules.empty()) {
    out.rules = all_exemptible_rules();
  } else {
    out.rules.insert(preset->rules.begin(), preset->rules.end());
  }
  return out;
}

std::vector<Cover> covers_of(const PolicyOptions& options) {
  std::vector<Cover> out;
  for (std::size_t i = 0; i < options.exemptions.size(); ++i) {
    const ExemptionOption& option = options.exemptions[i];
    Cover cover;
    cover.field = "exemptions[" + std::to_string(i) + "]";
    cover.namespaces = names_of(option.namespaces);
    cover.service_accounts = names_of(option.service_accounts);
    for (const std::string& kind : option.owner_kinds)
      cover.owner_kinds.insert(owner_kind_of_pods(kind));
    cover.rules = names_of(option.rules);
    cover.expires = option.expires;
    out.push_back(std::move(cover));
  }
  for (std::size_t i = 0; i < options.presets.size(); ++i)
    out.push_back(cover_of(options.presets[i], "presets[" + std::to_string(i) + "]"));
  return out;
}

class Comparison {
 public:
  Comparison(const Policy& before, const Policy& after) : before_(before), after_(after) {}

  std::vector<Grant> run() {
    compare_exemptions();
    compare_modes();
    compare_lists();
    compare_allowed_host_paths();
    compare_vendors();
    compare_fabric_tests();
    return std::move(grants_);
  }

 private:
  [[nodiscard]] const PolicyOptions& old() const { return before_.options(); }
  [[nodiscard]] const PolicyOptions& now() const { return after_.options(); }

  // False once there are enough.
  bool grant(std::string field, std::string what) {
    // All but that list stand under `admission`.
    if (field != kSchedulerNames) field.insert(0, "admission.");
    if (grants_.size() < kMaxGrants) grants_.push_back({std::move(field), std::move(what)});
    return grants_.size() < kMaxGrants;
  }

  void compare_exemptions() {
    const std::vector<Cover> known = covers_of(old());
    for (const Cover& cover : covers_of(now())) {
      Names fresh;
      for (const std::string& rule : cover.rules) {
        const bool covered = std::any_of(known.begin(), known.end(), [&](const Cover& candidate) {
          return candidate.rules.count(rule) > 0 && candidate.covers(cover);
        });
        if (!covered) fresh.insert(rule);
      }
      if (fresh.empty()) continue;
      if (!grant(cover.field, "exempts " + listed(cover.service_accounts) + " in " +
                                  listed(cover.namespaces) + " from " + listed(fresh)))
        return;
    }
    added("excludedNamespaces", old().excluded_namespaces, now().excluded_namespaces,
          "no longer judges");
  }

  // Default and milder case of a rule in a namespace; "" for wherever nothing else is set.
  static std::pair<Mode, Mode> modes(const Policy& policy, const RuleInfo& info,
                                     std::string_view namespace_) {
    const auto set = policy.mode(info.id, namespace_);
    return {set.value_or(info.default_mode), set.value_or(info.milder_mode)};
  }

  [[nodiscard]] bool is_looser(const RuleInfo& info, std::string_view namespace_) const {
    const auto was = modes(before_, info, namespace_);
    const auto is = modes(after_, info, namespace_);
    return is.first < was.first || is.second < was.second;
  }

  [[nodiscard]] std::string loosens(const RuleInfo& info, std::string_view namespace_) const {
    const auto word = [&](const Policy& policy) {
      const auto [grave, milder] = modes(policy, info, namespace_);
      std::string out(to_string(grave));
      if (milder != grave) out.append(" or ").append(to_string(milder));
      return out;
    };
    return "loosens " + std::string(info.id) + " from " + word(before_) + " to " + word(after_);
  }

  void compare_modes() {
    Names namespaces;
    for (const PolicyOptions* options : {&old(), &now()})
      for (const ModeOption& mode : options->modes)
        namespaces.insert(mode.namespaces.begin(), mode.namespaces.end());
    for (const RuleInfo& info : catalogue()) {
      if (is_looser(info, {})) {
        if (!grant("modes." + std::string(info.id), loosens(info, {}))) return;
        continue;
      }
      for (const std::string& name : namespaces) {
        if (!is_looser(info, name)) continue;
        if (!grant("namespaceModes", loosens(info, name) + " in " + in_quotes(name))) return;
      }
    }
  }

  void added(std::string_view key, const std::vector<std::string>& was,
             const std::vector<std::string>& is, std::string_view verb) {
    difference(key, names_of(was), names_of(is), verb);
  }
  void removed(std::string_view key, const std::vector<std::string>& was,
               const std::vector<std::string>& is, std::string_view verb) {
    difference(key, names_of(is), names_of(was), verb);
  }
  void difference(std::string_view key, const Names& without, const Names& with,
                  std::string_view verb) {
    std::vector<std::string> names;
    std::set_difference(with.begin(), with.end(), without.begin(), without.end(),
                        std::back_inserter(names));
    if (!names.empty()) grant(std::string(key), std::string(verb) + " " + listed(names));
  }

  void compare_lists() {
    if (old().workloads == "deny" && now().workloads != "deny")
      grant("workloads", "only warns of workloads whose pods will be denied");
    removed("runtimeClasses", old().runtime_classes, now().runtime_classes, "no longer knows");
    removed("envNames", old().env_names, now().env_names, "no longer knows");
    removed("gpuNodeLabels", old().gpu_node_labels, now().gpu_node_labels, "no longer knows");
    removed("gpuTolerationKeys", old().gpu_toleration_keys, now().gpu_toleration_keys,
            "no longer knows");
    removed("isolatedNamespaces", old().isolated_namespaces, now().isolated_namespaces,
            "no longer isolates");
    // An empty list is one that is not checked.
    if (!old().served_schedulers.empty()) {
      if (now().served_schedulers.empty())
        grant(std::string(kSchedulerNames), "no longer checks the scheduler");
      else
        added(kSchedulerNames, old().served_schedulers, now().served_schedulers, "also serves");
    }
    added("administrators", old().administrators, now().administrators, "makes administrators of");
    added("administratorGroups", old().administrator_groups, now().administrator_groups,
          "makes administrators of");
  }

  void compare_allowed_host_paths() {
    if (!old().allowed_host_paths) return;
    if (!now().allowed_host_paths)
      grant("allowedHostPaths", "allows every host path");
    else
      added("allowedHostPaths", *old().allowed_host_paths, *now().allowed_host_paths, "allows");
  }

  void compare_vendors() {
    const auto all = [](const PolicyOptions& options, auto member) {
      Names out;
      for (const VendorOption& vendor : options.vendors) {
        const std::vector<std::string>& names = vendor.*member;
        out.insert(names.begin(), names.end());
      }
      return out;
    };
    // A container that asks for such a resource passes the rules for those that ask for nothing.
    difference("vendors", all(old(), &VendorOption::resources),
               all(now(), &VendorOption::resources), "counts as an accelerator");
    for (const auto member :
         {&VendorOption::device_paths, &VendorOption::env_names, &VendorOption::annotations})
      difference("vendors", all(now(), member), all(old(), member), "no longer knows");
  }

  void compare_fabric_tests() {
    const FabricTestOptions& was = old().fabric_tests;
    const FabricTestOptions& is = now().fabric_tests;
    const auto raised = [](std::int64_t before, std::int64_t after) {
      return before > 0 && (after == 0 || after > before);
    };
    if (raised(was.max_seconds, is.max_seconds))
      grant("fabricTests.maxSeconds", "lets fabric tests last longer");
    if (raised(was.max_nodes, is.max_nodes))
      grant("fabricTests.maxNodes", "lets fabric tests use more nodes");
    if (is.min_nodes < was.min_nodes)
      grant("fabricTests.minNodes", "lets fabric tests use fewer nodes");
    if (is_larger_message(was.max_message_size, is.max_message_size))
      grant("fabricTests.maxMessageSize", "lets fabric tests send larger messages");
    if (!was.queues.empty()) {
      if (is.queues.empty())
        grant("fabricTests.queues", "lets fabric tests use any queue");
      else
        added("fabricTests.queues", was.queues, is.queues, "lets fabric tests use");
    }
    removed("fabricTests.productionQueues", was.production_queues, is.production_queues,
            "lets fabric tests use");
  }

  static bool is_larger_message(const std::string& was, const std::string& is) {
    if (was.empty() || was == is) return false;
    const auto before = kube::Quantity::parse(was);
    const auto after = kube::Quantity::parse(is);
    return !before || !after || is.empty() || *after > *before;
  }

  const Policy& before_;
  const Policy& after_;
  std::vector<Grant> grants_;
};

}  // namespace

std::vector<Grant> grants(const Policy& before, const Policy& after) {
  return Comparison(before, after).run();
}

}  // namespace rankward::admission
