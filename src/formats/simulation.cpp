#include "rankward/formats/simulation.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "rankward/formats/documents.hpp"
#include "rankward/kube/quantity.hpp"
#include "yaml_section.hpp"

namespace rankward::formats {
namespace {

constexpr std::string_view kApiVersion = "sim.rankward.io/v1alpha1";
constexpr std::int64_t kMostHosts = 200'000;
constexpr std::int64_t kMostDevices = 16;  // of one machine
constexpr std::int64_t kMostPods = 100'000;

void read_number(YamlSection& section, std::string_view key, double most, double& out) {
  std::string text;
  section.read(key, text);
  if (text.empty() || section.reader().failed()) return;
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !(value >= 0 && value <= most)) {
    return section.reader().fail(section.at(key), section.path_of(key),
                                 "must be a number of 0 or more, not \"" + text + "\"");
  }
  out = value;
}

void read_quantity(YamlSection& section, std::string_view key,
                   const std::function<void(const kube::Quantity&)>& take) {
  std::string text;
  section.read(key, text);
  if (text.empty() || section.reader().failed()) return;
  const auto quantity = kube::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0 || quantity->milli_value_overflows()) {
    return section.reader().fail(section.at(key), section.path_of(key),
                                 "must be an amount such as 96 or 2Ti, not \"" + text + "\"");
  }
  take(*quantity);
}

void read_bytes(YamlSection& section, std::string_view key, topology::Bytes& out) {
  read_quantity(section, key, [&out](const kube::Quantity& amount) { out.count = amount.value(); });
}

void read_cpus(YamlSection& section, std::string_view key, std::int64_t& milli) {
  read_quantity(section, key,
                [&milli](const kube::Quantity& amount) { milli = amount.milli_value(); });
}

MachineModel read_machine(YamlSection& section) {
  using topology::LinkLayer;
  using topology::PathType;
  MachineModel machine;
  section.read("name", machine.name);
  section.read("product", machine.product);
  section.read_integer("gpus", 1, kMostDevices, machine.gpus);
  auto links = static_cast<std::size_t>(machine.links);
  section.read_choice("gpuLinks", {"nvswitch", "pairs", "pcie"}, links);
  machine.links = static_cast<GpuLinks>(links);
  section.read_integer("nics", 0, kMostDevices, machine.nics);
  read_number(section, "nicRate", 1'000, machine.nic_rate.value);
  std::size_t path = 0;
  section.read_choice("nicPath", {"pix", "node", "sys"}, path);
  constexpr PathType kPaths[] = {PathType::kPix, PathType::kNode, PathType::kSys};
  machine.nic_path = kPaths[path];
  std::size_t layer = 0;
  section.read_choice("linkLayer", {"infiniband", "ethernet"}, layer);
  machine.link_layer = layer == 0 ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
  read_cpus(section, "cpus", machine.cpu_milli);
  read_bytes(section, "memory", machine.memory);
  section.read_integer("weight", 1, 1'000'000, machine.weight);
  return machine;
}

JobModel read_job(YamlSection& section) {
  JobModel job;
  section.read("name", job.name);
  read_number(section, "arrival", kMostSeconds, job.arrival);
  read_number(section, "duration", kMostSeconds, job.duration);
  section.read_integer("pods", 1, kMostPods, job.pods);
  section.read_integer("gpus", 0, kMostDevices, job.gpus);
  read_cpus(section, "cpus", job.cpu_milli);
  read_bytes(section, "memory", job.memory);
  read_bytes(section, "messageSize", job.message_size);
  auto network = static_cast<std::size_t>(job.network);
  section.read_choice("network", {"none", "rdma-devices", "host-network"}, network);
  job.network = static_cast<JobNetwork>(network);
  section.read("products", job.products);
  return job;
}

// Runs `read` over the one document of the file, which must be of that kind.
Result<void> read_file(std::string_view text, std::string_view source_name, std::string_view kind,
                       std::vector<std::string_view> keys,
                       const std::function<void(YamlSection&)>& read) {
  YamlReader reader{std::string(source_name)};
  if (text.size() > kMaxDocumentBytes) {
    return Error(ErrorKind::kTooLarge, "is larger than 64 MiB").in(std::string(source_name));
  }
  try {
    const YAML::Node document = YAML::Load(std::string(text));
    keys.insert(keys.end(), {"apiVersion", "kind"});
    YamlSection root(reader, document, "", keys);
    std::size_t ignored = 0;
    root.read_choice("apiVersion", {kApiVersion}, ignored);
    root.read_choice("kind", {kind}, ignored);
    if (!reader.failed()) read(root);
  } catch (const YAML::Exception& error) {
    Error invalid = Error::invalid(error.msg).in(std::string(source_name));
    if (error.mark.is_null()) return invalid;
    return std::move(invalid).at_line(static_cast<std::size_t>(error.mark.line) + 1);
  }
  if (reader.failed()) return reader.error();
  return {};
}

}  // namespace

Result<ClusterModel> read_cluster_model(std::string_view text, std::string_view source_name) {
  ClusterModel model;
  const auto read = read_file(
      text, source_name, "SimulatedCluster", {"name", "machines", "spines", "cliqueHosts"},
      [&model](YamlSection& root) {
        root.read("name", model.name);
        root.read_integer("cliqueHosts", 0, kMostHosts, model.clique_hosts);
        root.sections(
            "machines",
            {"name", "product", "gpus", "gpuLinks", "nics", "nicRate", "nicPath", "linkLayer",
             "cpus", "memory", "weight"},
            [&model](YamlSection& machine) { model.machines.push_back(read_machine(machine)); });
        std::int64_t hosts = 0;
        root.sections("spines", {"leaves", "hosts"}, [&](YamlSection& section) {
          SpineModel spine;
          section.read_integer("leaves", 0, kMostHosts, spine.leaves);
          section.read_integer("hosts", 1, kMostHosts, spine.hosts);
          hosts += spine.hosts;
          model.spines.push_back(spine);
        });
        if (root.reader().failed()) return;
        if (model.machines.empty() || model.spines.empty()) {
          root.reader().fail(YAML::Node(), model.machines.empty() ? "machines" : "spines",
                             "must have at least one entry");
        } else if (hosts > kMostHosts) {
          root.reader().fail(root.at("spines"), "spines", "must have at most 200000 hosts in all");
        }
      });
  if (!read) return read.error();
  return model;
}

Result<std::vector<JobModel>> read_job_models(std::string_view text, std::string_view source_name) {
  std::vector<JobModel> jobs;
  const auto read =
      read_file(text, source_name, "SimulatedJobs", {"jobs"}, [&jobs](YamlSection& root) {
        root.sections("jobs",
                      {"name", "arrival", "duration", "pods", "gpus", "cpus", "memory",
                       "messageSize", "network", "products"},
                      [&jobs](YamlSection& job) { jobs.push_back(read_job(job)); });
      });
  if (!read) return read.error();
  return jobs;
}

}  // namespace rankward::formats
