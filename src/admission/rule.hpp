// What a rule is made of: its entry in the catalogue and one function from the pod to findings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pod_facts.hpp"
#include "rankward/admission/finding.hpp"
#include "rankward/admission/rules.hpp"

namespace rankward::admission {

// What a rule found. `why` and `fix` are the catalogue's where empty.
struct Observation {
  std::string field;  // from the object's root: PodFacts::field()
  std::string container;
  std::string subject;
  std::string value;
  std::string what;
  std::string_view why;  // of static storage
  std::string fix;
  bool milder = false;  // the lesser grade of a rule of two grades
};

using Observations = std::vector<Observation>;

struct Rule {
  RuleInfo info;
  // nullptr: judges something else than pods, a PersistentVolume or a change of configuration.
  void (*observe)(const PodFacts& pod, Observations& out);
  // A finding makes the pod a GPU pod (rules of the first pass); the rules of the second pass may
  // ask whether it is one.
  bool first_pass = true;
};

// The table, in the order in which findings are reported.
[[nodiscard]] std::span<const Rule* const> rules();

}  // namespace rankward::admission
