#include "rankward/formats/review.hpp"

#include "json_cursor.hpp"
#include "json_text.hpp"
#include "rankward/formats/json_writer.hpp"

namespace rankward::formats {

// Static, since look-up by argument does not see into unnamed namespaces.
static bool read(Cursor& cursor, GroupVersionKind& out) {
  return cursor.object(field("group", out.group), field("version", out.version),
                       field("kind", out.kind));
}

static bool read(Cursor& cursor, GroupVersionResource& out) {
  return cursor.object(field("group", out.group), field("version", out.version),
                       field("resource", out.resource));
}

static bool read(Cursor& cursor, Operation& out) {
  const std::size_t at = cursor.offset();
  std::string scratch;
  std::string_view name;
  if (!cursor.string(name, scratch)) return false;
  if (name == "CREATE") {
    out = Operation::kCreate;
  } else if (name == "UPDATE") {
    out = Operation::kUpdate;
  } else if (name == "DELETE") {
    out = Operation::kDelete;
  } else if (name == "CONNECT") {
    out = Operation::kConnect;
  } else {
    return cursor.fail("must be CREATE, UPDATE, DELETE or CONNECT", at);
  }
  return true;
}

namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";

// A field whose absence must be noticed.
struct Required {
  std::string_view name;
  bool given;
};

bool read_request(Cursor& cursor, AdmissionRequest& out) {
  const std::size_t at = cursor.offset();
  bool operation_given = false;
  const auto operation = [&] {
    operation_given = true;
    return read(cursor, out.operation);
  };
  const auto user = [&] {
    return cursor.object(field("username", out.username), field("groups", out.groups));
  };
  // An object must be one: what reads it later reports offsets in the object alone.
  const auto object = [&cursor](std::string_view& json) {
    return [&cursor, &json] {
      if (cursor.peek() != '{' && cursor.peek() != 'n') return cursor.expected("an object");
      return cursor.raw(json);
    };
  };
  if (cursor.peek() != '{') return cursor.expected("an object");
  if (!cursor.object(field("uid", out.uid), field("kind", out.kind),
                     field("resource", out.resource), field("subResource", out.sub_resource),
                     field("name", out.name), field("namespace", out.namespace_),
                     field("operation", operation), field("dryRun", out.dry_run),
                     field("userInfo", user), field("object", object(out.object)),
                     field("oldObject", object(out.old_object)))) {
    return false;
  }
  for (const Required& required :
       {Required{"uid", !out.uid.empty()}, Required{"kind.kind", !out.kind.kind.empty()},
        Required{"operation", operation_given}}) {
    if (!required.given) {
      return cursor.fail(
          Error::invalid("must be given").at_field(std::string(required.name)).at_byte(at));
    }
  }
  return true;
}

// Characters are what the API server counts: UTF-8 sequences.
std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  }
  return count;
}

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// Valid UTF-8 without control characters, at most kMaxWarningLength characters.
std::string clean_warning(std::string_view text) {
  std::string out;
  std::size_t count = 0;
  std::size_t before_last = 0;  // length of `out` when its last character was put
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    std::string_view one = length == 0 ? kReplacement : text.substr(0, length);
    // C0, DEL, and C1 (U+0080 to U+009F).
    const auto first = static_cast<unsigned char>(one.front());
    const bool control = first < 0x20 || first == 0x7F ||
                         (first == 0xC2 && static_cast<unsigned char>(one[1]) < 0xA0);
    if (control) one = " ";
    if (count == kMaxWarningLength) {
      out.resize(before_last);
      return out.append(kEllipsis);
    }
    before_last = out.size();
    out.append(one);
    ++count;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void append_warnings(const std::vector<std::string>& warnings, JsonWriter& writer) {
  std::vector<std::string> clean;
  std::size_t whole = 0;
  for (const std::string& warning : warnings) {
    clean.push_back(clean_warning(warning));
    whole += characters(clean.back());
  }
  // With room for the line that counts those left out, where some are.
  const std::size_t room =
      whole <= kMaxWarningsLength ? kMaxWarningsLength : kMaxWarningsLength - kMaxWarningLength;
  std::size_t total = 0;
  std::size_t put = 0;
  for (const std::string& warning : clean) {
    const std::size_t length = characters(warning);
    if (total + length > room) break;
    total += length;
    writer.value(warning);
    ++put;
  }
  if (put < clean.size()) {
    writer.value("and " + std::to_string(clean.size() - put) + " more warnings");
  }
}

void append_status(const AdmissionResponse& response, JsonWriter& writer) {
  writer.key("status").begin_object();
  writer.member("status", "Failure").member("message", response.message);
  writer.member("reason", response.reason);
  if (!response.causes.empty()) {
    writer.key("details").begin_object().key("causes").begin_array();
    for (const StatusCause& cause : response.causes) {
      writer.begin_object();
      writer.member("reason", cause.reason).member("message", cause.message);
      writer.member("field", cause.field).end_object();
    }
    writer.end_array().end_object();
  }
  writer.member("code", response.code).end_object();
}

}  // namespace

std::string GroupVersionKind::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

Result<AdmissionRequest> read_admission_review(std::string_view body) {
  Cursor cursor(body);
  AdmissionRequest request;
  bool request_given = false;
  const auto must_be = [&](std::string_view accepted) {
    return [&cursor, accepted] {
      const std::size_t at = cursor.offset();
      std::string scratch;
      std::string_view text;
      if (!cursor.string(text, scratch)) return false;
      return text == accepted || cursor.fail("must be \"" + std::string(accepted) + "\"", at);
    };
  };
  const auto required = [](std::string_view field_name, std::string_view accepted) {
    return Error::invalid("must be \"" + std::string(accepted) + "\"")
        .at_field(std::string(field_name));
  };
  bool version_given = false;
  bool kind_given = false;
  const auto version = [&] { return version_given = must_be(kApiVersion)(); };
  const auto kind = [&] { return kind_given = must_be(kKind)(); };
  const auto read_it = [&] {
    request_given = true;
    return read_request(cursor, request);
  };
  if (!cursor.document(field("apiVersion", version), field("kind", kind),
                       field("request", read_it))) {
    return cursor.take_error();
  }
  if (!version_given) return required("apiVersion", kApiVersion);
  if (!kind_given) return required("kind", kKind);
  if (!request_given) return Error::invalid("must be an object").at_field("request");
  return request;
}

void write_admission_response(const AdmissionResponse& response, std::string& out) {
  JsonWriter writer(out);
  writer.begin_object().member("apiVersion", kApiVersion).member("kind", kKind);
  writer.key("response").begin_object();
  writer.member("uid", response.uid).member("allowed", response.allowed);
  if (!response.allowed) append_status(response, writer);
  if (!response.warnings.empty()) {
    writer.key("warnings").begin_array();
    append_warnings(response.warnings, writer);
    writer.end_array();
  }
  if (!response.audit_annotations.empty()) {
    writer.key("auditAnnotations").begin_object();
    for (const auto& [key, value] : response.audit_annotations)
      writer.member(key, value);
    writer.end_object();
  }
  writer.end_object().end_object();
}

}  // namespace rankward::formats
