#include "rankward/commands/topo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include "files.hpp"
#include "machine_links.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/topology_annotation.hpp"
#include "rankward/formats/topology_matrix.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::commands {
namespace {

using topology::NodeTopology;

struct Machine {
  std::string name;  // of the Node, "" for a matrix or an annotation by itself
  NodeTopology topology;
};

Result<std::vector<Machine>> nodes_of(const std::vector<formats::Document>& documents,
                                      const std::string& source, const Console& console) {
  std::vector<Machine> machines;
  for (const formats::Document& document : documents) {
    if (document.kind != "Node" || document.api_version != "v1") continue;
    auto node = formats::read_node(document.json);
    if (!node) {
      const auto line = document.line_of(node.error().field()).value_or(document.line);
      return std::move(node.error()).at_line(line).in(source);
    }
    NodeTopology topology = topology::from_labels(*node, {});
    const auto report = node->metadata.annotations.find(formats::kTopologyAnnotation);
    if (report != node->metadata.annotations.end()) {
      if (auto read = formats::read_topology(report->second)) {
        topology = topology::merge(std::move(*read), topology);
      } else {
        console.err << "rankward topo: topology report cannot be read, labels are used: "
                    << node->metadata.name << ": " << read.error().to_string() << '\n';
      }
    }
    machines.push_back({node->metadata.name, std::move(topology)});
  }
  return machines;
}

Result<std::vector<Machine>> read_machines(const std::string& path, const Console& console) {
  auto text = read_file(path);
  if (!text) return std::move(text.error());
  const std::string source = path == "-" ? "standard input" : path;
  const auto one = [&](Result<NodeTopology> topology) -> Result<std::vector<Machine>> {
    if (!topology) return std::move(topology.error()).in(source);
    return std::vector<Machine>{{"", std::move(*topology)}};
  };
  if (formats::is_topology_matrix(*text)) return one(formats::read_topology_matrix(*text));
  auto documents = formats::read_documents(*text, source);
  if (!documents) return std::move(documents.error());
  // An annotation is an object without a kind.
  if (documents->size() == 1 && documents->front().kind.empty()) {
    return one(formats::read_topology(documents->front().json));
  }
  auto machines = nodes_of(*documents, source, console);
  if (machines && machines->empty()) {
    return Error::invalid(
               "must be what `nvidia-smi topo -m` prints, Nodes, or a topology annotation")
        .in(source);
  }
  return machines;
}

std::string gpu_name(const topology::Gpu& gpu) {
  return fmt::format("GPU{}", gpu.index);
}

std::string numa_name(const std::optional<std::uint32_t>& numa) {
  return numa ? std::to_string(*numa) : "?";
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "?" : text;
}

std::string_view name_of(topology::LinkLayer layer) {
  switch (layer) {
    case topology::LinkLayer::kInfiniBand:
      return "InfiniBand";
    case topology::LinkLayer::kEthernet:
      return "Ethernet";
    case topology::LinkLayer::kEfa:
      return "EFA";
    case topology::LinkLayer::kUnknown:
      break;
  }
  return "?";
}

std::string_view name_of(topology::PortState state) {
  switch (state) {
    case topology::PortState::kActive:
      return "active";
    case topology::PortState::kDown:
      return "down";
    case topology::PortState::kUnknown:
      break;
  }
  return "?";
}

std::vector<std::string> nic_names(const NodeTopology& node, const Nearest& nearest) {
  std::vector<std::string> names;
  for (const std::size_t nic : nearest.devices)
    names.push_back(node.nics[nic].device);
  return names;
}

std::vector<std::string> gpu_names(const NodeTopology& node, const Nearest& nearest) {
  std::vector<std::string> names;
  for (const std::size_t gpu : nearest.devices)
    names.push_back(gpu_name(node.gpus[gpu]));
  return names;
}

// "PIX mlx5_0, mlx5_1"
std::string shown(const Nearest& nearest, const std::vector<std::string>& names) {
  if (names.empty()) return "?";
  return fmt::format("{} {}", topology::to_string(nearest.path), fmt::join(names, ", "));
}

std::string shown(const topology::Bottleneck& bottleneck) {
  return fmt::format("{} ({})", format_bandwidth(bottleneck.bandwidth.value), bottleneck.link);
}

void print_table(const Machine& machine, const Console& console) {
  const NodeTopology& node = machine.topology;
  const MachineLinks links = machine_links(node);
  console.out << console.paint(Colour::kBold,
                               machine.name.empty() ? "machine" : "node " + machine.name)
              << ": " << links.gpus << (links.gpus == 1 ? " GPU, " : " GPUs, ") << node.nics.size()
              << (node.nics.size() == 1 ? " NIC" : " NICs") << "\n\n";
  if (!node.gpus.empty()) {
    Table table({"GPU", "NUMA", "MODEL", "NEAREST NICS", "B_INTER", "LIMIT"});
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
      const topology::Gpu& gpu = node.gpus[i];
      table.add({{gpu_name(gpu)},
                 {numa_name(gpu.numa_node)},
                 {or_unknown(gpu.model)},
                 {shown(links.nics_of_gpu[i], nic_names(node, links.nics_of_gpu[i]))},
                 {format_bandwidth(links.inter_of_gpu[i].bandwidth.value)},
                 {links.inter_of_gpu[i].link}});
    }
    table.print(console, "  ");
    console.out << '\n';
  }
  if (!node.nics.empty()) {
    Table table({"NIC", "NUMA", "RATE", "LINK", "STATE", "NEAREST GPUS"});
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const topology::Nic& nic = node.nics[i];
      table.add({{nic.device},
                 {numa_name(nic.numa_node)},
                 {nic.rate ? format_bandwidth(nic.rate->value) : "?"},
                 {std::string(name_of(nic.link_layer))},
                 {std::string(name_of(nic.state)),
                  nic.state == topology::PortState::kDown ? Colour::kRed : Colour::kNone},
                 {shown(links.gpus_of_nic[i], gpu_names(node, links.gpus_of_nic[i]))}});
    }
    table.print(console, "  ");
    console.out << '\n';
  }
  if (!links.pairs.empty()) {
    Table table({"GPU PAIRS", "PATH", "B_INTRA"});
    for (const PairKind& kind : links.pairs) {
      table.add(
          {{std::to_string(kind.pairs)}, {kind.path}, {format_bandwidth(kind.bandwidth.value)}});
    }
    table.print(console, "  ");
    console.out << '\n';
  }
  if (links.gpus > 0) {
    console.out << "  all GPUs: b_intra " << shown(links.intra) << ", b_inter "
                << shown(links.inter) << '\n';
  }
  if (!links.assumed.empty()) {
    console.out << "  not reported, assumed: " << fmt::format("{}", fmt::join(links.assumed, "; "))
                << '\n';
  }
}

void write_names(formats::JsonWriter& json, std::string_view key, std::string_view path_key,
                 const Nearest& nearest, const std::vector<std::string>& names) {
  json.member(path_key, topology::to_string(nearest.path)).key(key).begin_array();
  for (const std::string& name : names)
    json.value(name);
  json.end_array();
}

void write_bottleneck(formats::JsonWriter& json, std::string_view key,
                      const topology::Bottleneck& bottleneck) {
  json.key(key)
      .begin_object()
      .member("gigabytesPerSecond", bottleneck.bandwidth.value)
      .member("limit", bottleneck.link)
      .end_object();
}

void write_json(const Machine& machine, formats::JsonWriter& json) {
  const NodeTopology& node = machine.topology;
  const MachineLinks links = machine_links(node);
  json.begin_object();
  if (!machine.name.empty()) json.member("node", machine.name);
  json.member("gpuCount", std::uint64_t{links.gpus}).key("gpus").begin_array();
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    const topology::Gpu& gpu = node.gpus[i];
    json.begin_object().member("index", gpu.index);
    if (gpu.numa_node) json.member("numaNode", *gpu.numa_node);
    if (!gpu.model.empty()) json.member("model", gpu.model);
    write_names(json, "nearestNics", "nicPath", links.nics_of_gpu[i],
                nic_names(node, links.nics_of_gpu[i]));
    write_bottleneck(json, "bInter", links.inter_of_gpu[i]);
    json.end_object();
  }
  json.end_array().key("nics").begin_array();
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const topology::Nic& nic = node.nics[i];
    json.begin_object().member("device", nic.device);
    if (nic.numa_node) json.member("numaNode", *nic.numa_node);
    if (nic.rate) json.member("gigabytesPerSecond", nic.rate->value);
    if (nic.link_layer != topology::LinkLayer::kUnknown) {
      json.member("linkLayer", name_of(nic.link_layer));
    }
    if (nic.state != topology::PortState::kUnknown) json.member("state", name_of(nic.state));
    write_names(json, "nearestGpus", "gpuPath", links.gpus_of_nic[i],
                gpu_names(node, links.gpus_of_nic[i]));
    json.end_object();
  }
  json.end_array().key("gpuPairs").begin_array();
  for (const PairKind& kind : links.pairs) {
    json.begin_object()
        .member("path", kind.path)
        .member("pairs", std::uint64_t{kind.pairs})
        .member("gigabytesPerSecond", kind.bandwidth.value)
        .end_object();
  }
  json.end_array();
  if (links.gpus > 0) {
    write_bottleneck(json, "bIntra", links.intra);
    write_bottleneck(json, "bInter", links.inter);
  }
  json.key("assumed").begin_array();
  for (const std::string& what : links.assumed)
    json.value(what);
  json.end_array().end_object();
}

Result<std::string> annotation_of(const std::vector<Machine>& machines) {
  if (machines.size() != 1) {
    return Error::invalid(
        fmt::format("must be one machine for --annotation, not {} Nodes", machines.size()));
  }
  const NodeTopology& node = machines.front().topology;
  if (node.gpus.empty() && node.nics.empty()) {
    return Error::invalid("must have a report of GPUs or NICs; labels alone make no annotation");
  }
  return formats::print_topology(node);
}

int fail(const Error& error, const Console& console) {
  console.err << "rankward topo: " << error.to_string() << '\n';
  return 3;
}

}  // namespace

int topo(const TopoOptions& options, const Console& console) {
  const auto machines = read_machines(options.file, console);
  if (!machines) return fail(machines.error(), console);
  if (options.annotation) {
    auto annotation = annotation_of(*machines);
    if (!annotation) return fail(std::move(annotation.error()).in(options.file), console);
    console.out << *annotation << '\n';
    return 0;
  }
  if (options.json) {
    std::string text;
    formats::JsonWriter json(text);
    json.begin_object().key("machines").begin_array();
    for (const Machine& machine : *machines)
      write_json(machine, json);
    json.end_array().end_object();
    console.out << text << '\n';
    return 0;
  }
  for (std::size_t i = 0; i < machines->size(); ++i) {
    if (i > 0) console.out << '\n';
    print_table((*machines)[i], console);
  }
  return 0;
}

}  // namespace rankward::commands
