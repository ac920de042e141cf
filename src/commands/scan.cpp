#include "rankward/commands/scan.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "find_server.hpp"
#include "findings_judge.hpp"
#include "rankward/admission/rules.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/kube/scheduling.hpp"
#include "scan_input.hpp"
#include "scan_output.hpp"
#include "scan_owner.hpp"

namespace rankward::commands {
namespace {

// Told one by one; the rest would say the same.
constexpr std::size_t kMaxUnreadable = 100;
constexpr std::size_t kPodsOfOneStep = 1000;
constexpr std::string_view kClearLine = "\r\x1b[K";

Origin origin_of(std::string_view kind, const kube::ObjectMeta& metadata) {
  Origin origin;
  origin.api_version = "v1";
  origin.kind = kind;
  origin.namespace_ = metadata.namespace_;
  origin.name = metadata.name;
  origin.uid = metadata.uid;
  return origin;
}

bool has_claim(const kube::Pod& pod) {
  return std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(),
                     [](const kube::Volume& volume) { return !volume.claim_name.empty(); });
}

bool asks_for_accelerator(const kube::Pod& pod) {
  return std::any_of(
      pod.spec.containers.begin(), pod.spec.containers.end(),
      [](const kube::Container& container) { return kube::asks_for_accelerator(container); });
}

class Scanner {
 public:
  Scanner(const admission::Policy& policy, const ScanOptions& options, admission::UnixSeconds now,
          const Console& console)
      : judging_{.policy = policy,
                 .cluster = facts_,
                 .now = now,
                 .least = options.audit ? admission::Mode::kAudit : admission::Mode::kWarn,
                 .rules = options.rules},
        options_(options),
        console_(console) {}

  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  void take(std::string_view api_version, std::string_view kind, std::string_view json) {
    if (kind.empty() || kind == "Pod") {
      take_pod(json);
    } else if (api_version == "v1" && (kind == "Namespace" || kind == "PersistentVolume")) {
      take_fact(kind, json);
    }
  }

  // Pods that wait for what comes after them in a file, then the volumes.
  void settle() {
    for (const kube::Pod& pod : waiting_)
      judge(pod);
    waiting_.clear();
    if (options_.name_space.empty()) {
      for (const formats::JudgedObject& volume : volumes_)
        judge_volume(volume);
    }
    if (options_.show_progress) console_.err << kClearLine << std::flush;
  }

  void missing(std::string_view resource, const Error& why) {
    if (options_.show_progress) console_.err << kClearLine;
    console_.err << "rankward scan: goes on without " << resource << ": " << why.to_string()
                 << '\n';
  }

  // Facts come before pods, so that none has to wait.
  void facts_come_first() { facts_first_ = true; }

  [[nodiscard]] ScanReport& report() { return report_; }

 private:
  void take_pod(std::string_view json) {
    auto pod = formats::read_pod(json);
    if (!pod) {
      unreadable(json, std::move(pod.error()));
      return;
    }
    if (!options_.name_space.empty() && pod->metadata.namespace_ != options_.name_space) return;
    if (pod->is_terminal()) {
      ++report_.finished;
      return;
    }
    ++report_.pods;
    if (options_.show_progress && report_.pods % kPodsOfOneStep == 0) show_progress();
    if (!facts_first_ && (has_claim(*pod) || asks_for_accelerator(*pod))) {
      waiting_.push_back(std::move(*pod));
    } else {
      judge(*pod);
    }
  }

  void take_fact(std::string_view kind, std::string_view json) {
    auto object = formats::read_judged_object("v1", kind, json);
    if (!object) {
      unreadable(json, std::move(object.error()));
      return;
    }
    add_facts("v1", *object, facts_);
    if (object->volume) volumes_.push_back(std::move(*object));
  }

  void judge(const kube::Pod& pod) {
    Origin origin = origin_of("Pod", pod.metadata);
    if (origin.namespace_.empty()) origin.namespace_ = "default";
    origin.owner = owner_of(pod.metadata);
    if (!judging_.policy.excludes(origin.namespace_)) report_.namespaces.insert(origin.namespace_);
    judge_standing_pod(judging_, pod, origin, report_.found);
  }

  void judge_volume(const formats::JudgedObject& volume) {
    Origin origin = origin_of("PersistentVolume", volume.metadata);
    origin.owner = "PersistentVolume/" + origin.name;
    report_.namespaces.insert("");
    judge_object(judging_, volume, origin, report_.found);
  }

  void unreadable(std::string_view json, Error why) {
    if (report_.found.unreadable.size() == kMaxUnreadable) return;
    const auto head = formats::read_object_head(json);
    const std::string source = head ? head->metadata.full_name() : "an object without a name";
    report_.found.unreadable.push_back(std::move(why).in(source));
  }

  void show_progress() {
    console_.err << kClearLine << report_.pods << " pods read, " << report_.found.counts.denied
                 << " would be denied" << std::flush;
  }

  admission::ClusterFacts facts_;
  const Judging judging_;
  const ScanOptions& options_;
  const Console& console_;
  ScanReport report_;
  std::vector<kube::Pod> waiting_;
  std::vector<formats::JudgedObject> volumes_;
  bool facts_first_ = false;
};

Result<void> check_options(const ScanOptions& options) {
  for (const std::string& rule : options.rules) {
    if (admission::find_rule(rule) != nullptr) continue;
    std::string known;
    for (const admission::RuleInfo& info : admission::catalogue())
      known.append(known.empty() ? "" : ", ").append(info.id);
    return Error::invalid("\"" + rule + "\" is no rule; known are " + known).at_field("--rule");
  }
  const bool a_name = std::all_of(options.name_space.begin(), options.name_space.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!a_name) return Error::invalid("must be the name of a namespace").at_field("--namespace");
  return {};
}

Result<void> read_all(const ScanOptions& options, Scanner& scanner) {
  const OnItem take = [&](std::string_view api_version, std::string_view kind,
                          std::string_view json) { scanner.take(api_version, kind, json); };
  if (!options.file.empty()) return read_items(options.file, take);
  const auto server = find_server(options.kubeconfig, options.context);
  if (!server) return server.error();
  cluster::ObjectLister lister(*server);
  scanner.facts_come_first();
  return list_items(
      lister, options.name_space, take,
      [&](std::string_view resource, const Error& why) { scanner.missing(resource, why); });
}

bool fails(const ObjectCounts& counts, FailOn fail_on) {
  switch (fail_on) {
    case FailOn::kEnforce:
      return counts.denied != 0;
    case FailOn::kWarn:
      return counts.denied + counts.warned != 0;
    case FailOn::kNever:
      break;
  }
  return false;
}

}  // namespace

int scan(const ScanOptions& options, const Console& console) {
  const auto fail = [&](const Error& error) {
    console.err << "rankward scan: " << error.to_string() << '\n';
    return 3;
  };
  if (const auto checked = check_options(options); !checked) return fail(checked.error());
  const auto policy = read_policy(options.config);
  if (!policy) return fail(policy.error());
  const admission::UnixSeconds now = options.now.value_or(seconds_now());
  Scanner scanner(*policy, options, now, console);
  const auto done = read_all(options, scanner);
  scanner.settle();
  if (!done) return fail(done.error());
  print_scan(scanner.report(), options.output, now, console);
  if (!scanner.report().found.unreadable.empty()) return 3;
  return fails(scanner.report().found.counts, options.fail_on) ? 1 : 0;
}

}  // namespace rankward::commands
