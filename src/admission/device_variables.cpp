// ENV-01, ENV-02, ENV-03: a variable by which a runtime picks devices. The pod's value beats the
// device plugin's: the kubelet appends the pod's variables to the plugin's (kubelet
// GenerateRunContainerOptions).
#include <utility>

#include "device_choice.hpp"

namespace rankward::admission {
namespace {

template <class Report>
void for_each_variable(const PodFacts& pod, bool with_request, Report report) {
  for (const ContainerFacts& container : pod.containers()) {
    if (container.asks_for_gpu != with_request) continue;
    const auto is_wanted = [&](std::string_view name) {
      return pod.policy().is_device_variable(name);
    };
    for (const auto& [name, index] : variables_of(*container.container, is_wanted)) {
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
                      found.fix = request_instead_of(pod.policy(), found.subject) +
                                  " and drop the variable, or set it to \"void\".";
                      out.push_back(std::move(found));
                    });
}

void observe_hidden(const PodFacts& pod, Observations& out) {
  for_each_variable(pod, false,
                    [&](const ContainerFacts& container, std::size_t index, Choice chosen) {
                      if (chosen != Choice::kUnknown) return;
                      Observation found = observe_variable(pod, container, index);
                      found.what += " without a GPU request; its value is not known here.";
                      found.fix = request_instead_of(pod.policy(), found.subject) +
                                  " and drop the variable, or write \"void\" itself as its value.";
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
