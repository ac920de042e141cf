#include "findings_fix.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "findings_report.hpp"
#include "yaml_path.hpp"

namespace rankward::commands {
namespace {

using Steps = std::vector<PathStep>;

constexpr std::array<std::string_view, 3> kContainerLists{"containers", "initContainers",
                                                          "ephemeralContainers"};

// The text in quotes that follows `marker`; "" where it was cut or has escapes.
std::string quoted_after(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + marker.size());
  if (text.empty() || text.front() != '"') return {};
  const std::string_view quoted = text.substr(1, text.find('"', 1) - 1);
  const bool whole = quoted.find('\\') == std::string_view::npos &&
                     (quoted.size() < 3 || quoted.substr(quoted.size() - 3) != "...");
  return whole ? std::string(quoted) : std::string();
}

bool is_container_list(const PathStep& step) {
  return !step.index && std::find(kContainerLists.begin(), kContainerLists.end(), step.key) !=
                            kContainerLists.end();
}

// A finding's path and what its parts are called.
class Place {
 public:
  explicit Place(const admission::Finding& finding)
      : finding_(finding), steps_(split_path(finding.field)) {
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
      if (is_container_list(steps_[i]) && steps_[i + 1].index) container_ = i;
    }
    // Metadata of a pod or a template stands beside its spec.
    for (std::size_t i = 0; i < container_.value_or(steps_.size()); ++i) {
      if (steps_[i].index) continue;
      const bool metadata = steps_[i].key == "metadata";
      if (!metadata && steps_[i].key != "spec") continue;
      spec_ = Steps(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(i));
      spec_->push_back({"spec", false});
      if (metadata) break;
    }
  }

  [[nodiscard]] bool in_container() const { return container_.has_value(); }
  [[nodiscard]] bool in_ephemeral_container() const {
    return container_ && steps_[*container_].key == "ephemeralContainers";
  }
  [[nodiscard]] bool in_spec() const { return spec_.has_value(); }
  [[nodiscard]] bool in_pod() const {
    return spec_ && (container_ || std::any_of(steps_.begin(), steps_.end(), [](const auto& step) {
                       return !step.index && step.key == "volumes";
                     }));
  }

  // Opens the pod's spec, the container of the finding, or all of the path.
  [[nodiscard]] YamlPath spec() const { return down(*spec_, spec_->size()); }
  [[nodiscard]] YamlPath container() const { return down(steps_, *container_ + 2); }
  // All but the last step, which is given.
  [[nodiscard]] YamlPath parent(PathStep& last) const {
    last = steps_.back();
    return down(steps_, steps_.size() - 1);
  }

 private:
  [[nodiscard]] YamlPath down(const Steps& steps, std::size_t end) const {
    YamlPath out;
    for (std::size_t i = 0; i < end; ++i) {
      if (!steps[i].index) {
        out.enter(steps[i].key);
      } else {
        const bool of_container = container_ && i == *container_ + 1;
        out.enter_entry(of_container ? finding_.container : "", i == 0 ? "" : steps[i - 1].key,
                        steps[i].key);
      }
    }
    return out;
  }

  const admission::Finding& finding_;
  Steps steps_;
  std::optional<std::size_t> container_;  // of the list's name
  std::optional<Steps> spec_;             // to the pod's spec
};

// When it is right, and the lines.
struct Choice {
  std::string_view when;
  std::string yaml;
};

std::string resource_of(const admission::Finding& finding) {
  const std::string named = quoted_after(finding.fix, "resources.limits ");
  return named.empty() ? "nvidia.com/gpu" : named;
}

void write_limits(const std::string& resource, YamlPath& yaml) {
  yaml.enter("resources");
  yaml.enter("limits");
  yaml.line(yaml_string(resource) + ": 1  # as many as it needs");
}

// A request in the container of the finding, or in one that the reader chooses.
YamlPath with_request(const Place& place, const std::string& resource) {
  if (place.in_container()) {
    YamlPath yaml = place.container();
    const std::size_t depth = yaml.depth();
    write_limits(resource, yaml);
    yaml.leave_to(depth);
    return yaml;
  }
  YamlPath yaml = place.spec();
  const std::size_t depth = yaml.depth();
  yaml.enter("containers");
  yaml.line("- # the container that uses it");
  yaml.leave_to(yaml.depth() + 2);
  write_limits(resource, yaml);
  yaml.leave_to(depth);
  return yaml;
}

void drop_variable(const std::string& name, YamlPath& yaml) {
  yaml.enter("env");
  yaml.line("- name: " + yaml_string(name) + "  # take this entry out");
}

std::vector<Choice> for_variable(const admission::Finding& finding, const Place& place) {
  std::vector<Choice> out;
  if (!place.in_container()) return out;
  if (!place.in_ephemeral_container()) {
    YamlPath yaml = with_request(place, resource_of(finding));
    drop_variable(finding.subject, yaml);
    out.push_back({"where the container needs a GPU", std::move(yaml).text()});
  }
  YamlPath yaml = place.container();
  yaml.enter("env");
  yaml.line("- name: " + yaml_string(finding.subject));
  yaml.line("  value: void");
  out.push_back({"where it needs none", std::move(yaml).text()});
  return out;
}

std::vector<Choice> without_variable(const admission::Finding& finding, const Place& place) {
  if (!place.in_container()) return {};
  YamlPath yaml = place.container();
  drop_variable(finding.subject, yaml);
  return {{"", std::move(yaml).text()}};
}

void drop_volume(const std::string& name, YamlPath& yaml) {
  yaml.enter("volumes");
  yaml.line("- name: " + yaml_string(name) + "  # take this entry out, and its volumeMounts");
}

std::vector<Choice> without_volume(const admission::Finding& finding, const Place& place) {
  if (!place.in_spec()) return {};
  YamlPath yaml = place.spec();
  drop_volume(finding.subject, yaml);
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> for_device_volume(const admission::Finding& finding, const Place& place) {
  if (!place.in_spec()) return {};
  // A sub path's finding is in a container, but the volume belongs to the pod.
  YamlPath yaml = place.spec();
  const std::size_t depth = yaml.depth();
  yaml.enter("containers");
  if (finding.container.empty()) {
    yaml.line("- # the container that uses it");
  } else {
    yaml.line("- name: " + yaml_string(finding.container));
  }
  yaml.leave_to(yaml.depth() + 2);
  write_limits(resource_of(finding), yaml);
  yaml.leave_to(depth);
  drop_volume(finding.subject, yaml);
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> without_mount(const admission::Finding& finding, const Place& place) {
  if (!place.in_container()) return {};
  YamlPath yaml = place.container();
  yaml.enter("volumeMounts");
  yaml.line("- name: " + yaml_string(finding.subject) +
            "  # take out the entry whose mountPath the finding names");
  return {{"", std::move(yaml).text()}};
}

// The field itself, or the entry of a list that it stands in.
std::string without_field(const Place& place) {
  PathStep last;
  YamlPath yaml = place.parent(last);
  if (last.index) {
    yaml.line("- # entry " + last.key + ": take it out");
  } else {
    yaml.line(yaml_string(last.key) + ":  # take this line out");
  }
  return std::move(yaml).text();
}

std::vector<Choice> request_or_drop(const admission::Finding& finding, const Place& place) {
  std::vector<Choice> out;
  if (place.in_spec()) {
    out.push_back({"where a container needs a GPU",
                   std::move(with_request(place, resource_of(finding))).text()});
  }
  out.push_back({"where none does", without_field(place)});
  return out;
}

std::vector<Choice> plain_path(const admission::Finding& finding, const Place& place) {
  const std::string plain = quoted_after(finding.what, "is another way to write ");
  if (plain.empty() || place.in_container() || !place.in_spec()) return {};
  YamlPath yaml = place.spec();
  yaml.enter("volumes");
  yaml.line("- name: " + yaml_string(finding.subject));
  yaml.leave_to(yaml.depth() + 2);
  yaml.enter("hostPath");
  yaml.line("path: " + yaml_string(plain));
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> without_privileges(const admission::Finding& finding, const Place& place) {
  if (!place.in_container()) return {};
  YamlPath yaml = place.container();
  yaml.enter("securityContext");
  if (finding.subject == "privileged") {
    yaml.line("privileged: false");
  } else {
    yaml.enter("capabilities");
    yaml.enter("add");
    yaml.line("# take SYS_ADMIN and ALL out, in every spelling");
  }
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> selected_node(const Place& place) {
  if (!place.in_spec()) return {};
  YamlPath yaml = place.spec();
  const std::size_t depth = yaml.depth();
  yaml.line("nodeName:  # take this line out");
  yaml.enter("nodeSelector");
  yaml.line("kubernetes.io/hostname: NODE  # what nodeName says now; only where it must be it");
  yaml.leave_to(depth);
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> served_scheduler(const admission::Policy& policy, const Place& place) {
  if (!place.in_spec() || policy.options().served_schedulers.empty()) return {};
  YamlPath yaml = place.spec();
  yaml.line("schedulerName: " + yaml_string(policy.options().served_schedulers.front()));
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> explicit_void(const Place& place) {
  if (!place.in_container()) return {};
  YamlPath yaml = place.container();
  yaml.enter("env");
  yaml.line("- name: NVIDIA_VISIBLE_DEVICES");
  yaml.line("  value: void");
  return {{"", std::move(yaml).text()}};
}

std::vector<Choice> choices(const admission::Policy& policy, const admission::Finding& finding) {
  const Place place(finding);
  const std::string_view rule = finding.rule;
  if (rule == "HP-01") return for_device_volume(finding, place);
  // In the PersistentVolume itself nothing but its absence would do.
  if (rule == "HP-06" && place.in_pod()) return for_device_volume(finding, place);
  if (rule == "HP-02" || rule == "HP-04" || rule == "HP-08") return without_volume(finding, place);
  if (rule == "HP-05") return without_mount(finding, place);
  if (rule == "HP-07") return plain_path(finding, place);
  if (rule == "ENV-01" || rule == "ENV-02") return for_variable(finding, place);
  if (rule == "ENV-03" || rule == "ENV-05" || rule == "ENV-06") {
    return without_variable(finding, place);
  }
  if (rule == "ENV-04") return explicit_void(place);
  if (rule == "RT-01" || rule == "ANN-01" || rule == "SCH-03") {
    return request_or_drop(finding, place);
  }
  if (rule == "PRIV-01" || rule == "PRIV-02") return without_privileges(finding, place);
  if (rule == "PRIV-03" || rule == "RT-02") return {{"", without_field(place)}};
  if (rule == "SCH-01") return selected_node(place);
  if (rule == "SCH-02") return served_scheduler(policy, place);
  return {};
}

std::string indented(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out.append("  ").append(lines.substr(0, end)).append("\n");
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

}  // namespace

std::string fix_hint(const admission::Policy& policy, const admission::Finding& finding) {
  const std::vector<Choice> found = choices(policy, finding);
  if (found.empty()) {
    return "no change is right by rote here; see " + documentation_of(finding.rule) + "\n";
  }
  std::string out;
  for (const Choice& choice : found) {
    if (choice.when.empty()) return choice.yaml;
    out.append(choice.when).append(":\n").append(indented(choice.yaml));
  }
  return out;
}

}  // namespace rankward::commands
