#include <algorithm>
#include <string>
#include <utility>

#include "csv.hpp"
#include "machines.hpp"
#include "openb.hpp"
#include "rankward/sim/models.hpp"

namespace rankward::sim {
namespace {

constexpr std::int64_t kMostMilli = 10'000'000;
constexpr std::int64_t kMostMebibytes = std::int64_t{1} << 30;
constexpr std::int64_t kMostGpus = 16;
constexpr std::int64_t kMostPods = 100'000;

// Collects the first error of a row, so that a reader is a plain list of columns.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  std::int64_t integer(std::string_view column, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise = 0) {
    return keep(table_.integer(row_, column, least, most, otherwise));
  }
  double number(std::string_view column, double otherwise = 0) {
    return keep(table_.number(row_, column, formats::kMostSeconds, otherwise));
  }
  std::string text(std::string_view column) const { return std::string(table_.cell(row_, column)); }
  void fail(std::string_view column, std::string message) {
    if (!error_) error_ = table_.error(row_, column, std::move(message));
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  T keep(const Result<T>& value) {
    if (value) return *value;
    if (!error_) error_ = value.error();
    return T{};
  }

  const CsvTable& table_;
  std::size_t row_;
  std::optional<Error> error_;
};

void sort_by_arrival(std::vector<Job>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival < b.arrival; });
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

}  // namespace

Result<std::vector<SimulatedNode>> read_openb_nodes(std::string_view csv,
                                                    std::string_view source_name) {
  const auto table =
      CsvTable::read(csv, source_name, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
  if (!table) return table.error();
  std::vector<SimulatedNode> nodes;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    Row row(*table, i);
    const std::int64_t gpus = row.integer("gpu", 0, kMostGpus);
    if (gpus == 0 && !row.error()) continue;
    formats::MachineModel machine = openb_machine(row.text("model"), gpus);
    machine.cpu_milli = row.integer("cpu_milli", 1, kMostMilli);
    machine.memory = {row.integer("memory_mib", 1, kMostMebibytes) << 20};
    if (row.error()) return *row.error();
    nodes.push_back(make_host(row.text("sn"), machine, {}));
  }
  std::sort(nodes.begin(), nodes.end(), [](const SimulatedNode& a, const SimulatedNode& b) {
    return a.node.metadata.name < b.node.metadata.name;
  });
  return nodes;
}

Result<std::vector<Job>> read_openb_pods(std::string_view csv, std::string_view source_name) {
  const auto table = CsvTable::read(csv, source_name,
                                    {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli",
                                     "gpu_spec", "creation_time", "deletion_time"});
  if (!table) return table.error();
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    Row row(*table, i);
    Job job;
    job.gpus = row.integer("num_gpu", 0, kMostGpus);
    if (job.gpus == 0 && !row.error()) continue;
    job.name = row.text("name");
    job.cpu_milli = row.integer("cpu_milli", 0, kMostMilli);
    job.memory = {row.integer("memory_mib", 0, kMostMebibytes) << 20};
    job.arrival = row.number("creation_time");
    job.duration = std::max(1.0, row.number("deletion_time") - job.arrival);
    job.products = split(row.text("gpu_spec"), '|');
    if (row.error()) return *row.error();
    jobs.push_back(std::move(job));
  }
  sort_by_arrival(jobs);
  const double first = jobs.empty() ? 0 : jobs.front().arrival;
  for (Job& job : jobs)
    job.arrival -= first;
  return jobs;
}

Result<std::vector<Job>> read_job_csv(std::string_view csv, std::string_view source_name) {
  const auto table =
      CsvTable::read(csv, source_name, {"name", "arrival", "duration", "pods", "gpus"});
  if (!table) return table.error();
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    Row row(*table, i);
    Job job;
    job.name = row.text("name");
    job.arrival = row.number("arrival");
    job.duration = row.number("duration");
    job.pods = row.integer("pods", 1, kMostPods);
    job.gpus = row.integer("gpus", 0, kMostGpus);
    job.cpu_milli = row.integer("cpu_milli", 0, kMostMilli);
    job.memory = {row.integer("memory_mib", 0, kMostMebibytes) << 20};
    job.message_size = {row.integer("message_mib", 1, kMostMebibytes, 1024) << 20};
    const std::string network = row.text("network");
    if (network == "rdma-devices") {
      job.network = JobNetwork::kRdmaDevices;
    } else if (network == "host-network") {
      job.network = JobNetwork::kHostNetwork;
    } else if (!network.empty() && network != "none") {
      row.fail("network", "must be none, rdma-devices or host-network, not \"" + network + "\"");
    }
    if (row.error()) return *row.error();
    jobs.push_back(std::move(job));
  }
  sort_by_arrival(jobs);
  return jobs;
}

}  // namespace rankward::sim
