// The scheduler extender's verbs: request bytes in, answer bytes and a Decision out. Knows no HTTP
// beyond the status; net calls it through routes.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/formats/extender.hpp"
#include "rankward/placement/gang_call.hpp"
#include "rankward/placement/verdict.hpp"
#include "rankward/record/decision.hpp"
#include "rankward/result.hpp"
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
  // The board outlives the extender; null: each pod is judged alone, from the Nodes in the request.
  Extender(ExtenderOptions options, cluster::PlanBoard* board);

  // Each appends its body to `out`. Safe to call from many threads; takes no lock. What cannot be
  // read is a 200 with Error for filter, since kube-scheduler throws other bodies away, and a 400
  // for the two verbs that have no such field.
  [[nodiscard]] Answer filter(std::string_view body, std::string& out) const;
  [[nodiscard]] Answer prioritize(std::string_view body, std::string& out) const;
  [[nodiscard]] Answer preempt(std::string_view body, std::string& out) const;

  [[nodiscard]] bool ready() const { return board_ == nullptr || board_->ready(); }

 private:
  const ExtenderOptions options_;
  // What answers a filter or prioritize call about a pod that is ours.
  struct Judged {
    std::shared_ptr<const placement::Snapshot> snapshot;
    placement::CallAnswer answer;
  };
  [[nodiscard]] Result<Judged> judge(const placement::Request& request,
                                     const formats::ExtenderArgs& args, std::size_t most) const;

  cluster::PlanBoard* board_;
};

}  // namespace rankward::server
