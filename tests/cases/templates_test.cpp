// Whatever is found in a pod is found in every object that would make it, in the same words and at
// the same place below the template. The pods are those of the cases, and mixtures of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>
#include <set>

#include "case.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/formats/judged_object.hpp"

namespace rankward::cases {
namespace {

namespace fs = std::filesystem;
namespace bj = boost::json;

using formats::TemplateShape;
using formats::WorkloadKind;

// "FIELD LINE"
using Found = std::multiset<std::string>;

Found findings_of(const admission::Subject& subject) {
  Found out;
  for (const auto& finding : admission::find(admission::Policy(), subject, 0).standing) {
    // Judges the job that an object is, which its pod alone does not tell.
    if (finding.rule != "REQ-04") out.insert(finding.field + " " + finding.message());
  }
  return out;
}

std::vector<bj::object> pods_of_cases() {
  std::vector<bj::object> pods;
  const fs::path folder = fs::path(RANKWARD_SOURCE_DIR) / "tests" / "cases";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && can_be_read(entry.path())) folders.insert(entry.path());
  for (const fs::path& path : folders)
    for (const CasePod& pod : read_case(path).pods)
      pods.push_back(bj::parse(pod.json).as_object());
  return pods;
}

class Mixer {
 public:
  explicit Mixer(std::vector<bj::object> pods) : pods_(std::move(pods)) {}

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  // Every part of some pod, so that mounts meet volumes of others.
  bj::object pod() {
    bj::object metadata;
    for (const char* part : {"labels", "annotations"}) {
      const bj::object& from = any().at("metadata").as_object();
      if (const bj::value* value = from.if_contains(part)) metadata[part] = *value;
    }
    metadata["name"] = "mixed";
    bj::object spec = any().at("spec").as_object();
    for (const char* part : {"tolerations", "nodeSelector", "runtimeClassName", "hostPID"}) {
      const bj::object& from = any().at("spec").as_object();
      if (const bj::value* value = from.if_contains(part)) spec[part] = *value;
    }
    for (const char* part : {"containers", "initContainers", "volumes"}) {
      bj::array all;
      for (int i = 0; i < 4; ++i) {
        const bj::object& from = any().at("spec").as_object();
        // What a container does is found in an init container too.
        const char* list = std::string_view(part) == "volumes" ? part : "containers";
        if (const bj::value* value = from.if_contains(list))
          all.insert(all.end(), value->as_array().begin(), value->as_array().end());
      }
      spec[part] = std::move(all);
    }
    return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}};
  }

 private:
  const bj::object& any() { return pods_[below(pods_.size())]; }

  std::vector<bj::object> pods_;
  std::mt19937 random_{20240601};
};

// What stands at the end of a path for one pod, and where fields of the pod are in it.
struct Placed {
  bj::value value;
  // From the start of a field of the pod to what it is in the object; the first that fits.
  std::vector<std::pair<std::string, std::string>> fields;
};

std::string moved(const std::string& finding, const Placed& placed) {
  for (const auto& [from, to] : placed.fields)
    if (finding.compare(0, from.size(), from) == 0) return to + finding.substr(from.size());
  ADD_FAILURE() << "no place for " << finding;
  return finding;
}

bj::object template_of(const bj::object& pod) {
  return {{"metadata", pod.at("metadata")}, {"spec", pod.at("spec")}};
}

// The object at a path of the table, which has lists with an item in front.
bj::value at_path(std::string_view pattern, bj::value value, std::string& path) {
  std::vector<std::string_view> names;
  while (!pattern.empty()) {
    const std::size_t dot = pattern.find('.');
    names.push_back(pattern.substr(0, dot));
    pattern = dot == std::string_view::npos ? std::string_view() : pattern.substr(dot + 1);
  }
  for (std::size_t i = names.size(); i-- > 0;) {
    const std::string_view name = names[i].substr(0, names[i].find_first_of("[{"));
    std::string segment(name);
    if (names[i].ends_with("[]")) {
      value = bj::array{nullptr, std::move(value)};
      segment += "[1]";
    } else if (names[i].ends_with("{}")) {
      value = bj::object{{"Worker", std::move(value)}};
      segment += ".Worker";
    }
    value = bj::object{{std::string(name), std::move(value)}};
    path = path.empty() ? segment : segment + "." + path;
  }
  return value;
}

std::string joined(const std::string& path, const std::string& below) {
  return path.empty() ? below : path + "." + below;
}

kube::PodTemplate read(const bj::object& pod) {
  const std::string json = bj::serialize(template_of(pod));
  auto read = formats::read_pod_template(json);
  if (!read) throw std::runtime_error(read.error().to_string());
  return *std::move(read);
}

// What of the pod the shape can say.
std::optional<bj::object> as_far_as(TemplateShape shape, bj::object pod) {
  bj::object& spec = pod.at("spec").as_object();
  const auto keep = [&](std::initializer_list<std::string_view> keys) {
    bj::object kept;
    for (const std::string_view key : keys)
      if (const bj::value* value = spec.if_contains(key)) kept[key] = *value;
    spec = std::move(kept);
  };
  switch (shape) {
    case TemplateShape::kTemplate:
    case TemplateShape::kObject:
    case TemplateShape::kServing:
      return pod;
    case TemplateShape::kPodSpec:
      pod["metadata"] = bj::object();
      return pod;
    case TemplateShape::kPatch:
      keep({"containers", "initContainers", "volumes"});
      return pod;
    case TemplateShape::kSpecPatch:
      keep({"containers", "initContainers", "volumes"});
      pod["metadata"] = bj::object();
      return pod;
    case TemplateShape::kWorkflow:
      keep({"containers", "initContainers", "volumes", "nodeSelector", "tolerations", "affinity"});
      return pod;
    case TemplateShape::kContainer:
    case TemplateShape::kTrainer:
    case TemplateShape::kSpark:
      return std::nullopt;  // a pod does not fit in
  }
  return std::nullopt;
}

Placed place(TemplateShape shape, const bj::object& pod, const std::string& path) {
  switch (shape) {
    case TemplateShape::kObject:
      return {pod, {{"", joined(path, "")}}};
    case TemplateShape::kPodSpec:
    case TemplateShape::kSpecPatch:
      return {pod.at("spec"), {{"spec.", joined(path, "")}}};
    case TemplateShape::kServing: {
      bj::object component = pod.at("spec").as_object();
      for (const auto& [key, value] : pod.at("metadata").as_object())
        component[key] = value;
      return {component, {{"spec.", joined(path, "")}, {"metadata.", joined(path, "")}}};
    }
    case TemplateShape::kWorkflow: {
      bj::object one = pod.at("spec").as_object();
      one["containerSet"] = bj::object{{"containers", one["containers"]}};
      one.erase("containers");
      one["metadata"] = pod.at("metadata");
      const std::string at = joined(path, "templates[1].");
      return {bj::object{{"templates", bj::array{nullptr, one}}},
              {{"spec.containers", at + "containerSet.containers"},
               {"spec.", at},
               {"metadata.", at + "metadata."}}};
    }
    default:
      return {template_of(pod), {{"", joined(path, "")}}};
  }
}

// How many findings were the same.
std::size_t expect_same(std::string_view api_version, std::string_view kind,
                        const bj::value& object, const bj::object& pod, const Placed& placed) {
  const std::string json = bj::serialize(object);
  const auto judged = formats::read_judged_object(api_version, kind, json);
  if (!judged) {
    ADD_FAILURE() << judged.error().to_string() << "\n" << json;
    return 0;
  }
  Found found;
  for (const admission::Subject& subject : judged->subjects("team-a"))
    found.merge(findings_of(subject));
  const kube::PodTemplate alone = read(pod);
  const admission::Subject subject{.metadata = alone.metadata,
                                   .spec = alone.spec,
                                   .namespace_ = "team-a",
                                   .path_prefix = {},
                                   .workload_kind = {}};
  const Found of_pod = findings_of(subject);
  for (const std::string& finding : of_pod) {
    const std::string wanted = moved(finding, placed);
    const auto same = found.find(wanted);
    if (same != found.end()) {
      found.erase(same);
    } else {
      ADD_FAILURE() << kind << " lacks " << wanted << "\n" << json;
    }
  }
  // Nor does the object add what the pod does not have.
  EXPECT_THAT(found, ::testing::IsEmpty()) << kind << "\n" << json;
  return of_pod.size();
}

class Templates : public ::testing::Test {
 protected:
  std::vector<bj::object> pods_ = pods_of_cases();
  Mixer mixer_{pods_};

  std::vector<bj::object> pods(std::size_t mixed) {
    std::vector<bj::object> out = pods_;
    for (std::size_t i = 0; i < mixed; ++i)
      out.push_back(mixer_.pod());
    return out;
  }
};

TEST_F(Templates, every_kind_of_the_table_has_the_findings_of_its_pods) {
  std::size_t compared = 0;
  const std::vector<bj::object> all = pods(100);
  ASSERT_GT(all.size(), 90U);
  for (const WorkloadKind& row : formats::workload_kinds()) {
    const std::string api_version = row.group.empty() ? "v1" : std::string(row.group) + "/v1";
    for (const bj::object& whole : all) {
      const auto pod = as_far_as(row.shape, whole);
      if (!pod) continue;
      std::string path;
      at_path(row.template_path, nullptr, path);
      const Placed placed = place(row.shape, *pod, path);
      const bj::value object = at_path(row.template_path, placed.value, path = {});
      compared += expect_same(api_version, row.kind, object, *pod, placed);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 10'000U);
}

TEST_F(Templates, unknown_kinds_have_the_findings_of_their_pods_at_any_depth) {
  const std::string names[] = {"spec", "template", "workers", "pod", "podSpec", "a.b/c"};
  std::size_t compared = 0;
  for (const bj::object& whole : pods(500)) {
    const bool bare = mixer_.below(2) == 0;
    const TemplateShape shape = bare ? TemplateShape::kPodSpec : TemplateShape::kTemplate;
    const bj::object pod = *as_far_as(shape, whole);
    // A bare spec is one of the member that holds it: below `spec` it has the metadata beside it.
    std::string path = bare ? "podSpec" : "";
    bj::value object = bare ? bj::object{{"podSpec", pod.at("spec")}} : template_of(pod);
    for (std::size_t depth = mixer_.below(20); depth > 0; --depth) {
      const std::string& name = names[mixer_.below(std::size(names))];
      // A list needs a member, and the root is an object.
      std::string segment = name == "a.b/c" ? "[\"a.b/c\"]" : name;
      if (mixer_.below(3) == 0) {
        object = bj::array{7, bj::object{{"name", "x"}}, std::move(object)};
        segment += "[2]";
      }
      object = bj::object{{name, std::move(object)}, {"other", bj::array{bj::object()}}};
      const bool attached = path.empty() || path.front() == '[';
      path = segment + (attached ? path : "." + path);
    }
    const Placed placed{nullptr, {{bare ? "spec." : "", joined(path, "")}}};
    compared += expect_same("example.com/v1", "Unknown", object, pod, placed);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 400U);
}

}  // namespace
}  // namespace rankward::cases
