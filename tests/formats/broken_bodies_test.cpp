// Bodies that must be refused whoever reads them, with the byte and the field of the fault.
#include <gtest/gtest.h>

#include <functional>

#include "rankward/formats/extender.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/review.hpp"

namespace rankward::formats {
namespace {

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  if (result) return {};
  return result.error();
}

std::optional<Error> read_args(std::string_view body) {
  ExtenderArgsReader reader;
  return error_of(reader.read(body));
}
std::optional<Error> read_preemption(std::string_view body) {
  return error_of(read_preemption_args(body));
}
std::optional<Error> read_review(std::string_view body) {
  return error_of(read_admission_review(body));
}
std::optional<Error> read_a_pod(std::string_view body) {
  return error_of(read_pod(body));
}
std::optional<Error> read_a_node(std::string_view body) {
  return error_of(read_node(body));
}
std::optional<Error> read_a_list(std::string_view body) {
  return error_of(read_list(body, [](std::string_view) { return Result<void>(); }));
}
std::optional<Error> read_event(std::string_view body) {
  return error_of(read_watch_event(body));
}

using Reader = std::optional<Error> (*)(std::string_view);

struct NamedReader {
  const char* name;
  Reader read;
};
constexpr NamedReader kReaders[] = {{"ExtenderArgs", read_args},
                                    {"ExtenderPreemptionArgs", read_preemption},
                                    {"AdmissionReview", read_review},
                                    {"Pod", read_a_pod},
                                    {"Node", read_a_node},
                                    {"List", read_a_list},
                                    {"WatchEvent", read_event}};

struct NotJson {
  std::string body;
  std::size_t offset;
};

TEST(BrokenBodies, every_reader_refuses_what_is_not_json) {
  const NotJson cases[] = {
      {"", 0},
      {"   ", 3},
      {"null", 0},
      {"[]", 0},
      {"\"text\"", 0},
      {"nonsense", 0},
      {"\xEF\xBB\xBF{}", 0},
      {"{", 1},
      {"{\"x\"", 4},
      {"{\"x\":", 5},
      {"{\"x\":1", 6},
      {"{\"x\":1,", 7},
      {"{\"x\":1,}", 7},
      {"{x:1}", 1},
      {"{\"x\" 1}", 5},
      {"{\"x\":1 \"y\":2}", 7},
      {"{\"x\":tru}", 5},
      {"{\"x\":01}", 6},
      {"{\"x\":[1,]}", 8},
      {"{\"x\":[1 2]}", 8},
      {"{\"x\":{\"y\":\"\x01\"}}", 11},
      {"{\"x\":\"\xFF\"}", 6},
      {"{\"\xFF\":1}", 2},
      {"{\"x\":1,\"x\":2}", 7},
      {"{\"x\":" + std::string(64, '[') + std::string(64, ']') + "}", 5 + 63},
      {"{\"x\":1}{", 7},
      {"{/* no */\"x\":1}", 1},
  };
  for (const NamedReader& reader : kReaders) {
    for (const NotJson& c : cases) {
      const auto error = reader.read(c.body);
      ASSERT_TRUE(error.has_value()) << reader.name << ": " << c.body;
      EXPECT_EQ(error->offset(), c.offset) << reader.name << ": " << c.body << "\n"
                                           << error->to_string();
    }
  }
}

TEST(BrokenBodies, every_reader_refuses_every_cut_of_a_good_body) {
  const std::string_view bodies[] = {
      R"({"Pod":{"metadata":{"name":"p","uid":"u"},"spec":{"containers":[{"name":"c"}]}},)"
      R"("Nodes":null,"NodeNames":["gpu-a","gpu-\u0062"]})",
      R"({"Pod":{"metadata":{"uid":"u"}},"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"v"}],)"
      R"("NumPDBViolations":0}}})",
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
      R"("kind":{"kind":"Pod","version":"v1"},"operation":"CREATE","object":{"spec":null}}})",
      R"({"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"hostPID":true,"priority":-1e0}})",
      R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8"},"conditions":[]}})",
      R"({"metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":[2.5e3,null]}]})",
      R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"8"}}})",
  };
  static_assert(std::size(bodies) == std::size(kReaders));
  for (std::size_t i = 0; i < std::size(bodies); ++i) {
    for (std::size_t size = 0; size < bodies[i].size(); ++size) {
      EXPECT_TRUE(kReaders[i].read(bodies[i].substr(0, size)).has_value())
          << kReaders[i].name << ": " << bodies[i].substr(0, size);
    }
  }
}

struct WrongField {
  Reader read;
  std::string_view body;
  std::string_view at;  // the fault stands where this text first does
  std::string_view field;
  std::string_view message;
};

TEST(BrokenBodies, errors_name_byte_field_and_accepted_form) {
  const WrongField cases[] = {
      {read_args, R"({"Pod":{"spec":{"containers":{}}},"NodeNames":[]})", "{}",
       "Pod.spec.containers", "must be an array, not an object"},
      {read_args, R"({"Pod":{},"NodeNames":["a",7]})", "7", "NodeNames[1]",
       "must be a string, not a number"},
      {read_args, R"({"Pod":{},"NodeNames":["a",null]})", "null", "NodeNames[1]",
       "must be a string, not null"},
      {read_args, R"({"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}},{"spec":{}}]}})",
       R"({"spec)", "Nodes.items[1].metadata.name", "must be given"},
      {read_args, R"({"Pod":{},"pod":{}})", R"("pod")", "pod", "must not be given twice"},
      {read_args,
       R"({"Pod":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":true}}}]}}})",
       "true", R"(Pod.spec.containers[0].resources.limits["nvidia.com/gpu"])",
       "must be a quantity, such as \"8\" or \"500m\", not a boolean"},
      {read_args, R"({"Pod":{"metadata":{"name":"a","name":"b"}}})", R"("name":"b")",
       "Pod.metadata.name", "must not be given twice"},
      {read_args, R"({"Pod":{"spec":{"priority":2147483648}}})", "2147483648", "Pod.spec.priority",
       "must be an integer from -2147483648 to 2147483647, not 2147483648"},
      {read_args, R"({"Pod":"p"})", R"("p")", "Pod", "must be an object, not a string"},
      {read_preemption, R"({"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"metadata":{}}]}}})",
       R"({"metadata)", "NodeNameToVictims.a.Pods[0].metadata.uid", "must be given"},
      {read_preemption, R"({"Pod":{},"NodeNameToMetaVictims":{"a":{"NumPDBViolations":1.5}}})",
       "1.5", "NodeNameToMetaVictims.a.NumPDBViolations",
       "must be an integer from -9223372036854775808 to 9223372036854775807, not 1.5"},
      {read_review, R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})",
       R"("admission.k8s.io/v1beta1)", "apiVersion", R"(must be "admission.k8s.io/v1")"},
      {read_review,
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
       R"("kind":{"kind":"Pod"},"operation":"PATCH"}})",
       R"("PATCH")", "request.operation", "must be CREATE, UPDATE, DELETE or CONNECT"},
      {read_review,
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
       R"("object":"text"}})",
       R"("text")", "request.object", "must be an object, not a string"},
      {read_a_pod, R"({"metadata":{"labels":{"a":"1","a":"2"}}})", R"("2")", "metadata.labels.a",
       "must not be given twice"},
      {read_event, R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})", "7",
       "object.metadata.resourceVersion", "must be a string, not a number"},
  };
  for (const WrongField& c : cases) {
    const auto error = c.read(c.body);
    ASSERT_TRUE(error.has_value()) << c.body;
    EXPECT_EQ(error->field(), c.field) << c.body;
    EXPECT_EQ(error->message(), c.message) << c.body;
    EXPECT_EQ(error->offset(), c.body.find(c.at)) << c.body;
    EXPECT_EQ(error->kind(), ErrorKind::kInvalid);
  }
}

TEST(BrokenBodies, a_required_part_that_is_absent_is_named) {
  struct Case {
    Reader read;
    std::string_view body;
    std::string_view field;
  };
  const Case cases[] = {
      {read_args, "{}", "Pod"},
      {read_args, R"({"Pod":null,"NodeNames":[]})", "Pod"},
      {read_preemption, "{}", "Pod"},
      {read_review, "{}", "apiVersion"},
      {read_review, R"({"apiVersion":"admission.k8s.io/v1"})", "kind"},
      {read_review, R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})", "request"},
      {read_review, R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}})",
       "request.uid"},
      {read_event, R"({"object":{}})", "type"},
      {read_event, R"({"type":"ADDED"})", "object"},
  };
  for (const Case& c : cases) {
    const auto error = c.read(c.body);
    ASSERT_TRUE(error.has_value()) << c.body;
    EXPECT_EQ(error->field(), c.field) << c.body;
  }
}

TEST(BrokenBodies, too_many_nodes_are_too_large_rather_than_invalid) {
  std::string body = R"({"Pod":{},"NodeNames":[)";
  for (std::size_t i = 0; i <= kMaxCandidates; ++i)
    body += i == 0 ? "\"\"" : ",\"\"";
  body += "]}";
  const auto error = read_args(body);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace rankward::formats
