// The checks, one a reason, named after what they find true. Each is pure and cheap; those whose
// reason is not usable in filter are only asked for Use::kExplain.
#pragma once

#include "question.hpp"

namespace rankward::placement {

using Check = bool (*)(const Question&);

// host.cpp
[[nodiscard]] bool host_sees_fewer_gpus_than_advertised(const Question& question);
[[nodiscard]] bool too_few_gpus_are_healthy(const Question& question);

// advertise.cpp
[[nodiscard]] bool mig_layout_is_changing(const Question& question);
[[nodiscard]] bool mig_layout_failed(const Question& question);
[[nodiscard]] bool mig_layout_is_not_in_place(const Question& question);
[[nodiscard]] bool offered_under_another_name(const Question& question);
[[nodiscard]] bool registered_but_none_allocatable(const Question& question);
[[nodiscard]] bool gpus_are_not_advertised(const Question& question);
[[nodiscard]] bool has_no_gpus(const Question& question);
[[nodiscard]] bool healthy_devices_are_too_few(const Question& question);
[[nodiscard]] bool labels_contradict_sharing(const Question& question);

// sharing.cpp
[[nodiscard]] bool shared_but_wanted_exclusive(const Question& question);
[[nodiscard]] bool slices_but_wanted_whole_gpus(const Question& question);
[[nodiscard]] bool replicas_wanted_as_gpus(const Question& question);
[[nodiscard]] bool ranks_on_parts_of_gpus(const Question& question);

// memory.cpp
[[nodiscard]] bool device_memory_is_too_small(const Question& question);

// geometry.cpp
[[nodiscard]] bool numa_cannot_align(const Question& question);

// occupancy.cpp
[[nodiscard]] bool too_few_devices_are_free(const Question& question);

}  // namespace rankward::placement
