// KEY-01: labels, annotations and gates of rankward.io that nobody would read as they were meant.
#include "rankward/kube/rankward_keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using kube::KeyPlace;
using kube::RankwardKey;

constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

constexpr std::string_view kUnreadableWhy =
    "Nothing reads such a value, so the pod would be refused or placed as if it were not there.";
constexpr std::string_view kMisplacedWhy = "Nothing reads it there, so it changes nothing.";
constexpr std::string_view kMisplacedFix = "move it to where it is read, or drop it.";
constexpr std::string_view kGateWhy =
    "Nobody takes such a gate away, so the pod would wait for ever.";
constexpr std::string_view kGateFix = "write the gate as \"rankward.io/gang\", or drop it.";
constexpr std::string_view kKueueWhy =
    "Kueue holds the pods of its queues back and may choose their nodes, so two planners would "
    "decide about them.";
constexpr std::string_view kKueueFix =
    "leave the gang to Kueue and drop rankward.io/gang, or say rankward.io/with-kueue: \"true\" "
    "where both are meant.";

bool is_ours(std::string_view key) {
  return key.starts_with(kube::kRankwardPrefix);
}

bool is_on_pods(const RankwardKey& known) {
  return known.place == KeyPlace::kPodAnnotation || known.place == KeyPlace::kPodLabel;
}

std::string_view name_of(std::string_view key) {
  return key.substr(kube::kRankwardPrefix.size());
}

// Longer names than a label key may have tell no typos apart.
constexpr std::size_t kMaxCompared = 64;

// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxCompared);
  b = b.substr(0, kMaxCompared);
  std::array<std::size_t, kMaxCompared + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

// What may stand on a pod, the likeliest first.
std::string known_keys(std::string_view unknown) {
  std::vector<std::pair<std::size_t, std::string_view>> keys;
  for (const RankwardKey& known : kube::rankward_keys())
    if (is_on_pods(known))
      keys.emplace_back(distance(name_of(unknown), name_of(known.key)), known.key);
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out = "\"" + std::string(keys.front().second) + "\"";
  for (std::size_t i = 1; i < keys.size(); ++i)
    out.append(i == 1 ? "; others are " : ", ").append(name_of(keys[i].second));
  return out;
}

std::string_view place_of(const RankwardKey& known) {
  switch (known.place) {
    case KeyPlace::kPodAnnotation:
      return "is an annotation, not a label";
    case KeyPlace::kPodLabel:
      return "is a label, not an annotation";
    case KeyPlace::kNodeAnnotation:
      return "belongs on Nodes, as an annotation";
    case KeyPlace::kNamespaceLabel:
      return "belongs on Namespaces, as a label";
  }
  return {};
}

struct Key {
  std::string_view list;  // "annotations", "labels"
  std::string_view word;  // "annotation", "label"
  KeyPlace place;
};
constexpr Key kAnnotations{"annotations", "annotation", KeyPlace::kPodAnnotation};
constexpr Key kLabels{"labels", "label", KeyPlace::kPodLabel};

void observe_key(const PodFacts& pod, const Key& where, const std::string& key,
                 const std::string& value, Observations& out) {
  const RankwardKey* known = kube::find_rankward_key(key);
  if (known != nullptr && known->place == where.place && known->accepts(value)) return;
  Observation found;
  found.field =
      pod.metadata_field("." + std::string(where.list) + "[" + in_quotes(key, key.size()) + "]");
  found.subject = key;
  found.value = value;
  found.what = std::string(where.word) + " " + in_quotes(key);
  if (known == nullptr) {
    found.what += " is not known; the nearest one is " + known_keys(key) + ".";
  } else if (known->place != where.place) {
    found.what.append(" ").append(place_of(*known)).append(".");
    found.why = kMisplacedWhy;
    found.fix = kMisplacedFix;
  } else {
    found.what += "=" + in_quotes(value) + " ";
    found.what.append(known->accepted).append(".");
    found.why = kUnreadableWhy;
  }
  out.push_back(std::move(found));
}

void observe_gates(const PodFacts& pod, Observations& out) {
  const std::vector<std::string>& gates = pod.spec().scheduling_gates;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (!is_ours(gates[i]) || gates[i] == kube::kGangKey) continue;
    Observation found;
    found.field = pod.field("schedulingGates[" + std::to_string(i) + "]");
    found.subject = "schedulingGates";
    found.value = gates[i];
    found.what = "scheduling gate " + in_quotes(gates[i]) + " is not known.";
    found.why = kGateWhy;
    found.fix = kGateFix;
    out.push_back(std::move(found));
  }
}

// The queue stands on the object that Kueue admits: the pod itself, or its Job.
const std::string* queue_of(const Subject& subject) {
  const std::string* queue = kube::find(subject.metadata.labels, kQueueLabel);
  if (queue == nullptr && subject.object_metadata != nullptr)
    queue = kube::find(subject.object_metadata->labels, kQueueLabel);
  return queue;
}

bool is_with_kueue(const kube::ObjectMeta* metadata) {
  if (metadata == nullptr) return false;
  const std::string* value = kube::find(metadata->annotations, kube::kWithKueueKey);
  return value != nullptr && *value == "true";
}

void observe_kueue(const PodFacts& pod, Observations& out) {
  const Subject& subject = pod.subject();
  const std::string* queue = queue_of(subject);
  if (queue == nullptr || is_with_kueue(&subject.metadata) ||
      is_with_kueue(subject.object_metadata))
    return;
  const std::vector<std::string>& gates = subject.spec.scheduling_gates;
  const bool gang = kube::find(subject.metadata.annotations, kube::kGangKey) != nullptr;
  const bool gate = std::find(gates.begin(), gates.end(), kube::kGangKey) != gates.end();
  if (!gang && !gate) return;
  Observation found;
  found.field = gang ? pod.metadata_field(".annotations[\"rankward.io/gang\"]")
                     : pod.field("schedulingGates");
  found.subject = kQueueLabel;
  found.value = *queue;
  found.what = gang ? "rankward.io/gang" : "the scheduling gate rankward.io/gang";
  found.what += " beside the Kueue queue " + in_quotes(*queue) + ".";
  found.why = kKueueWhy;
  found.fix = kKueueFix;
  out.push_back(std::move(found));
}

void observe(const PodFacts& pod, Observations& out) {
  const kube::ObjectMeta& metadata = pod.subject().metadata;
  for (const auto& [key, value] : metadata.annotations)
    if (is_ours(key)) observe_key(pod, kAnnotations, key, value, out);
  for (const auto& [key, value] : metadata.labels)
    if (is_ours(key)) observe_key(pod, kLabels, key, value, out);
  observe_gates(pod, out);
  observe_kueue(pod, out);
}

}  // namespace

extern const Rule kRankwardKeys;
const Rule kRankwardKeys{
    {.id = "KEY-01",
     .title = "a key of rankward.io that would not be read as it is meant",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "Nothing reads such a key, so the pod would be placed as if it were not there.",
     .fix = "write one of the keys, and a value, in the form that is named here.",
     .exemptible = true},
    observe,
    false};

}  // namespace rankward::admission
