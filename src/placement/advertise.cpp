#include <string_view>

#include "checks.hpp"

namespace rankward::placement {

namespace {

using topology::MigState;
using topology::SharingMode;

bool registers_none(const Question& question) {
  return question.capacity.value_or(0) <= 0 && question.allocatable.value_or(0) <= 0;
}

// "all-1g.10gb" names one profile; other names are the operator's own and say nothing.
bool config_promises(const topology::NodeTopology& topology, std::string_view profile) {
  constexpr std::string_view kAll = "all-";
  const std::string_view config = topology.mig_config;
  return config.starts_with(kAll) && config.substr(kAll.size()) == profile;
}

// A pod to which it makes a difference whether a device is a GPU or a part of one.
bool sharing_matters(const Request& request) {
  return request.sharing == SharingWish::kExclusive || request.gpu_memory || request.gpus() > 1;
}

}  // namespace

bool mig_layout_is_changing(const Question& question) {
  if (!question.is_nvidia()) return false;
  const auto state = question.topology.mig_state;
  return state == MigState::kPending || state == MigState::kRebooting;
}

bool mig_layout_failed(const Question& question) {
  return question.is_nvidia() && question.topology.mig_state == MigState::kFailed;
}

bool mig_layout_is_not_in_place(const Question& question) {
  if (!question.is_nvidia() || !registers_none(question)) return false;
  if (question.topology.mig_invalid) return true;
  const auto profile = kube::mig_profile(question.device.resource);
  return profile && config_promises(question.topology, *profile);
}

bool offered_under_another_name(const Question& question) {
  return registers_none(question) && !other_offers(question).empty();
}

bool registered_but_none_allocatable(const Question& question) {
  return question.capacity.value_or(0) > 0 && question.allocatable.value_or(0) <= 0;
}

bool gpus_are_not_advertised(const Question& question) {
  if (!registers_none(question)) return false;
  // A key with 0 devices was registered by a plugin once.
  return question.capacity || !question.topology.gpus.empty() ||
         question.topology.gpu_count.value_or(0) > 0 || !question.topology.product.empty() ||
         question.topology.mig_capable;
}

bool has_no_gpus(const Question& question) {
  return registers_none(question);
}

bool healthy_devices_are_too_few(const Question& question) {
  const std::int64_t need = question.device.count;
  return need <= question.capacity.value_or(0) && need > question.allocatable.value_or(0);
}

// GFD and the device plugin read the same configuration; where one restarted without the other, a
// replica may look like a GPU. Only the two clear cases are told: more devices than unshared GPUs,
// and exactly the GPUs where labels promise replicas.
bool labels_contradict_sharing(const Question& question) {
  const auto gpus = question.topology.gpu_count;
  const auto replicas = question.topology.replicas;
  if (!question.whole_gpus() || !question.is_nvidia() || !gpus || *gpus <= 0 || !replicas ||
      question.capacity.value_or(0) <= 0 || !sharing_matters(question.request)) {
    return false;
  }
  if (*replicas == 1 && question.topology.sharing == SharingMode::kExclusive) {
    return *question.capacity > *gpus;
  }
  return *replicas > 1 && *question.capacity == *gpus && question.shared();
}

}  // namespace rankward::placement
