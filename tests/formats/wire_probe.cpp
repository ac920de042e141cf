// Speaks the wire formats on stdin and stdout, for tests that hold them against the Go types of
// k8s.io/kube-scheduler and k8s.io/api.
//   wire_probe [args]         ExtenderArgs, one a line -> what was read, one line each
//   wire_probe filter-result  sample answers of every form, one a line
//   wire_probe priorities
//   wire_probe preempt        also: ExtenderPreemptionArgs on stdin are answered with all victims
//   wire_probe review
#include <iostream>
#include <string>

#include "rankward/formats/extender.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/formats/review.hpp"

namespace {

namespace formats = rankward::formats;

void print(const std::string& line) {
  std::cout << line << '\n';
}

std::string error_line(const rankward::Error& error) {
  std::string out;
  formats::JsonWriter(out).begin_object().member("error", error.to_string()).end_object();
  return out;
}

std::string_view name_of(formats::NodeForm form) {
  switch (form) {
    case formats::NodeForm::kNames:
      return "NodeNames";
    case formats::NodeForm::kNodes:
      return "Nodes";
    case formats::NodeForm::kNone:
      break;
  }
  return "None";
}

std::string args_line(formats::ExtenderArgsReader& reader, const std::string& body) {
  const auto args = reader.read(body);
  if (!args) return error_line(args.error());
  std::string out;
  formats::JsonWriter writer(out);
  writer.begin_object();
  writer.member("pod", (*args)->pod.metadata.full_name());
  writer.member("uid", (*args)->pod.metadata.uid);
  writer.member("form", name_of((*args)->form));
  writer.key("names").begin_array();
  for (const std::string_view name : (*args)->node_names)
    writer.value(name);
  writer.end_array().end_object();
  return out;
}

void read_args() {
  formats::ExtenderArgsReader reader;
  for (std::string line; std::getline(std::cin, line);)
    print(args_line(reader, line));
}

void print_filter_result(const formats::FilterResult& result) {
  std::string out;
  formats::write_filter_result(result, out);
  print(out);
}

void filter_results() {
  const std::string_view names[] = {"node-a", "node-\"b\"", "node-\xC3\xA9"};
  const std::string_view nodes[] = {
      R"({"metadata":{"name":"node-a"},"status":{"allocatable":{"nvidia.com/gpu":"8"}}})",
      R"({"metadata":{"name":"node-b"}})"};
  const formats::RejectedNode failed[] = {{"node-c", "no RDMA"}, {"node-d", "no RDMA"}};
  const formats::RejectedNode unresolvable[] = {{"node-e", "label\tmissing"}};
  using formats::NodeForm;
  print_filter_result({NodeForm::kNames, names, failed, unresolvable, ""});
  print_filter_result({NodeForm::kNodes, nodes, failed, {}, ""});
  print_filter_result({NodeForm::kNames, {}, {}, unresolvable, ""});
  print_filter_result({NodeForm::kNodes, {}, {}, {}, ""});
  print_filter_result({NodeForm::kNone, {}, {}, {}, "Pod: must be a Pod (byte 0)"});
}

void priorities() {
  const std::string_view names[] = {"node-a", "node-\"b\"", "node-c"};
  const std::int64_t scores[] = {10, 0, 7};
  std::string out;
  formats::write_host_priorities(names, scores, out);
  print(out);
  out.clear();
  formats::write_host_priorities({}, {}, out);
  print(out);
}

void print_preemption(std::span<const formats::PreemptionCandidate> candidates) {
  std::string out;
  formats::write_preemption_result(candidates, out);
  print(out);
}

void preemptions() {
  const formats::PreemptionCandidate samples[] = {{"node-a", {{"uid-1", {}}, {"uid-2", {}}}, 1},
                                                  {"node-b", {}, 0}};
  print_preemption(samples);
  print_preemption({});
  for (std::string line; std::getline(std::cin, line);) {
    const auto args = formats::read_preemption_args(line);
    if (args) {
      print_preemption(args->candidates);
    } else {
      print(error_line(args.error()));
    }
  }
}

void print_review(const formats::AdmissionResponse& response) {
  std::string out;
  formats::write_admission_response(response, out);
  print(out);
}

void reviews() {
  print_review({.uid = "uid-1"});
  print_review({.uid = "uid-2",
                .warnings = {"first\nline", std::string(200, 'w')},
                .audit_annotations = {{"decision", "allowed"}}});
  print_review({.uid = "uid-3",
                .allowed = false,
                .message = "[HP-01] containers[0] \"train\": hostPath /dev/nvidia0",
                .causes = {{"spec.volumes[0].hostPath", "a device of the host", "HP-01"},
                           {"spec.containers[0].env[1]", "names \xE2\x82\xAC", "ENV-01"}},
                .warnings = {"also \xFF this"},
                .audit_annotations = {{"decision", "denied"}, {"rules", "HP-01,ENV-01"}}});
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string_view mode = argc > 1 ? argv[1] : "args";
  if (mode == "args") {
    read_args();
  } else if (mode == "filter-result") {
    filter_results();
  } else if (mode == "priorities") {
    priorities();
  } else if (mode == "preempt") {
    preemptions();
  } else if (mode == "review") {
    reviews();
  } else {
    std::cerr << "wire_probe [args|filter-result|priorities|preempt|review]\n";
    return 2;
  }
  return 0;
}
