// From objects to findings with their place, for `check` and `scan` alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "findings_report.hpp"
#include "rankward/admission/cluster_facts.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/formats/judged_object.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

// The rules of a configuration file; the defaults where `config` is "".
[[nodiscard]] Result<admission::Policy> read_policy(const std::string& config);
[[nodiscard]] admission::UnixSeconds seconds_now();

// Refers to what it is given.
struct Judging {
  const admission::Policy& policy;
  const admission::ClusterFacts& cluster;
  admission::UnixSeconds now = 0;
  // Findings in a milder mode are left out.
  admission::Mode least = admission::Mode::kWarn;
  std::vector<std::string> rules{};  // these alone; empty: all
};

// A finding without place gets the place of `origin`, which has no finding of its own.
using Origin = LocatedFinding;

// Adds to the report what is found in the object, and counts it.
void judge_object(const Judging& judging, const formats::JudgedObject& object, const Origin& origin,
                  FindingsReport& report);
// A pod that stands: its nodeName may be the scheduler's work.
void judge_standing_pod(const Judging& judging, const kube::Pod& pod, const Origin& origin,
                        FindingsReport& report);

// What a Namespace says of the pods in it, and a PersistentVolume of those that claim it.
void add_facts(std::string_view api_version, const formats::JudgedObject& object,
               admission::ClusterFacts& facts);

}  // namespace rankward::commands
