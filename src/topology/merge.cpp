#include <algorithm>
#include <utility>

#include "product_words.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology {

namespace {

template <class T>
void fill(T& known, const T& from) {
  if (known == T{}) known = from;
}

template <class T>
void fill(std::optional<T>& known, const std::optional<T>& from) {
  if (!known) known = from;
}

const MigProfile* find_profile(const std::vector<MigProfile>& profiles, std::string_view name) {
  const auto it = std::find_if(profiles.begin(), profiles.end(),
                               [name](const MigProfile& entry) { return entry.profile == name; });
  return it == profiles.end() ? nullptr : &*it;
}

// Measured on the node beats the table, wherever it was measured.
void fill_slice(MigProfile& slice, std::string_view product,
                const std::vector<MigProfile>& labels) {
  if (slice.memory && !slice.memory_from_table) return;
  const MigProfile* label = find_profile(labels, slice.profile);
  if (label != nullptr && label->memory && (!label->memory_from_table || !slice.memory)) {
    slice.memory = label->memory;
    slice.memory_from_table = label->memory_from_table;
  }
  if (!slice.memory) {
    slice.memory = measured_slice_memory(product, slice.profile);
    slice.memory_from_table = slice.memory.has_value();
  }
}

}  // namespace

NodeTopology merge(NodeTopology report, const NodeTopology& labels) {
  fill(report.gpu_count, labels.gpu_count);
  fill(report.product, labels.product);
  fill(report.gpu_memory, labels.gpu_memory);
  fill(report.replicas, labels.replicas);
  fill(report.sharing, labels.sharing);
  fill(report.single_profile, labels.single_profile);
  fill(report.mig_state, labels.mig_state);
  fill(report.mig_config, labels.mig_config);
  fill(report.topology_manager, labels.topology_manager);
  fill(report.gpu_direct, labels.gpu_direct);
  fill(report.driver, labels.driver);
  fill(report.reported_at, labels.reported_at);
  fill(report.fabric.clique, labels.fabric.clique);
  if (report.fabric.domains.empty()) {
    report.fabric.domains = labels.fabric.domains;
    report.fabric.keys = labels.fabric.keys;
  }
  // These have no "unknown": either side has seen it, or nobody has.
  report.mig_capable = report.mig_capable || labels.mig_capable;
  report.mig_paused = report.mig_paused || labels.mig_paused;
  report.mig_invalid = report.mig_invalid || labels.mig_invalid;
  report.topology_manager_pod_scope =
      report.topology_manager_pod_scope || labels.topology_manager_pod_scope;

  if (report.mig_profiles.empty()) report.mig_profiles = labels.mig_profiles;
  for (MigProfile& slice : report.mig_profiles) {
    fill_slice(slice, report.product, labels.mig_profiles);
  }

  if (report.gpus.empty()) {
    report.gpus = labels.gpus;
    report.gpu_paths = labels.gpu_paths;
    report.nvlinks = labels.nvlinks;
    if (report.nics.empty()) {
      report.nics = labels.nics;
      report.nic_paths = labels.nic_paths;
    }
  }
  // GFD describes one model and, under MIG single, the slice: its memory is the card's only where
  // whole cards are handed out.
  const bool memory_is_of_card =
      labels.sharing != SharingMode::kMigSingle && labels.sharing != SharingMode::kUnknown;
  for (Gpu& gpu : report.gpus) {
    const bool same_model = gpu.model.empty() || same_product(gpu.model, labels.product);
    if (gpu.model.empty()) gpu.model = labels.product;
    if (!gpu.memory && memory_is_of_card && same_model) gpu.memory = labels.gpu_memory;
    for (MigProfile& slice : gpu.mig) {
      fill_slice(slice, gpu.model.empty() ? report.product : gpu.model, labels.mig_profiles);
    }
  }
  report.sources |= labels.sources;
  return report;
}

}  // namespace rankward::topology
