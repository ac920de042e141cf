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

}  // namespace rankward::placement
