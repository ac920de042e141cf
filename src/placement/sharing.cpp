#include "checks.hpp"

namespace rankward::placement {

bool shared_but_wanted_exclusive(const Question& question) {
  return question.request.sharing == SharingWish::kExclusive && question.shared();
}

// One slice under the name of a GPU is what the owner of such a node wants; several are not several
// GPUs, since slices have no path to each other but host memory (NCCL 1716).
bool slices_but_wanted_whole_gpus(const Question& question) {
  if (!question.sliced()) return false;
  if (question.request.sharing == SharingWish::kExclusive) return true;
  return question.whole_gpus() && question.request.sharing != SharingWish::kMig &&
         question.device.largest_container > 1;
}

// Consent does not help here: the plugin may give both replicas of one GPU to the container, and
// with failRequestsGreaterThanOne the kubelet fails the pod.
bool replicas_wanted_as_gpus(const Question& question) {
  return question.shared() && question.device.largest_container > 1;
}

// NCCL has no path between slices or replicas but host memory, and refuses two ranks on one GPU
// ("Duplicate GPU detected"; NCCL 1716). Only pods that themselves say to be one of several ranks
// are meant: the pods of a plain indexed Job often have nothing to say to each other.
bool ranks_on_parts_of_gpus(const Question& question) {
  const auto& gang = question.request.gang;
  if (!gang || gang->size.value_or(1) < 2) return false;
  const bool consents = question.request.sharing == SharingWish::kMig ||
                        question.request.sharing == SharingWish::kShared;
  return !consents && (question.sliced() || question.shared());
}

}  // namespace rankward::placement
