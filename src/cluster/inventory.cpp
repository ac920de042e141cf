#include "rankward/cluster/inventory.hpp"

#include <utility>

#include "files.hpp"
#include "node_facts.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/gang_objects.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::cluster {
namespace {

// Puts the line into an error of one object in a file.
Error located(Error error, const formats::Document& document, const std::string& path) {
  const auto line = document.line_of(error.field());
  return std::move(error).at_line(line.value_or(document.line)).in(path);
}

}  // namespace

InventorySource::InventorySource(std::vector<kube::Node> nodes, const std::vector<kube::Pod>& pods,
                                 topology::LabelOptions labels)
    : labels_(std::move(labels)) {
  for (auto& node : nodes)
    put_node_locked(std::move(node));
  for (const auto& pod : pods)
    builder_.put_pod(pod);
  holder_.store(builder_.build());
}

Result<std::unique_ptr<InventorySource>> InventorySource::from_files(
    const std::vector<std::string>& paths, topology::LabelOptions labels) {
  std::vector<kube::Node> nodes;
  std::vector<kube::Pod> pods;
  std::vector<formats::GangOwner> owners;
  std::string all_paths;
  for (const auto& path : paths) {
    all_paths += (all_paths.empty() ? "" : ", ") + path;
    auto text = read_file(path, formats::kMaxDocumentBytes);
    if (!text) return text.error();
    auto documents = formats::read_documents(*text, path);
    if (!documents) return documents.error();
    for (const auto& document : *documents) {
      if (const auto* resource = formats::find_gang_resource(document.api_version, document.kind)) {
        auto owner = formats::read_gang_owner(*resource, document.json);
        if (!owner) return located(owner.error(), document, path);
        owners.push_back(std::move(*owner));
      }
      if (document.api_version != "v1") continue;
      if (document.kind == "Node") {
        auto node = formats::read_node(document.json);
        if (!node) return located(node.error(), document, path);
        nodes.push_back(std::move(*node));
      } else if (document.kind == "Pod") {
        auto pod = formats::read_pod(document.json);
        if (!pod) return located(pod.error(), document, path);
        pods.push_back(std::move(*pod));
      }
    }
  }
  if (nodes.empty()) return Error::invalid("must have at least one Node").in(all_paths);
  auto source = std::make_unique<InventorySource>(std::move(nodes), pods, std::move(labels));
  source->put_owners(std::move(owners));
  return source;
}

void InventorySource::put_owners(std::vector<formats::GangOwner> owners) {
  const std::lock_guard lock(mutex_);
  for (auto& owner : owners)
    builder_.put_gang_facts(owner.key, std::move(owner.facts));
  holder_.store(builder_.build());
}

void InventorySource::put_node_locked(kube::Node node) {
  auto facts = node_facts(std::move(node), labels_);
  if (facts.bad_annotation) {
    warnings_.push_back(facts.node.metadata.name + ": " + facts.bad_annotation->to_string());
  }
  builder_.put_node(std::move(facts.node), std::move(facts.topology));
}

void InventorySource::put_node(kube::Node node) {
  const std::lock_guard lock(mutex_);
  put_node_locked(std::move(node));
  holder_.store(builder_.build());
}

void InventorySource::remove_node(std::string_view name) {
  const std::lock_guard lock(mutex_);
  builder_.remove_node(name);
  holder_.store(builder_.build());
}

Result<void> InventorySource::bind(kube::Pod pod, std::string_view node) {
  const std::lock_guard lock(mutex_);
  if (!holder_.load()->find(node)) {
    return Error(ErrorKind::kNotFound, "there is no node \"" + std::string(node) + "\"");
  }
  pod.spec.node_name = node;
  builder_.put_pod(pod);
  holder_.store(builder_.build());
  return {};
}

void InventorySource::remove_pod(std::string_view uid) {
  const std::lock_guard lock(mutex_);
  builder_.remove_pod(uid);
  holder_.store(builder_.build());
}

std::vector<std::string> InventorySource::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

}  // namespace rankward::cluster
