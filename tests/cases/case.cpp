#include "case.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "rankward/formats/objects.hpp"
#include "rankward/formats/topology_annotation.hpp"
#include "rankward/formats/topology_matrix.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCaseKeys = "rankward.io/case-";
constexpr std::string_view kCaseMatrix = "rankward.io/case-matrix";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T>
T checked(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + result.error().to_string());
  return std::move(*result);
}

std::vector<formats::Document> documents_of(const fs::path& path) {
  return checked(formats::read_documents(text_of(path), path.string()), path.string());
}

// "0,0,1,1"
std::vector<std::uint32_t> numbers(const std::string& text) {
  std::vector<std::uint32_t> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    out.push_back(static_cast<std::uint32_t>(std::stoul(part)));
  }
  return out;
}

// What a report of the node's hardware would say.
void apply_case_keys(const kube::Node& node, topology::NodeTopology& topology) {
  for (const auto& [key, value] : node.metadata.annotations) {
    if (key.rfind(kCaseKeys, 0) != 0 || key == kCaseMatrix) continue;
    const std::string name = key.substr(kCaseKeys.size());
    if (name == "gpu-numa") {
      for (const std::uint32_t numa : numbers(value)) {
        topology::Gpu gpu;
        gpu.index = static_cast<std::uint32_t>(topology.gpus.size());
        gpu.numa_node = numa;
        topology.gpus.push_back(gpu);
      }
    } else if (name == "kubelet-topology-manager") {
      if (value != "single-numa-node/pod") throw std::runtime_error(key + ": " + value);
      topology.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
      topology.topology_manager_pod_scope = true;
    } else {
      throw std::runtime_error("no translation for " + key);
    }
  }
}

// The matrix that the case names, published as the node would publish it.
void apply_case_matrix(kube::Node& node) {
  const auto found = node.metadata.annotations.find(kCaseMatrix);
  if (found == node.metadata.annotations.end()) return;
  const char* corpus = std::getenv("RANKWARD_CORPUS");
  if (corpus == nullptr) throw std::runtime_error("RANKWARD_CORPUS is not set");
  const std::string& path = found->second;
  const auto matrix =
      checked(formats::read_topology_matrix(text_of(fs::path(corpus) / path)), path);
  node.metadata.annotations.emplace(formats::kTopologyAnnotation,
                                    checked(formats::print_topology(matrix), path));
}

topology::NodeTopology topology_of(const kube::Node& node) {
  topology::NodeTopology topology = topology::from_labels(node, {});
  const auto report = node.metadata.annotations.find(formats::kTopologyAnnotation);
  if (report != node.metadata.annotations.end()) {
    topology = topology::merge(checked(formats::read_topology(report->second), node.metadata.name),
                               topology);
  }
  apply_case_keys(node, topology);
  return topology;
}

kube::Pod read_existing(const formats::Document& document) {
  kube::Pod pod = checked(formats::read_pod(document.json), document.name);
  const auto assigned = pod.metadata.annotations.find(std::string(kCaseKeys) + "assigned-gpus");
  if (assigned != pod.metadata.annotations.end()) {
    pod.metadata.annotations["rankward.io/assigned-gpus"] = assigned->second;
  }
  return pod;
}

YAML::Node expected_of(const fs::path& path) {
  const std::string text = text_of(path);
  const std::string fence = "```yaml\n";
  const auto begin = text.find(fence);
  const auto end = text.find("```", begin + fence.size());
  if (begin == std::string::npos || end == std::string::npos) {
    throw std::runtime_error(path.string() + " has no yaml block");
  }
  return YAML::Load(text.substr(begin + fence.size(), end - begin - fence.size()));
}

}  // namespace

bool names_a_matrix(const fs::path& folder) {
  return fs::exists(folder / "nodes.yaml") &&
         text_of(folder / "nodes.yaml").find(kCaseMatrix) != std::string::npos;
}

bool can_be_read(const fs::path& folder) {
  return std::getenv("RANKWARD_CORPUS") != nullptr || !names_a_matrix(folder);
}

Case read_case(const fs::path& folder) {
  Case out;
  out.name = folder.filename();
  out.folder = folder;
  out.expected = expected_of(folder / "expected.md");
  for (const formats::Document& document : documents_of(folder / "pod.yaml")) {
    if (document.kind != "Pod") {
      out.others.push_back(
          checked(formats::read_judged_object(document.api_version, document.kind, document.json),
                  document.name));
      continue;
    }
    out.pods.push_back({checked(formats::read_pod(document.json), document.name), document.json});
  }
  placement::SnapshotBuilder builder;
  if (fs::exists(folder / "nodes.yaml")) {
    for (const formats::Document& document : documents_of(folder / "nodes.yaml")) {
      kube::Node node = checked(formats::read_node(document.json), document.name);
      apply_case_matrix(node);
      out.node_names.push_back(node.metadata.name);
      out.nodes.push_back(node);
      builder.put_node(node, topology_of(node));
    }
  }
  if (fs::exists(folder / "existing-pods.yaml")) {
    for (const formats::Document& document : documents_of(folder / "existing-pods.yaml")) {
      builder.put_pod(read_existing(document));
    }
  }
  out.snapshot = builder.build();
  return out;
}

Judged judge(const Case& from, const kube::Pod& pod) {
  Judged out{checked(placement::make_request(pod, {}), pod.metadata.full_name()), {}, {}};
  for (const std::string& name : from.node_names) {
    out.candidates.push_back({name, from.snapshot->find(name)});
  }
  out.ranking = placement::rank(out.request, pod.spec, *from.snapshot, out.candidates, {},
                                placement::Use::kExplain);
  return out;
}

admission::Judgement admit(const kube::Pod& pod) {
  admission::Review review;
  review.subjects.push_back({.metadata = pod.metadata,
                             .spec = pod.spec,
                             .namespace_ = pod.metadata.namespace_,
                             .path_prefix = "",
                             .workload_kind = ""});
  return admission::judge(admission::Policy(), review, 0);
}

admission::Judgement admit(const formats::JudgedObject& object) {
  admission::Review review;
  review.subjects = object.subjects(object.metadata.namespace_);
  return admission::judge(admission::Policy(), review, 0);
}

}  // namespace rankward::cases
