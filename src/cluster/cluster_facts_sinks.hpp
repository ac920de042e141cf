// Objects as parts of ClusterFacts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster_facts_board.hpp"
#include "rankward/kube/meta.hpp"
#include "rankward/kube/volume.hpp"
#include "resource_sink.hpp"

namespace rankward::cluster {

// Keeps what matters of each object, by name, and derives one part of the facts of it.
template <class Value>
class FactsSink : public ResourceSink {
 public:
  explicit FactsSink(ClusterFactsBoard& board) : board_(board) {}

  void begin_list() override { listed_.clear(); }
  Result<void> list_item(std::string_view json) override;
  void end_list() override;
  Result<void> put(std::string_view json) override;
  Result<void> remove(std::string_view json) override;
  // The resource cannot be had.
  void forget();

 protected:
  using ByName = std::map<std::string, Value, std::less<>>;

  struct Read {
    std::string name;
    std::optional<Value> value;  // nothing where the object does not matter
  };
  virtual Result<Read> read(std::string_view json) const = 0;
  // Returns whether the facts changed.
  virtual bool derive(const ByName& objects, admission::ClusterFacts& facts) const = 0;

 private:
  void publish();

  ClusterFactsBoard& board_;
  ByName objects_;
  ByName listed_;
};

// Accelerators that a node has allocatable.
using NodeAccelerators = std::map<std::string, std::int64_t, std::less<>>;

// A volume that a claim has and that leads to the node's own files.
struct ClaimedVolume {
  std::string claim;  // "namespace/name"
  kube::PersistentVolume volume;

  // In what is derived of it.
  friend bool operator==(const ClaimedVolume& a, const ClaimedVolume& b);
};

class NodeFactsSink final : public FactsSink<NodeAccelerators> {
 public:
  using FactsSink::FactsSink;

 private:
  Result<Read> read(std::string_view json) const override;
  bool derive(const ByName& objects, admission::ClusterFacts& facts) const override;
};

class NamespaceFactsSink final : public FactsSink<kube::StringMap> {
 public:
  using FactsSink::FactsSink;

 private:
  Result<Read> read(std::string_view json) const override;
  bool derive(const ByName& objects, admission::ClusterFacts& facts) const override;
};

class VolumeFactsSink final : public FactsSink<ClaimedVolume> {
 public:
  using FactsSink::FactsSink;

 private:
  Result<Read> read(std::string_view json) const override;
  bool derive(const ByName& objects, admission::ClusterFacts& facts) const override;
};

}  // namespace rankward::cluster
