// ENV-01, ENV-02, ENV-03: a variable by which a runtime picks devices. The pod's value beats the
// device plugin's: the kubelet appends the pod's variables to the plugin's (kubelet
// GenerateRunContainerOptions).
#include <cstdint>
#include <map>
#include <utility>

#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

enum class Choice : std::uint8_t { kNothing, kDevices, kUnknown };

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// A `$(NAME)` that the kubelet would replace; `$$` stands for a plain `$`. Source:
// k8s.io/kubernetes third_party/forked/golang/expansion.
bool has_reference(std::string_view value) {
  for (std::size_t i = 0; i + 1 < value.size(); ++i) {
    if (value[i] != '$') continue;
    if (value[i + 1] == '(' && value.find(')', i + 2) != std::string_view::npos) return true;
    if (value[i + 1] == '$') ++i;
  }
  return false;
}

// As the NVIDIA runtime reads the value: a list at commas, blanks around entries aside; nothing at
// all where it is empty or `void` is among the entries, no devices where it is `none`. Source:
// nvidia-container-toolkit internal/config/image.
Choice choice(std::string_view value) {
  bool any = false;
  std::string_view rest = value;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = trimmed(rest.substr(0, comma));
    if (entry == "void") return Choice::kNothing;
    if (!entry.empty() && entry != "none") any = true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (!any) return Choice::kNothing;
  return has_reference(value) ? Choice::kUnknown : Choice::kDevices;
}

Choice choice(const kube::EnvVar& variable) {
  return variable.value_from.empty() ? choice(std::string_view(variable.value)) : Choice::kUnknown;
}

// Of variables with one name the last one counts.
std::map<std::string_view, std::size_t> device_variables(const PodFacts& pod,
                                                         const kube::Container& container) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < container.env.size(); ++i)
    if (pod.policy().is_device_variable(container.env[i].name)) last[container.env[i].name] = i;
  return last;
}

Observation observe_variable(const PodFacts& pod, const ContainerFacts& container,
                             std::size_t index) {
  const kube::EnvVar& variable = container.container->env[index];
  Observation out;
  out.field = pod.field(container.path + ".env[" + std::to_string(index) + "]");
  out.container = container.container->name;
  out.subject = variable.name;
  const bool literal = variable.value_from.empty();
  out.value = literal ? variable.value : "valueFrom." + variable.value_from;
  out.what = container.label + ": " + variable.name;
  out.what += literal ? "=" + in_quotes(variable.value) : " from " + in_quotes(variable.value_from);
  return out;
}

template <class Report>
void for_each_variable(const PodFacts& pod, bool with_request, Report report) {
  for (const ContainerFacts& container : pod.containers()) {
    if (container.asks_for_gpu != with_request) continue;
    for (const auto& [name, index] : device_variables(pod, *container.container)) {
      const Choice chosen = choice(container.container->env[index]);
      if (chosen != Choice::kNothing) report(container, index, chosen);
    }
  }
}

void observe_literal(const PodFacts& pod, Observations& out) {
  for_each_variable(pod, false,
                    [&](const ContainerFacts& container, std::size_t index, Choice chosen) {
                      if (chosen != Choice::kDevices) return;
                      Observation found = observe_variable(pod, container, index);
                      found.what += " without a GPU request.";
                      out.push_back(std::move(found));
                    });
}

void observe_hidden(const PodFacts& pod, Observations& out) {
  for_each_variable(pod, false,
                    [&](const ContainerFacts& container, std::size_t index, Choice chosen) {
                      if (chosen != Choice::kUnknown) return;
                      Observation found = observe_variable(pod, container, index);
                      found.what += " without a GPU request; its value is not known here.";
                      out.push_back(std::move(found));
                    });
}

void observe_beside_request(const PodFacts& pod, Observations& out) {
  for_each_variable(pod, true,
                    [&](const ContainerFacts& container, std::size_t index, Choice /*chosen*/) {
                      Observation found = observe_variable(pod, container, index);
                      found.what += " beside a GPU request.";
                      out.push_back(std::move(found));
                    });
}

}  // namespace

extern const Rule kLiteralDeviceVariable;
extern const Rule kHiddenDeviceVariable;
extern const Rule kDeviceVariableBesideRequest;

const Rule kLiteralDeviceVariable{
    {.id = "ENV-01",
     .title = "devices chosen by a variable, without a request",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "A pod that happens to reach a GPU has no scheduling guarantee.",
     .fix =
         "set resources.limits \"nvidia.com/gpu\" and drop the variable, or set it to \"void\"."},
    observe_literal};

const Rule kHiddenDeviceVariable{
    {.id = "ENV-02",
     .title = "devices chosen by a variable whose value is elsewhere, without a request",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "Whoever can edit the source of the value can give this container every GPU of the "
            "node.",
     .fix = "set resources.limits \"nvidia.com/gpu\" and drop the variable, or write \"void\" "
            "itself as its value."},
    observe_hidden};

const Rule kDeviceVariableBesideRequest{
    {.id = "ENV-03",
     .title = "devices chosen by a variable beside a request",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "The pod's value beats the device plugin's, so the container can see GPUs that other "
            "pods hold.",
     .fix = "drop the variable; the device plugin sets it to the GPUs that were allocated."},
    observe_beside_request};

}  // namespace rankward::admission
