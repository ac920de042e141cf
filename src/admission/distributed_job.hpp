// Which pods are ranks of a job that spans several pods, as far as the pod or its template says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pod_facts.hpp"

namespace rankward::admission {

struct DistributedJob {
  std::string name;                  // for messages: `gang "llama"`, "a PyTorchJob"
  std::optional<std::int64_t> pods;  // 2 or more, where it is known
};

// By the pod's own annotations, by a kind that makes ranks of its pods, by a group whose size
// stands on the pod, or by the number of nodes that its command or environment names. Nothing for
// single pods, and for serving, whose replicas do not talk to each other.
[[nodiscard]] std::optional<DistributedJob> distributed_job(const PodFacts& pod);

// Whether some framework's label or annotation, or the pod's spec, puts it into a group.
[[nodiscard]] bool is_in_a_group(const Subject& subject);

// The pod's annotation of rankward.io; nullptr also where its value is not in the key's form, which
// is KEY-01's.
[[nodiscard]] const std::string* own_value(const Subject& subject, std::string_view key);

// The value of a label, else of an annotation: projects have moved keys from one to the other.
[[nodiscard]] const std::string* group_value(const Subject& subject, std::string_view key);

}  // namespace rankward::admission
