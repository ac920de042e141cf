// What reading and writing one call costs, at 5,000 and 15,000 nodes, beside what the two JSON
// libraries take for the same bytes. simdjson's figures include the copy into a padded buffer; it
// does not validate what it passes over. Boost.JSON's are its parser with a handler that does
// nothing: a lower bound for whoever validates with it.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <boost/json/basic_parser_impl.hpp>
#include <string>
#include <vector>

#include "rankward/formats/extender.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/review.hpp"

namespace {

namespace formats = rankward::formats;

const char kPod[] =
    R"({"metadata":{"name":"train-0","namespace":"team-a","uid":"5a0f2d0e-0000-4000-8000-000000000000",)"
    R"("labels":{"app":"train"}},"spec":{"containers":[{"name":"train","image":"train:1",)"
    R"("resources":{"limits":{"nvidia.com/gpu":"8"},"requests":{"nvidia.com/gpu":"8"}}}]}})";

std::string node_name(std::size_t i) {
  std::string digits = std::to_string(i);
  return "gpu-node-pool-a-" + std::string(6 - digits.size(), '0') + digits;
}

std::string names_body(std::size_t count) {
  std::string body = std::string("{\"Pod\":") + kPod + ",\"Nodes\":null,\"NodeNames\":[";
  for (std::size_t i = 0; i < count; ++i)
    body += (i == 0 ? "\"" : ",\"") + node_name(i) + "\"";
  return body + "]}";
}

// About 11.7 KB, as a live node of a GPU cluster has: labels, annotations, images, conditions.
std::string node_json(std::size_t i) {
  std::string json = "{\"metadata\":{\"name\":\"" + node_name(i) + "\",\"labels\":{";
  for (int label = 0; label < 60; ++label) {
    json += (label == 0 ? "\"" : ",\"") + std::string("feature.node.kubernetes.io/label-") +
            std::to_string(label) + "\":\"value-" + std::to_string(label) + "\"";
  }
  json +=
      "}},\"spec\":{\"podCIDR\":\"10.0.0.0/24\"},\"status\":{\"capacity\":{\"cpu\":\"192\","
      "\"memory\":\"2113409148Ki\",\"nvidia.com/gpu\":\"8\"},\"allocatable\":{\"cpu\":\"191\","
      "\"memory\":\"2113306748Ki\",\"nvidia.com/gpu\":\"8\"},\"conditions\":[{\"type\":"
      "\"Ready\",\"status\":\"True\",\"message\":\"kubelet is posting ready status\"}],"
      "\"images\":[";
  for (int image = 0; image < 50; ++image) {
    json += (image == 0 ? "" : ",") +
            std::string(
                "{\"names\":[\"registry.example.com/library/image@sha256:"
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"],"
                "\"sizeBytes\":") +
            std::to_string(1000000 + image) + "}";
  }
  return json + "]}}";
}

std::string nodes_body(std::size_t count) {
  std::string body = std::string("{\"Pod\":") + kPod +
                     ",\"NodeNames\":null,\"Nodes\":{\"metadata\":{},\"items\":[";
  for (std::size_t i = 0; i < count; ++i)
    body += (i == 0 ? "" : ",") + node_json(i);
  return body + "]}}";
}

void count_bytes(benchmark::State& state, std::size_t size) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
  state.counters["body_bytes"] = static_cast<double>(size);
}

void read_args(benchmark::State& state, const std::string& body) {
  formats::ExtenderArgsReader reader;
  for (auto _ : state) {
    const auto args = reader.read(body);
    if (!args) state.SkipWithError("refused");
    benchmark::DoNotOptimize(args);
  }
  count_bytes(state, body.size());
}

void names(benchmark::State& state) {
  read_args(state, names_body(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(names)->Arg(5000)->Arg(15000)->Unit(benchmark::kMicrosecond);

void nodes(benchmark::State& state) {
  read_args(state, nodes_body(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(nodes)->Arg(5000)->Unit(benchmark::kMillisecond);

struct NullHandler {
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};
  using Code = boost::json::error_code&;
  using Text = boost::json::string_view;
  bool on_document_begin(Code) { return true; }
  bool on_document_end(Code) { return true; }
  bool on_object_begin(Code) { return true; }
  bool on_object_end(std::size_t, Code) { return true; }
  bool on_array_begin(Code) { return true; }
  bool on_array_end(std::size_t, Code) { return true; }
  bool on_key_part(Text, std::size_t, Code) { return true; }
  bool on_key(Text, std::size_t, Code) { return true; }
  bool on_string_part(Text, std::size_t, Code) { return true; }
  bool on_string(Text, std::size_t, Code) { return true; }
  bool on_number_part(Text, Code) { return true; }
  bool on_int64(std::int64_t, Text, Code) { return true; }
  bool on_uint64(std::uint64_t, Text, Code) { return true; }
  bool on_double(double, Text, Code) { return true; }
  bool on_bool(bool, Code) { return true; }
  bool on_null(Code) { return true; }
  bool on_comment_part(Text, Code) { return true; }
  bool on_comment(Text, Code) { return true; }
};

void validate_with_boost(benchmark::State& state, const std::string& body) {
  for (auto _ : state) {
    boost::json::basic_parser<NullHandler> parser{boost::json::parse_options{}};
    boost::json::error_code code;
    benchmark::DoNotOptimize(parser.write_some(false, body.data(), body.size(), code));
    if (code) state.SkipWithError("refused");
  }
  count_bytes(state, body.size());
}

// Names or raw nodes, into vectors that are kept.
void read_with_simdjson(benchmark::State& state, const std::string& body, bool whole_nodes) {
  simdjson::ondemand::parser parser;
  std::string padded;
  std::vector<std::string_view> names;
  std::vector<std::string_view> items;
  for (auto _ : state) {
    padded.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    padded.assign(body);
    names.clear();
    items.clear();
    auto document = parser.iterate(padded.data(), padded.size(), padded.capacity());
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (!whole_nodes && key == "NodeNames") {
        for (auto name : field.value().get_array())
          names.push_back(name.get_string());
      } else if (whole_nodes && key == "Nodes") {
        for (auto node : field.value()["items"].get_array()) {
          auto object = node.get_object();
          names.push_back(object["metadata"]["name"].get_string());
          items.push_back(simdjson::to_json_string(object));
        }
      }
    }
    benchmark::DoNotOptimize(names.data());
  }
  if (names.empty()) state.SkipWithError("nothing read");
  count_bytes(state, body.size());
}

void names_boost_validation_alone(benchmark::State& state) {
  validate_with_boost(state, names_body(5000));
}
BENCHMARK(names_boost_validation_alone)->Unit(benchmark::kMicrosecond);
void names_simdjson_without_validation(benchmark::State& state) {
  read_with_simdjson(state, names_body(5000), false);
}
BENCHMARK(names_simdjson_without_validation)->Unit(benchmark::kMicrosecond);
void nodes_boost_validation_alone(benchmark::State& state) {
  validate_with_boost(state, nodes_body(5000));
}
BENCHMARK(nodes_boost_validation_alone)->Unit(benchmark::kMillisecond);
void nodes_simdjson_without_validation(benchmark::State& state) {
  read_with_simdjson(state, nodes_body(5000), true);
}
BENCHMARK(nodes_simdjson_without_validation)->Unit(benchmark::kMillisecond);

void one_node(benchmark::State& state) {
  const std::string json = node_json(0);
  for (auto _ : state)
    benchmark::DoNotOptimize(formats::read_node(json));
  count_bytes(state, json.size());
}
BENCHMARK(one_node)->Unit(benchmark::kMicrosecond);

void one_pod(benchmark::State& state) {
  const std::string json = kPod;
  for (auto _ : state)
    benchmark::DoNotOptimize(formats::read_pod(json));
  count_bytes(state, json.size());
}
BENCHMARK(one_pod)->Unit(benchmark::kMicrosecond);

struct Names {
  explicit Names(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      texts.push_back(node_name(i));
    views.assign(texts.begin(), texts.end());
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
};

void write_priorities(benchmark::State& state) {
  const Names names(static_cast<std::size_t>(state.range(0)));
  const std::vector<std::int64_t> scores(names.views.size(), 7);
  std::string out;
  for (auto _ : state) {
    out.clear();
    formats::write_host_priorities(names.views, scores, out);
  }
  count_bytes(state, out.size());
}
BENCHMARK(write_priorities)->Arg(5000)->Arg(15000)->Unit(benchmark::kMicrosecond);

void write_rejections(benchmark::State& state) {
  const Names names(static_cast<std::size_t>(state.range(0)));
  std::vector<formats::RejectedNode> failed;
  for (const std::string_view name : names.views)
    failed.push_back({name, "no RDMA on this node"});
  std::string out;
  for (auto _ : state) {
    out.clear();
    formats::write_filter_result({formats::NodeForm::kNames, {}, failed, {}, ""}, out);
  }
  count_bytes(state, out.size());
}
BENCHMARK(write_rejections)->Arg(5000)->Arg(15000)->Unit(benchmark::kMicrosecond);

void admission_review(benchmark::State& state) {
  const std::string body =
      std::string(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)") +
      R"("uid":"u","kind":{"version":"v1","kind":"Pod"},"operation":"CREATE","object":)" + kPod +
      ",\"options\":{\"padding\":\"" + std::string(3000, 'x') + "\"}}}";
  std::string out;
  for (auto _ : state) {
    const auto request = formats::read_admission_review(body);
    if (!request) state.SkipWithError("refused");
    out.clear();
    formats::write_admission_response({.uid = request->uid}, out);
    benchmark::DoNotOptimize(formats::read_pod(request->object));
  }
  count_bytes(state, body.size());
}
BENCHMARK(admission_review)->Unit(benchmark::kMicrosecond);

}  // namespace
