#include "rankward/commands/check.hpp"

#include <ostream>
#include <utility>

#include "files.hpp"
#include "findings_fix.hpp"
#include "findings_github.hpp"
#include "findings_json.hpp"
#include "findings_judge.hpp"
#include "findings_sarif.hpp"
#include "findings_text.hpp"
#include "helm_templates.hpp"
#include "manifest_files.hpp"
#include "rankward/formats/documents.hpp"

namespace rankward::commands {
namespace {

// Of all files together: what they say of each other is looked at before anything is judged.
constexpr std::size_t kMaxInputBytes = std::size_t{256} << 20;

struct Input {
  std::string file;
  std::string helm_template;
  formats::Document document;
  formats::JudgedObject object;
};

class Reader {
 public:
  explicit Reader(FindingsReport& report) : report_(report) {}

  void read(const std::string& path) {
    auto files = manifest_files(path);
    if (!files) {
      report_.unreadable.push_back(std::move(files.error()));
      return;
    }
    for (const std::string& file : *files)
      read_one(file);
  }

  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const admission::ClusterFacts& facts() const { return facts_; }

 private:
  void read_one(const std::string& file) {
    auto text = read_file(file);
    if (text && (bytes_ += text->size()) > kMaxInputBytes) {
      text =
          Error(ErrorKind::kTooLarge, "is left out: all files together must not be larger than " +
                                          std::to_string(kMaxInputBytes) + " bytes")
              .in(file);
    }
    if (!text) {
      report_.unreadable.push_back(std::move(text.error()));
      return;
    }
    auto documents = formats::read_documents(*text, file == "-" ? "standard input" : file);
    if (!documents) {
      report_.unreadable.push_back(std::move(documents.error()));
      return;
    }
    const HelmTemplates templates(*text);
    for (formats::Document& document : *documents) {
      const std::size_t line = document.line;
      take(file, std::string(templates.at(line)), std::move(document));
    }
  }

  void take(const std::string& file, std::string helm_template, formats::Document document) {
    auto object = formats::read_judged_object(document.api_version, document.kind, document.json);
    if (!object) {
      const auto line = document.line_of(object.error().field());
      report_.unreadable.push_back(
          std::move(object.error()).at_line(line.value_or(document.line)).in(file));
      return;
    }
    add_facts(document.api_version, *object, facts_);
    document.json = {};
    inputs_.push_back({file, std::move(helm_template), std::move(document), std::move(*object)});
  }

  FindingsReport& report_;
  std::vector<Input> inputs_;
  admission::ClusterFacts facts_;
  std::size_t bytes_ = 0;
};

Origin origin_of(const Input& input, const CheckOptions& options) {
  Origin origin;
  origin.file = input.file;
  origin.helm_template = input.helm_template;
  origin.api_version = input.document.api_version;
  origin.kind = input.document.kind;
  origin.name = input.document.name;
  origin.namespace_ = input.document.namespace_;
  if (origin.namespace_.empty() && !input.object.volume) {
    origin.namespace_ = options.default_namespace;
  }
  return origin;
}

void judge_input(const Judging& judging, const Input& input, const CheckOptions& options,
                 FindingsReport& report) {
  const std::size_t standing = report.standing.size();
  const std::size_t exempt = report.exempt.size();
  judge_object(judging, input.object, origin_of(input, options), report);
  const auto locate = [&](LocatedFinding& found) {
    found.line = input.document.line_of(found.finding.field).value_or(input.document.line);
  };
  for (std::size_t i = exempt; i < report.exempt.size(); ++i)
    locate(report.exempt[i]);
  for (std::size_t i = standing; i < report.standing.size(); ++i) {
    locate(report.standing[i]);
    if (!options.fix_hints) continue;
    report.standing[i].fix_hint = fix_hint(judging.policy, report.standing[i].finding);
  }
}

void print(const FindingsReport& report, CheckForm form, const Console& console) {
  switch (form) {
    case CheckForm::kText:
      print_text(report, console);
      return;
    case CheckForm::kTable:
      print_table(report, console);
      return;
    case CheckForm::kGithub:
      console.out << findings_github(report);
      print_counts(report, console);
      return;
    case CheckForm::kJson:
      console.out << findings_json(report);
      break;
    case CheckForm::kSarif:
      console.out << findings_sarif(report);
      break;
  }
  print_unreadable(report, console);
}

}  // namespace

int check(const CheckOptions& options, const Console& console) {
  const auto policy = read_policy(options.config);
  if (!policy) {
    console.err << "rankward check: " << policy.error().to_string() << '\n';
    return 3;
  }
  FindingsReport report;
  Reader reader(report);
  for (const std::string& path : options.files)
    reader.read(path);
  const Judging judging{.policy = *policy, .cluster = reader.facts(), .now = seconds_now()};
  for (const Input& input : reader.inputs())
    judge_input(judging, input, options, report);
  print(report, options.output, console);
  if (!report.unreadable.empty()) return 3;
  if (report.counts.denied != 0) return 1;
  return report.counts.warned != 0 && options.strict ? 2 : 0;
}

}  // namespace rankward::commands
