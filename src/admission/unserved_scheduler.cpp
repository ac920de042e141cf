// SCH-02: a GPU pod that goes to a scheduler which never calls the extender.
#include <algorithm>

#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

// What the API server fills in (core/v1 DefaultSchedulerName).
constexpr std::string_view kDefaultScheduler = "default-scheduler";

void observe(const PodFacts& pod, Observations& out) {
  const std::vector<std::string>& served = pod.policy().options().served_schedulers;
  if (served.empty() || !pod.is_gpu_pod()) return;
  const std::string& written = pod.spec().scheduler_name;
  const std::string_view name = written.empty() ? kDefaultScheduler : std::string_view(written);
  if (std::find(served.begin(), served.end(), name) != served.end()) return;
  Observation found;
  found.field = pod.field("schedulerName");
  found.subject = "schedulerName";
  found.value = name;
  found.what = "schedulerName " + in_quotes(name) + " on a GPU pod; placement is known to " +
               in_quotes(served.front());
  found.what += served.size() > 1 ? " and others." : ".";
  out.push_back(std::move(found));
}

}  // namespace

extern const Rule kUnservedScheduler;
const Rule kUnservedScheduler{
    {.id = "SCH-02",
     .title = "a scheduler that does not know the GPUs' topology",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why =
         "That scheduler never asks the extender, so the pod is placed without regard to NVLink, "
         "NICs, MIG slices and the gang's other ranks.",
     .fix = "drop schedulerName, or name a scheduler that is configured with the extender."},
    observe,
    false};

}  // namespace rankward::admission
