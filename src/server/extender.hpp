// The scheduler extender's verbs: request bytes in, answer bytes and a Decision out. Knows no HTTP
// beyond the status; net calls it through routes.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics.hpp"
#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/placement/verdict.hpp"
#include "rankward/record/decision.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::server {

struct ExtenderOptions {
  placement::Options placement;
  placement::RequestOptions request;
  topology::LabelOptions labels;
  std::vector<std::string> managed_resources;  // empty: every accelerator
  bool always_list_reasons = false;
};

struct Answer {
  int status = 200;
  Outcome outcome = Outcome::kOk;
  record::Decision decision;
};

class Extender {
 public:
  // `source` outlives the extender; null: each pod is judged alone, from the Nodes in the request.
  Extender(ExtenderOptions options, const cluster::SnapshotSource* source);

  // Each appends its body to `out`. Safe to call from many threads; takes no lock. What cannot be
  // read is a 200 with Error for filter, since kube-scheduler throws other bodies away, and a 400
  // for the two verbs that have no such field.
  [[nodiscard]] Answer filter(std::string_view body, std::string& out) const;
  [[nodiscard]] Answer prioritize(std::string_view body, std::string& out) const;
  [[nodiscard]] Answer preempt(std::string_view body, std::string& out) const;

  [[nodiscard]] bool ready() const { return source_ == nullptr || source_->ready(); }

 private:
  const ExtenderOptions options_;
  const cluster::SnapshotSource* source_;
};

}  // namespace rankward::server
