// What `check` and `scan` found, before any output gives it its form.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankward/admission/finding.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

struct LocatedFinding {
  std::string file;      // as it was named; "-" for standard input, "" for an object of a cluster
  std::size_t line = 0;  // counted from 1; 0: not known
  std::string helm_template;  // "chart/templates/web.yaml", where Helm says so; else ""
  std::string api_version;
  std::string kind;
  std::string namespace_;  // "" for what has none
  std::string name;
  std::string uid;    // of objects of a cluster
  std::string owner;  // "Deployment/web", for pods that stand
  admission::Finding finding;
  std::string exempted_by;  // "" for a finding that stands
  std::string fix_hint;     // lines of YAML, "" where none were asked for

  // "Deployment team-a/web"
  [[nodiscard]] std::string object() const;
};

// Each object counts once: denied, else warned, else clean.
struct ObjectCounts {
  std::size_t judged = 0;
  std::size_t denied = 0;
  std::size_t warned = 0;
  std::size_t excluded = 0;    // in a namespace that is never judged
  std::size_t not_judged = 0;  // nothing in them makes pods

  [[nodiscard]] std::size_t clean() const { return judged - denied - warned; }
};

struct FindingsReport {
  std::vector<LocatedFinding> standing;
  std::vector<LocatedFinding> exempt;
  std::vector<Error> unreadable;
  ObjectCounts counts;
};

// "denied", "warning", "audit": what the webhook makes of it.
[[nodiscard]] std::string_view outcome_of(admission::Mode mode);

// The rule's section in the documentation, absolute.
[[nodiscard]] std::string documentation_of(std::string_view rule);

// "1 object", "2 objects"
[[nodiscard]] std::string counted(std::size_t number, std::string_view thing);

}  // namespace rankward::commands
