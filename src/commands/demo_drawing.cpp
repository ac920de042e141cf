#include "demo_drawing.hpp"

#include <fmt/format.h>

#include <ostream>
#include <vector>

#include "rankward/placement/ranking.hpp"

namespace rankward::commands {
namespace {

using placement::Ranking;
using placement::Snapshot;

struct Line {
  std::string node;
  std::string text;
  Colour colour;
};

// "GPU 8   T 39.6 ms   GPU0-mlx5_0 ..."
std::string describe(const placement::Ranked& ranked) {
  const placement::Prediction& prediction = ranked.prediction;
  return fmt::format("T {}, {}, {}", format_seconds(prediction.seconds.value),
                     format_bandwidth(prediction.bandwidth.value), prediction.bottleneck);
}

Line line_of(const std::string& node, const Ranking& ranking,
             const std::vector<placement::Candidate>& candidates,
             const std::map<std::string, std::string>& rank_of_node) {
  const auto placed = rank_of_node.find(node);
  for (const placement::Ranked& ranked : ranking.fits) {
    if (candidates[ranked.candidate].name != node) continue;
    const std::string text = describe(ranked);
    if (placed != rank_of_node.end()) return {node, placed->second + "   " + text, Colour::kGreen};
    return {node, "fits     " + text, Colour::kFaint};
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].name != node || !ranking.verdicts[i].reason) continue;
    const placement::Reason& reason = placement::reason(*ranking.verdicts[i].reason);
    return {
        node,
        fmt::format("{} [{}]: {}", reason.name, placement::to_string(reason.stage), reason.text),
        Colour::kYellow};
  }
  return {node, "", Colour::kNone};
}

}  // namespace

void draw_cluster(const kube::Pod& first_rank, const Snapshot& before,
                  const std::map<std::string, std::string>& rank_of_node, const Console& console) {
  const auto request = placement::make_request(first_rank, {});
  if (!request) return;
  std::vector<placement::Candidate> candidates;
  // spine -> leaf -> nodes, in name order as the snapshot has them.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> fabric;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    const placement::NodeState& node = before.node({i});
    candidates.push_back({node.node->metadata.name, placement::NodeIndex{i}});
    const auto& domains = node.topology->fabric.domains;
    const std::string leaf = !domains.empty() ? domains[0] : "no leaf";
    const std::string spine = domains.size() > 1 ? domains[1] : "no spine";
    fabric[spine][leaf].push_back(node.node->metadata.name);
  }
  const Ranking ranking =
      placement::rank(*request, first_rank.spec, before, candidates, {}, placement::Use::kExplain);
  std::size_t width = 0;
  for (const placement::Candidate& candidate : candidates) {
    width = std::max(width, candidate.name.size());
  }
  for (const auto& [spine, leaves] : fabric) {
    console.out << "   " << spine << '\n';
    std::size_t leaf_number = 0;
    for (const auto& [leaf, nodes] : leaves) {
      const bool last_leaf = ++leaf_number == leaves.size();
      console.out << "   " << (last_leaf ? "└─ " : "├─ ") << leaf << '\n';
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Line line = line_of(nodes[i], ranking, candidates, rank_of_node);
        console.out << "   " << (last_leaf ? "   " : "│  ")
                    << (i + 1 == nodes.size() ? "└─ " : "├─ ") << line.node
                    << std::string(width - line.node.size() + 3, ' ')
                    << console.paint(line.colour, line.text) << '\n';
      }
    }
  }
  console.out
      << "\n   T: predicted seconds of one all-reduce of 1 GiB over the whole job, as the first "
         "rank saw it.\n\n";
}

void draw_denial(const Denial& denial, const Console& console) {
  if (denial.allowed) {
    console.out << "   " << console.paint(Colour::kRed, "allowed") << "\n\n";
    return;
  }
  console.out
      << "   Error from server (Forbidden): error when creating \"pod.yaml\": admission webhook\n"
         "   \"pods.rankward.io\" denied the request:\n";
  std::string_view rest = denial.message;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    console.out << "   " << console.paint(Colour::kYellow, rest.substr(0, end)) << '\n';
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  console.out << '\n';
}

}  // namespace rankward::commands
