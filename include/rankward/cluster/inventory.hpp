// A cluster that stands in a file or in memory, for standalone servers, the CLI and the demo.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/cluster/snapshot_holder.hpp"
#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::formats {
struct GangOwner;
}

namespace rankward::cluster {

// Ready from the start. Every method may be called from any thread; each change is a new Snapshot.
class InventorySource : public SnapshotSource {
 public:
  InventorySource(std::vector<kube::Node> nodes, const std::vector<kube::Pod>& pods,
                  topology::LabelOptions labels = {});

  // Nodes, Pods and what says how large gangs are (formats::gang_resources()), alone, many
  // documents a file or in Lists, YAML or JSON; other kinds are passed over. A Pod without nodeName
  // is pending. kInvalid names the file and field; a file without any Node is kInvalid too.
  [[nodiscard]] static Result<std::unique_ptr<InventorySource>> from_files(
      const std::vector<std::string>& paths, topology::LabelOptions labels = {});

  // Replaces or adds the node of that name; pods on it stay.
  void put_node(kube::Node node);
  void remove_node(std::string_view name);
  // As a kubelet would see it afterwards: the pod holds its devices on that node. kNotFound where
  // no such node is there. A pod that is bound already is moved.
  [[nodiscard]] Result<void> bind(kube::Pod pod, std::string_view node);
  // The pod is gone and holds nothing: by UID, by namespace/name where it has none.
  void remove_pod(std::string_view uid);

  [[nodiscard]] std::shared_ptr<const placement::Snapshot> current() const override {
    return holder_.load();
  }
  [[nodiscard]] bool ready() const override { return true; }
  // Texts of topology annotations that could not be read, "NODE: why"; labels are used there.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  void put_node_locked(kube::Node node);
  void put_owners(std::vector<formats::GangOwner> owners);

  const topology::LabelOptions labels_;
  mutable std::mutex mutex_;
  placement::SnapshotBuilder builder_;
  std::vector<std::string> warnings_;
  SnapshotHolder holder_;
};

}  // namespace rankward::cluster
