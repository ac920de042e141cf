// The extender's verbs from request bytes to answer bytes, without the network: what a core can
// answer.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "extender.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/formats/caller.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::server {
namespace {

std::string node_name(std::int64_t i) {
  std::string number = std::to_string(i);
  return "gpu-node-" + std::string(5 - number.size(), '0') + number + ".cluster.example.com";
}

// As large as a Node that kube-scheduler sends: some 10 KB, most of it labels, images and
// conditions.
std::string node_json(std::int64_t i) {
  std::string images;
  for (int image = 0; image < 50; ++image) {
    images += (image == 0 ? "" : ",") +
              std::string(R"({"names":["registry.example.com/some/longer/image/name@sha256:)") +
              std::string(64, 'a') +
              R"(","registry.example.com/some/longer/image/name:v1"],"sizeBytes":123456789})";
  }
  return R"({"metadata":{"name":")" + node_name(i) +
         R"(","labels":{"nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.count":"8",)"
         R"("nvidia.com/gpu.memory":"81559","nvidia.com/gpu.replicas":"1","fabric.topograph.run/tier-0":"leaf-)" +
         std::to_string(i / 16) + R"(","fabric.topograph.run/tier-1":"spine-)" +
         std::to_string(i / 512) +
         R"("}},"spec":{},"status":{"allocatable":{"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","rdma/ib":"1k"},)"
         R"("capacity":{"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","rdma/ib":"1k"},)"
         R"("conditions":[{"type":"Ready","status":"True"}],"images":[)" +
         images + "]}}";
}

std::string pod_json(int gpus) {
  return R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":")" +
         std::to_string(gpus) + R"(","rdma/ib":"1"},"requests":{"nvidia.com/gpu":")" +
         std::to_string(gpus) + R"(","rdma/ib":"1"}}}]}})";
}

struct Inventory {
  std::unique_ptr<cluster::InventorySource> source;
  std::unique_ptr<cluster::PlanBoard> board;
};

cluster::PlanBoard* inventory(std::int64_t nodes) {
  static std::map<std::int64_t, Inventory> made;
  auto& [source, board] = made[nodes];
  if (!source) {
    std::vector<kube::Node> list;
    for (std::int64_t i = 0; i < nodes; ++i) {
      list.push_back(formats::read_node(node_json(i)).value());
    }
    source = std::make_unique<cluster::InventorySource>(std::move(list), std::vector<kube::Pod>());
    board = std::make_unique<cluster::PlanBoard>(*source, cluster::machine_clock());
  }
  return board.get();
}

std::vector<std::string> names(std::int64_t count) {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(node_name(i));
  return out;
}

void run(benchmark::State& state, const Extender& extender, const std::string& body,
         Answer (Extender::*verb)(std::string_view, std::string&) const) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    benchmark::DoNotOptimize((extender.*verb)(body, out));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

// The argument is the number of names.
void filter_names_whole_node(benchmark::State& state) {
  const Extender extender({}, inventory(state.range(0)));
  run(state, extender, formats::write_extender_args(pod_json(8), names(state.range(0))),
      &Extender::filter);
}
BENCHMARK(filter_names_whole_node)->Arg(5000)->Arg(15000)->Unit(benchmark::kMillisecond);

void filter_names_two_gpus(benchmark::State& state) {
  const Extender extender({}, inventory(state.range(0)));
  run(state, extender, formats::write_extender_args(pod_json(2), names(state.range(0))),
      &Extender::filter);
}
BENCHMARK(filter_names_two_gpus)->Arg(5000)->Arg(15000)->Unit(benchmark::kMillisecond);

std::string rank_json(int rank, int ranks) {
  return R"({"metadata":{"name":"r","namespace":"n","uid":"r)" + std::to_string(rank) +
         R"(","annotations":{"rankward.io/gang":"g","rankward.io/gang-size":")" +
         std::to_string(ranks) + R"(","rankward.io/rank":")" + std::to_string(rank) +
         R"("}},"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"8","rdma/ib":"1"}}}]}})";
}

// A rank of a gang that has its plan: the second argument is the number of ranks.
void filter_names_later_rank(benchmark::State& state) {
  const Extender extender({}, inventory(state.range(0)));
  const auto ranks = static_cast<int>(state.range(1));
  const auto all = names(state.range(0));
  std::string out;
  static_cast<void>(extender.filter(formats::write_extender_args(rank_json(0, ranks), all), out));
  run(state, extender, formats::write_extender_args(rank_json(ranks / 2, ranks), all),
      &Extender::filter);
}
BENCHMARK(filter_names_later_rank)
    ->Args({5000, 64})
    ->Args({5000, 1024})
    ->Args({15000, 1024})
    ->Unit(benchmark::kMicrosecond);

// What an empty managedResources costs a pod that asks for nothing of ours.
void filter_names_plain_pod(benchmark::State& state) {
  const Extender extender({}, inventory(state.range(0)));
  const std::string pod =
      R"({"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c"}]}})";
  run(state, extender, formats::write_extender_args(pod, names(state.range(0))), &Extender::filter);
}
BENCHMARK(filter_names_plain_pod)->Arg(5000)->Arg(15000)->Unit(benchmark::kMillisecond);

void prioritize_names(benchmark::State& state) {
  const Extender extender({}, inventory(5000));
  run(state, extender, formats::write_extender_args(pod_json(8), names(state.range(0))),
      &Extender::prioritize);
}
BENCHMARK(prioritize_names)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);

// nodeCacheCapable: false and no API server: every call carries the cluster.
void filter_full_nodes(benchmark::State& state) {
  std::string body =
      R"({"Pod":)" + pod_json(8) + R"(,"NodeNames":null,"Nodes":{"metadata":{},"items":[)";
  for (std::int64_t i = 0; i < state.range(0); ++i)
    body += (i == 0 ? "" : ",") + node_json(i);
  body += "]}}";
  const Extender extender({}, nullptr);
  run(state, extender, body, &Extender::filter);
}
BENCHMARK(filter_full_nodes)->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankward::server
