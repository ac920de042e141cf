// What is judged how: modes, exemptions and the cluster's own names. Built once, then immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/admission/finding.hpp"
#include "rankward/result.hpp"

namespace rankward::admission {

class HostPathTable;  // what lies where on a node (src/admission/host_path_table.hpp)

// Seconds since 1970-01-01T00:00:00Z. Passed in by the caller: this room has no clock.
using UnixSeconds = std::int64_t;

// One rule in one mode. Without namespaces it holds everywhere; an entry with namespaces beats one
// without, and a later entry beats an earlier one. A set mode holds for both grades of a rule of
// two grades: `enforce` makes the milder case a denial too. The mode of EPH-01 is the strictest
// that a finding in an ephemeral container leads to.
struct ModeOption {
  std::string rule;  // "ENV-03"
  std::string mode;  // "off", "audit", "warn", "enforce"
  std::vector<std::string> namespaces;
};

// Who may break which rules: a pod in one of the namespaces that runs as one of the service
// accounts and, where owner kinds are given, is made by such a controller. Never by a label of the
// pod and never by the requesting user, who is a controller for nearly every pod.
struct ExemptionOption {
  std::vector<std::string> namespaces;
  std::vector<std::string> service_accounts;  // "default" for pods that name none
  std::vector<std::string> owner_kinds;       // "DaemonSet", "Deployment", ...; empty: any or none
  std::vector<std::string> rules;             // ids; at least one
  std::string reason;
  std::optional<UnixSeconds> expires;  // from then on it exempts nothing; must be set
};

// A shipped exemption by name, in its publisher's usual namespaces unless others are given.
struct PresetOption {
  std::string name;
  std::vector<std::string> namespaces;
};

// What the shipped table of vendors has (src/admission/vendors.hpp).
[[nodiscard]] std::vector<std::string> known_runtime_classes();
[[nodiscard]] std::vector<std::string> known_device_variables();
[[nodiscard]] std::vector<std::string> known_gpu_node_labels();
[[nodiscard]] std::vector<std::string> known_gpu_toleration_keys();

inline constexpr std::size_t kMaxVendors = 32;
inline constexpr std::size_t kMaxOfAVendor = 32;  // entries of each of its lists

// An accelerator's vendor beyond those of the shipped table. `*` stands for any characters of one
// segment, but not for a whole one.
struct VendorOption {
  std::string name;                       // "Example NPU", for messages
  std::vector<std::string> resources;     // "example.com/npu": a request for one is a GPU request
  std::vector<std::string> device_paths;  // below /dev: "/dev/examplenpu*"; as HP-01, and below it
  std::vector<std::string> env_names;     // "EXAMPLE_VISIBLE_DEVICES", without `*`
  std::vector<std::string> annotations;   // domains: "npu.example.com"
};

// What a fabric test (nccl-tests and its like) may do. A part that is empty or 0 is not checked.
struct FabricTestOptions {
  std::int64_t max_seconds = 0;  // activeDeadlineSeconds that must be set and no longer
  std::string max_message_size;  // a Quantity; of `-e`, or rankward.io/message-size
  std::int64_t min_nodes = 0;
  std::int64_t max_nodes = 0;
  std::vector<std::string> queues;             // Kueue queues that may be used; globs
  std::vector<std::string> production_queues;  // that may not
};

// Lists with a default replace it when set. In names of runtime classes, labels and tolerations
// `*` stands for any characters.
struct PolicyOptions {
  std::vector<ModeOption> modes;
  std::vector<ExemptionOption> exemptions;
  std::vector<PresetOption> presets{
      {"nvidia-device-plugin", {}}, {"gpu-operator", {}}, {"amd-device-plugin", {}}};
  // Never judged: what the cluster needs to start, and our own namespace, without which a broken
  // webhook could not be repaired.
  std::vector<std::string> excluded_namespaces{"kube-system", "rankward-system"};
  // Runtime classes whose runtime hands GPUs to a container by its environment.
  std::vector<std::string> runtime_classes = known_runtime_classes();
  // Variables by which a runtime picks devices.
  std::vector<std::string> env_names = known_device_variables();
  // Node labels that only GPU nodes carry: a pod that selects by one can land there.
  std::vector<std::string> gpu_node_labels = known_gpu_node_labels();
  // Taints that keep other pods off GPU nodes: a pod that tolerates one by its key can land there.
  std::vector<std::string> gpu_toleration_keys = known_gpu_toleration_keys();
  // What a workload object gets whose pods would be denied: "warn" or "deny".
  std::string workloads = "warn";
  std::vector<VendorOption> vendors;
  // HP-08, strict: pods aimed at GPU nodes may mount these host paths, and what lies below them,
  // and no other. Absent: not checked.
  std::optional<std::vector<std::string>> allowed_host_paths;
  // SCH-02: the schedulers that ask the extender. Empty: not checked.
  std::vector<std::string> served_schedulers;
  // REQ-03: namespaces that ask for isolation, beside those labelled rankward.io/isolation=required
  // or rankward.io/slo. Globs.
  std::vector<std::string> isolated_namespaces;
  FabricTestOptions fabric_tests;
  // SELF-01: who may grant exemptions.
  std::vector<std::string> administrators;
  std::vector<std::string> administrator_groups{"system:masters", "kubeadm:cluster-admins"};
};

struct Preset {
  std::string_view name;
  std::string_view reason;
  std::span<const std::string_view> namespaces;
  std::span<const std::string_view> service_accounts;
  // Empty: every rule that may be exempted from.
  std::span<const std::string_view> rules;
  // As owner references of pods have them. Not empty where `default` is among the accounts, which
  // every pod of the namespace may run as.
  std::span<const std::string_view> owner_kinds{};
};

// All shipped presets, chosen or not.
[[nodiscard]] std::span<const Preset> presets();

// A checked exemption.
struct Exemption {
  std::vector<std::string> namespaces;
  std::vector<std::string> service_accounts;
  std::vector<std::string> owner_kinds;  // as owner references of pods have them
  std::vector<std::string> rules;
  std::string name;  // for audit annotations: the preset's name, or "exemptions[2]"
  std::string reason;
  std::optional<UnixSeconds> expires;  // absent for presets
};

// An exemption that ends soon or has ended, for a warning before pods are denied.
struct ExpiringExemption {
  std::string name;  // "exemptions[2]"
  std::string reason;
  UnixSeconds expires = 0;
  bool expired = false;  // at `now`
};

// A plain value: copy it, share it between threads.
class Policy {
 public:
  // The defaults.
  Policy();

  // kInvalid for unknown rule ids, modes, presets, an exemption without namespaces, service
  // accounts, rules, reason or expiry, a vendor, path or limit outside its form; the error names
  // the field (`modes[0].rule`) and what is accepted.
  [[nodiscard]] static Result<Policy> make(PolicyOptions options);

  // The configured mode, or nothing where the rule's own default holds.
  [[nodiscard]] std::optional<Mode> mode(std::string_view rule, std::string_view namespace_) const;
  [[nodiscard]] bool excludes(std::string_view namespace_) const;
  // The exemption that covers the rule for such a pod now, or nullptr.
  [[nodiscard]] const Exemption* exemption(std::string_view rule, std::string_view namespace_,
                                           std::string_view service_account,
                                           std::string_view owner_kind, UnixSeconds now) const;

  [[nodiscard]] bool is_gpu_runtime_class(std::string_view name) const;
  [[nodiscard]] bool is_device_variable(std::string_view name) const;
  // Of the options' own list and of the configured vendors.
  [[nodiscard]] std::span<const std::string> device_variables() const { return device_variables_; }
  // Whether a configured vendor's device plugin serves it.
  [[nodiscard]] bool is_vendor_resource(std::string_view name) const;
  [[nodiscard]] const HostPathTable& host_paths() const { return *host_paths_; }
  [[nodiscard]] bool is_gpu_node_label(std::string_view key) const;
  [[nodiscard]] bool is_gpu_toleration_key(std::string_view key) const;
  [[nodiscard]] const PolicyOptions& options() const { return options_; }
  // Those configured and those of presets.
  [[nodiscard]] std::span<const Exemption> exemptions() const { return exemptions_; }
  // Whether a workload object is denied where its pods would be.
  [[nodiscard]] bool denies_workloads() const { return denies_workloads_; }

 private:
  struct Modes {
    std::optional<Mode> everywhere;
    std::map<std::string, Mode, std::less<>> by_namespace;
  };

  explicit Policy(PolicyOptions options) : options_(std::move(options)) {}
  Result<void> add_modes();
  Result<void> add_exemptions();
  Result<void> add_presets();
  Result<void> add_vendors();

  PolicyOptions options_;
  std::map<std::string, Modes, std::less<>> modes_;
  std::vector<Exemption> exemptions_;
  std::vector<std::string> device_variables_;
  std::shared_ptr<const HostPathTable> host_paths_;
  bool denies_workloads_ = false;
};

// The exemptions that have ended by `now` or end within the next `within` seconds, the earliest
// first. Presets never end.
[[nodiscard]] std::vector<ExpiringExemption> expiring_exemptions(const Policy& policy,
                                                                 UnixSeconds now,
                                                                 UnixSeconds within);

}  // namespace rankward::admission
