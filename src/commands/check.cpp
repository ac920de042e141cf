#include "rankward/commands/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>

#include "files.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/formats/configuration.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rankward/formats/workload.hpp"

namespace rankward::commands {
namespace {

using admission::Mode;

struct Line {
  std::string file;
  std::size_t line = 0;
  std::string object;  // "Deployment team-a/web"
  admission::Finding finding;
};

struct Counts {
  std::size_t objects = 0;
  std::size_t denied = 0;
  std::size_t warned = 0;
  std::vector<std::string> unreadable;  // why, with file and line
};

Result<admission::Policy> policy_of(const std::string& config) {
  if (config.empty()) return admission::Policy();
  auto text = read_file(config);
  if (!text) return text.error();
  auto configuration = formats::read_configuration(*text, config);
  if (!configuration) return configuration.error();
  auto policy = admission::Policy::make(std::move(configuration->admission));
  if (!policy) return policy.error().under("admission").in(config);
  return policy;
}

admission::UnixSeconds seconds_now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

// Findings of one object; a workload's are those that its pods would get.
Result<void> check_document(const formats::Document& document, const std::string& file,
                            const CheckOptions& options, const admission::Policy& policy,
                            std::vector<Line>& lines, Counts& counts) {
  auto templates = formats::pod_templates(document.api_version, document.kind, document.json);
  if (!templates) {
    return templates.error()
        .at_line(document.line_of(templates.error().field()).value_or(document.line))
        .in(file);
  }
  ++counts.objects;
  const std::string namespace_ =
      document.namespace_.empty() ? options.default_namespace : document.namespace_;
  if (policy.excludes(namespace_)) return {};
  bool denied = false;
  bool warned = false;
  for (const formats::TemplateAt& found : *templates) {
    const admission::Subject subject{
        .metadata = found.pod_template.metadata,
        .spec = found.pod_template.spec,
        .namespace_ = namespace_,
        .path_prefix = found.path,
        .workload_kind = document.kind == "Pod" ? std::string() : document.kind};
    for (admission::Finding& finding : admission::find(policy, subject, seconds_now()).standing) {
      if (finding.mode < Mode::kWarn) continue;
      denied = denied || finding.mode == Mode::kEnforce;
      warned = true;
      lines.push_back({file, document.line_of(finding.field).value_or(document.line),
                       fmt::format("{} {}/{}", document.kind, namespace_, document.name),
                       std::move(finding)});
    }
  }
  counts.denied += denied ? 1 : 0;
  counts.warned += warned && !denied ? 1 : 0;
  return {};
}

void print_text(const std::vector<Line>& lines, const Counts& counts, const Console& console) {
  for (const Line& line : lines) {
    const bool denies = line.finding.mode == Mode::kEnforce;
    console.out << line.file << ':' << line.line << ": "
                << console.paint(denies ? Colour::kRed : Colour::kYellow,
                                 denies ? "denied" : "warning")
                << ": " << line.object << ": " << line.finding.message() << '\n';
  }
  for (const std::string& why : counts.unreadable) {
    console.err << console.paint(Colour::kRed, "unreadable") << ": " << why << '\n';
  }
  console.out << fmt::format("{} {} checked: {} denied, {} with warnings, {} clean\n",
                             counts.objects, counts.objects == 1 ? "object" : "objects",
                             counts.denied, counts.warned,
                             counts.objects - counts.denied - counts.warned);
}

void print_json(const std::vector<Line>& lines, const Counts& counts, const Console& console) {
  std::string text;
  formats::JsonWriter json(text);
  json.begin_object().key("findings").begin_array();
  for (const Line& line : lines) {
    json.begin_object()
        .member("file", line.file)
        .member("line", static_cast<std::uint64_t>(line.line))
        .member("object", line.object)
        .member("rule", line.finding.rule)
        .member("mode", admission::to_string(line.finding.mode))
        .member("field", line.finding.field)
        .member("container", line.finding.container)
        .member("message", line.finding.message())
        .end_object();
  }
  json.end_array().key("unreadable").begin_array();
  for (const std::string& why : counts.unreadable)
    json.value(why);
  json.end_array()
      .member("objects", static_cast<std::uint64_t>(counts.objects))
      .member("denied", static_cast<std::uint64_t>(counts.denied))
      .member("warned", static_cast<std::uint64_t>(counts.warned))
      .end_object();
  console.out << text << '\n';
}

}  // namespace

int check(const CheckOptions& options, const Console& console) {
  const auto policy = policy_of(options.config);
  if (!policy) {
    console.err << "rankward check: " << policy.error().to_string() << '\n';
    return 3;
  }
  std::vector<Line> lines;
  Counts counts;
  for (const std::string& file : options.files) {
    const auto documents = read_document_file(file);
    if (!documents) {
      counts.unreadable.push_back(documents.error().to_string());
      continue;
    }
    for (const formats::Document& document : *documents) {
      const auto checked = check_document(document, file, options, *policy, lines, counts);
      if (!checked) counts.unreadable.push_back(checked.error().to_string());
    }
  }
  if (options.json) {
    print_json(lines, counts, console);
  } else {
    print_text(lines, counts, console);
  }
  if (!counts.unreadable.empty()) return 3;
  if (counts.denied != 0) return 1;
  return counts.warned != 0 && options.strict ? 2 : 0;
}

}  // namespace rankward::commands
