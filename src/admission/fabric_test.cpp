// FAB-01: tests that load the fabric of every job beside them, held to what the cluster approves.
#include <algorithm>
#include <utility>

#include "distributed_job.hpp"
#include "fabric_test_program.hpp"
#include "rankward/kube/quantity.hpp"
#include "rankward/kube/rankward_keys.hpp"
#include "rankward/topology/units.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using topology::Bytes;

constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

constexpr std::string_view kSecondsFix =
    "set activeDeadlineSeconds in the pod's own spec (in the template, not in the Job), no longer "
    "than is approved.";
constexpr std::string_view kMessageFix =
    "set -e (or -s) of the test, or rankward.io/message-size, to no more than is approved.";
constexpr std::string_view kNodesFix = "run it on a number of nodes that is approved.";
constexpr std::string_view kQueueFix =
    "put the label kueue.x-k8s.io/queue-name of a queue for tests on the job.";

struct FabricTest {
  bool labelled = false;
  std::string name;  // for messages
  std::optional<FabricTestProgram> program;
  std::string where = "containers";  // below the spec
};

bool is_labelled(const kube::ObjectMeta* metadata) {
  if (metadata == nullptr) return false;
  const std::string* value = kube::find(metadata->labels, kube::kFabricTestKey);
  return value != nullptr && *value == "true";
}

std::optional<FabricTest> fabric_test(const PodFacts& pod) {
  FabricTest test;
  test.labelled =
      is_labelled(&pod.subject().metadata) || is_labelled(pod.subject().object_metadata);
  for (const ContainerFacts& facts : pod.containers()) {
    auto program = fabric_test_program(*facts.container);
    // What is started says more than what the image is called.
    if (!program || (test.program && (!test.program->by_image || program->by_image))) continue;
    test.program = program;
    test.where = facts.path;
  }
  if (!test.labelled && !test.program) return std::nullopt;
  test.name = "fabric test";
  if (test.program) test.name += " " + in_quotes(test.program->name);
  return test;
}

// MPIJob: the launcher starts the test, and when it ends the workers end.
enum class MpiRole : std::uint8_t { kNone, kLauncher, kWorker };
MpiRole mpi_role(const Subject& subject) {
  std::string role = subject.role;
  if (subject.workload_kind != "MPIJob") {
    const kube::OwnerReference* owner = subject.metadata.controller();
    // The launcher's pod belongs to a Job of the MPIJob.
    const std::string* label = group_value(subject, "training.kubeflow.org/job-role");
    if (owner == nullptr || label == nullptr) return MpiRole::kNone;
    if (owner->kind != "MPIJob" && *label != "launcher") return MpiRole::kNone;
    role = *label;
  }
  if (role == "Launcher" || role == "launcher") return MpiRole::kLauncher;
  return role == "Worker" || role == "worker" ? MpiRole::kWorker : MpiRole::kNone;
}

// Whether the workload object, which the API server shows us elsewhere, may say what is missing.
bool is_made_by_another(const Subject& subject) {
  return subject.workload_kind.empty() && subject.metadata.controller() != nullptr;
}

struct Look {
  const PodFacts& pod;
  const FabricTest& test;
  const FabricTestOptions& approved;
  Observations& out;

  void add(std::string field, std::string_view subject, std::string value, std::string text,
           std::string_view fix) const {
    Observation found;
    found.field = std::move(field);
    found.subject = subject;
    found.value = std::move(value);
    found.what = test.name + " " + std::move(text);
    found.fix = fix;
    found.milder = !test.labelled;
    out.push_back(std::move(found));
  }
};

void observe_seconds(const Look& look) {
  const std::int64_t most = look.approved.max_seconds;
  if (most <= 0) return;
  const auto seconds = look.pod.spec().active_deadline_seconds;
  if (seconds && *seconds <= most) return;
  const std::string has = seconds ? std::to_string(*seconds) : "none";
  look.add(
      look.pod.field("activeDeadlineSeconds"), "activeDeadlineSeconds", has,
      "with activeDeadlineSeconds " + has + ", where " + std::to_string(most) + " are approved.",
      kSecondsFix);
}

// By the test's option, else by the annotation, else what the program does without either.
std::optional<std::int64_t> message_bytes(const Look& look) {
  const auto& program = look.test.program;
  if (program && program->stated && program->message_bytes) return program->message_bytes;
  if (const std::string* text = own_value(look.pod.subject(), kube::kMessageSizeKey))
    return kube::annotated_bytes(*text);
  return program && !program->stated ? program->message_bytes : std::nullopt;
}

void observe_message(const Look& look) {
  const auto most = kube::Quantity::parse(look.approved.max_message_size);
  if (look.approved.max_message_size.empty() || !most) return;
  const auto bytes = message_bytes(look);
  if (bytes && *bytes <= most->value()) return;
  look.add(look.pod.field(look.test.where), "message-size", bytes ? std::to_string(*bytes) : "none",
           (bytes ? "with messages of " + topology::to_string(Bytes{*bytes})
                  : "with messages of unknown size") +
               ", where " + topology::to_string(Bytes{most->value()}) + " are approved.",
           kMessageFix);
}

std::optional<std::int64_t> nodes_of(const Subject& subject) {
  if (subject.replicas) return subject.replicas;
  if (const std::string* size = own_value(subject, kube::kGangSizeKey))
    return kube::small_number(*size, kube::kMaxGangSize);
  const bool alone = subject.workload_kind.empty() && !is_made_by_another(subject) &&
                     !is_in_a_group(subject) && own_value(subject, kube::kGangKey) == nullptr;
  return alone ? std::optional<std::int64_t>(1) : std::nullopt;
}

void observe_nodes(const Look& look) {
  const auto nodes = nodes_of(look.pod.subject());
  const std::int64_t least = look.approved.min_nodes;
  const std::int64_t most = look.approved.max_nodes;
  if (!nodes || ((least <= 0 || *nodes >= least) && (most <= 0 || *nodes <= most))) return;
  std::string range = least > 0 ? "at least " + std::to_string(least) : "";
  if (most > 0) range += (range.empty() ? "at most " : " and at most ") + std::to_string(most);
  look.add(look.pod.field(look.test.where), "nodes", std::to_string(*nodes),
           "on " + std::to_string(*nodes) + (*nodes == 1 ? " node" : " nodes") + ", where " +
               range + " are approved.",
           kNodesFix);
}

bool is_among(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_glob(glob, name); });
}

void observe_queue(const Look& look) {
  const Subject& subject = look.pod.subject();
  const std::string* queue = kube::find(subject.metadata.labels, kQueueLabel);
  if (queue == nullptr && subject.object_metadata != nullptr)
    queue = kube::find(subject.object_metadata->labels, kQueueLabel);
  const FabricTestOptions& approved = look.approved;
  if (queue == nullptr) {
    if (approved.queues.empty() || is_made_by_another(subject)) return;
    look.add(look.pod.metadata_field(".labels"), "queue", "none", "without a queue.", kQueueFix);
    return;
  }
  const bool production = is_among(approved.production_queues, *queue);
  if (!production && (approved.queues.empty() || is_among(approved.queues, *queue))) return;
  look.add(look.pod.metadata_field(".labels[\"kueue.x-k8s.io/queue-name\"]"), "queue", *queue,
           "in the queue " + in_quotes(*queue) +
               (production ? ", which is for production." : ", which is not approved for tests."),
           kQueueFix);
}

bool approves_everything(const FabricTestOptions& options) {
  return options.max_seconds <= 0 && options.max_message_size.empty() && options.min_nodes <= 0 &&
         options.max_nodes <= 0 && options.queues.empty() && options.production_queues.empty();
}

void observe(const PodFacts& pod, Observations& out) {
  if (approves_everything(pod.policy().options().fabric_tests)) return;
  const auto test = fabric_test(pod);
  if (!test) return;
  const Look look{pod, *test, pod.policy().options().fabric_tests, out};
  const MpiRole role = mpi_role(pod.subject());
  if (role != MpiRole::kWorker) {
    observe_seconds(look);
    observe_message(look);
  }
  if (role != MpiRole::kLauncher) observe_nodes(look);
  observe_queue(look);
}

}  // namespace

extern const Rule kFabricTest;
const Rule kFabricTest{
    {.id = "FAB-01",
     .title = "a fabric test beyond what is approved",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why = "Such a test fills the links that the jobs beside it need, for as long as it runs.",
     .fix = "keep to the approved duration, message size, nodes and queue."},
    observe,
    false};

}  // namespace rankward::admission
