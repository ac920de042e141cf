#include "rankward/commands/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <vector>

#include "files.hpp"
#include "plan_gangs.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/placement/ranking.hpp"

namespace rankward::commands {
namespace {

using placement::Candidate;
using placement::Ranking;
using placement::Snapshot;

// One pod with all that is known about where it could go.
struct Planned {
  placement::Request request;
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<Candidate> candidates;
  Ranking ranking;
};

// "need 4, free 2 of 8 (6 used); offers nvidia.com/mig-1g.10gb: 2"
std::string describe(const placement::Details& details) {
  std::vector<std::string> parts;
  const auto number = [&](std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) parts.push_back(fmt::format("{} {}", name, *value));
  };
  number("need", details.need);
  number("capacity", details.capacity);
  number("allocatable", details.allocatable);
  number("used", details.used);
  number("free", details.free);
  if (details.unhealthy.value_or(0) != 0) number("unhealthy", details.unhealthy);
  number("labels say", details.labels_say);
  if (details.need_memory) parts.push_back("needs " + topology::to_string(*details.need_memory));
  if (details.has_memory) parts.push_back("has " + topology::to_string(*details.has_memory));
  if (!details.free_per_numa.empty()) {
    parts.push_back(fmt::format("free per NUMA node {}", fmt::join(details.free_per_numa, "+")));
  }
  if (!details.offers.empty()) {
    parts.push_back(fmt::format("offers {}", fmt::join(details.offers, ", ")));
  }
  if (!details.note.empty()) parts.push_back(details.note);
  return fmt::format("{}", fmt::join(parts, ", "));
}

void print_table(const Planned& planned, bool wide, const Console& console) {
  std::vector<std::string> headings = {"NODE",    "VERDICT",    "SCORE",
                                       "SECONDS", "BOTTLENECK", "REASON"};
  if (wide) headings.insert(headings.end(), {"BANDWIDTH", "STAGE", "NEXT STEP"});
  Table table(headings);
  const auto add = [&](std::vector<Table::Cell> cells, Table::Cell bandwidth, Table::Cell stage,
                       Table::Cell next_step) {
    if (wide) {
      cells.push_back(std::move(bandwidth));
      cells.push_back(std::move(stage));
      cells.push_back(std::move(next_step));
    }
    table.add(std::move(cells));
  };
  for (const placement::Ranked& ranked : planned.ranking.fits) {
    const placement::Prediction& prediction = ranked.prediction;
    add({{std::string(planned.candidates[ranked.candidate].name)},
         {"fits", Colour::kGreen},
         {std::to_string(ranked.score)},
         {format_seconds(prediction.seconds.value)},
         {prediction.bottleneck},
         {prediction.topology_known ? "" : "topology not reported: worst case assumed"}},
        {format_bandwidth(prediction.bandwidth.value)}, {}, {});
  }
  for (std::size_t i = 0; i < planned.candidates.size(); ++i) {
    const placement::Verdict& verdict = planned.ranking.verdicts[i];
    if (verdict.fits()) continue;
    const placement::Reason& reason = placement::reason(*verdict.reason);
    const std::string details = describe(verdict.details);
    add({{std::string(planned.candidates[i].name)},
         {std::string(reason.name), Colour::kRed},
         {"-"},
         {"-"},
         {"-"},
         {std::string(reason.text) + (details.empty() ? "" : " (" + details + ")")}},
        {"-"}, {std::string(placement::to_string(reason.stage))}, {std::string(reason.next_step)});
  }
  table.print(console, "  ");
  if (planned.ranking.fits.empty() && !wide) {
    // Where nothing fits the next step is what the reader came for.
    std::vector<std::string_view> told;
    for (const placement::Verdict& verdict : planned.ranking.verdicts) {
      const placement::Reason& reason = placement::reason(*verdict.reason);
      if (std::find(told.begin(), told.end(), reason.name) != told.end()) continue;
      told.push_back(reason.name);
      console.out << "  " << console.paint(Colour::kBold, reason.name) << " ["
                  << placement::to_string(reason.stage) << "]: " << reason.next_step << '\n';
    }
  }
}

void write_optional(formats::JsonWriter& json, std::string_view key,
                    const std::optional<std::int64_t>& value) {
  if (value) json.member(key, *value);
}

void write_json(const Planned& planned, formats::JsonWriter& json) {
  json.begin_object()
      .member("pod", planned.request.pod)
      .member("schedulable", !planned.ranking.fits.empty())
      .key("nodes")
      .begin_array();
  for (const placement::Ranked& ranked : planned.ranking.fits) {
    json.begin_object()
        .member("node", planned.candidates[ranked.candidate].name)
        .member("fits", true)
        .member("score", ranked.score)
        .member("seconds", ranked.prediction.seconds.value)
        .member("gigabytesPerSecond", ranked.prediction.bandwidth.value)
        .member("bottleneck", ranked.prediction.bottleneck)
        .member("transport", topology::to_string(ranked.prediction.transport))
        .member("tier", ranked.prediction.tier)
        .member("topologyKnown", ranked.prediction.topology_known)
        .end_object();
  }
  for (std::size_t i = 0; i < planned.candidates.size(); ++i) {
    const placement::Verdict& verdict = planned.ranking.verdicts[i];
    if (verdict.fits()) continue;
    const placement::Reason& reason = placement::reason(*verdict.reason);
    const placement::Details& details = verdict.details;
    json.begin_object()
        .member("node", planned.candidates[i].name)
        .member("fits", false)
        .member("code", reason.name)
        .member("stage", placement::to_string(reason.stage))
        .member("reason", reason.text)
        .member("nextStep", reason.next_step)
        .key("details")
        .begin_object();
    if (!details.resource.empty()) json.member("resource", details.resource);
    write_optional(json, "need", details.need);
    write_optional(json, "capacity", details.capacity);
    write_optional(json, "allocatable", details.allocatable);
    write_optional(json, "used", details.used);
    write_optional(json, "free", details.free);
    write_optional(json, "unhealthy", details.unhealthy);
    write_optional(json, "labelsSay", details.labels_say);
    if (details.need_memory) json.member("needBytes", details.need_memory->count);
    if (details.has_memory) json.member("hasBytes", details.has_memory->count);
    if (!details.free_per_numa.empty()) {
      json.key("freePerNuma").begin_array();
      for (const std::int64_t free : details.free_per_numa)
        json.value(free);
      json.end_array();
    }
    if (!details.offers.empty()) {
      json.key("offers").begin_array();
      for (const std::string& offer : details.offers)
        json.value(offer);
      json.end_array();
    }
    if (!details.note.empty()) json.member("note", details.note);
    json.end_object().end_object();
  }
  json.end_array().end_object();
}

Result<Planned> plan_pod(const kube::Pod& pod, const cluster::InventorySource& inventory,
                         const std::vector<std::string>& names) {
  auto request = placement::make_request(pod, {});
  if (!request) return std::move(request.error()).in(pod.metadata.full_name());
  Planned planned{std::move(*request), inventory.current(), {}, {}};
  for (const std::string& name : names) {
    planned.candidates.push_back({name, planned.snapshot->find(name)});
  }
  planned.ranking = placement::rank(planned.request, pod.spec, *planned.snapshot,
                                    planned.candidates, {}, placement::Use::kExplain);
  return planned;
}

int fail(const Error& error, const Console& console) {
  console.err << "rankward plan: " << error.to_string() << '\n';
  return 3;
}

}  // namespace

int plan(const PlanOptions& options, const Console& console) {
  auto pods = read_pods(options.pods_file);
  if (!pods) return fail(pods.error(), console);
  if (pods->empty()) return fail(Error::invalid("holds no Pod").in(options.pods_file), console);
  auto nodes = read_nodes(options.nodes_file);
  if (!nodes) return fail(nodes.error(), console);
  if (nodes->empty()) return fail(Error::invalid("holds no Node").in(options.nodes_file), console);
  std::vector<kube::Pod> existing;
  if (!options.existing_file.empty()) {
    auto read = read_pods(options.existing_file);
    if (!read) return fail(read.error(), console);
    for (PodDocument& document : *read)
      existing.push_back(std::move(document.pod));
  }
  std::vector<std::string> names;
  for (const kube::Node& node : *nodes)
    names.push_back(node.metadata.name);
  for (const PodDocument& document : *pods)
    existing.push_back(document.pod);
  cluster::InventorySource inventory(std::move(*nodes), existing);
  for (const std::string& warning : inventory.warnings()) {
    console.err << "rankward plan: topology report cannot be read, labels are used: " << warning
                << '\n';
  }

  bool all_fit = true;
  std::string text;
  formats::JsonWriter json(text);
  json.begin_object().key("gangs").begin_array();
  // Gangs first and whole: what is left is for the pods by themselves.
  std::map<std::string, std::optional<GangPlan>> gangs;
  std::set<const PodDocument*> placed;
  for (PodDocument& document : *pods) {
    const auto gang = placement::gang_of(document.pod);
    if (!gang || !*gang) continue;
    auto [known, is_new] = gangs.try_emplace((*gang)->key);
    if (is_new) {
      known->second = plan_gang_of(document.pod, inventory.current());
      if (known->second && options.output == OutputForm::kJson) write_gang(*known->second, json);
      if (known->second && options.output != OutputForm::kJson) print_gang(*known->second, console);
    }
    if (!known->second) continue;
    all_fit = all_fit && known->second->planned();
    // A gang that cannot start is explained node by node, once.
    if (known->second->planned() || !is_new) placed.insert(&document);
    const std::string node = known->second->node_of(document.pod);
    if (node.empty()) continue;
    if (auto bound = inventory.bind(document.pod, node); !bound)
      return fail(bound.error(), console);
  }
  json.end_array().key("pods").begin_array();
  for (PodDocument& document : *pods) {
    if (placed.contains(&document)) continue;
    auto planned = plan_pod(document.pod, inventory, names);
    if (!planned) return fail(planned.error(), console);
    const bool fits = !planned->ranking.fits.empty();
    all_fit = all_fit && fits;
    // Its gang does not start: the table says which nodes would have taken a rank.
    const auto gang = placement::gang_of(document.pod);
    const bool held_back = gang && *gang && gangs.at((*gang)->key).has_value();
    if (options.output == OutputForm::kJson) {
      write_json(*planned, json);
    } else {
      console.out << console.paint(Colour::kBold, "pod " + planned->request.pod) << ": ";
      if (held_back) {
        console.out << "by itself, without the rest of its gang\n";
      } else if (fits) {
        const auto& best = planned->ranking.fits.front();
        console.out << console.paint(Colour::kGreen,
                                     std::string(planned->candidates[best.candidate].name))
                    << '\n';
      } else {
        console.out << console.paint(Colour::kRed, "fits nowhere") << '\n';
      }
      print_table(*planned, options.output == OutputForm::kWide, console);
      console.out << '\n';
    }
    if (fits && !held_back) {
      const std::string_view node =
          planned->candidates[planned->ranking.fits.front().candidate].name;
      if (auto bound = inventory.bind(std::move(document.pod), node); !bound) {
        return fail(bound.error(), console);
      }
    }
  }
  json.end_array().end_object();
  if (options.output == OutputForm::kJson) console.out << text << '\n';
  return all_fit ? 0 : 1;
}

}  // namespace rankward::commands
