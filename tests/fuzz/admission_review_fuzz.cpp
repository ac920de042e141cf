// AdmissionReview and the objects in it: never a crash; what is answered is JSON whatever the
// strings in the request were.
#include <boost/json.hpp>

#include "fuzz_input.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/review.hpp"
#include "rankward/formats/workload.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  using rankward::fuzz::check;
  const std::string_view body = rankward::fuzz::text_of(data, size);
  const auto request = formats::read_admission_review(body);
  if (request) {
    check(rankward::fuzz::inside(request->object, body));
    check(rankward::fuzz::inside(request->old_object, body));
    (void)formats::pod_templates(request->kind.api_version(), request->kind.kind, request->object);
  }
  (void)formats::read_pod(body);
  (void)formats::read_watch_event(body);
  (void)formats::read_list(body, [](std::string_view item) -> rankward::Result<void> {
    const auto head = formats::read_object_head(item);
    if (!head) return head.error();
    return {};
  });

  std::string out;
  formats::write_admission_response({.uid = std::string(body),
                                     .allowed = false,
                                     .message = std::string(body),
                                     .causes = {{std::string(body), "m", "r"}},
                                     .warnings = {std::string(body), std::string(body)}},
                                    out);
  boost::json::error_code code;
  const auto answer = boost::json::parse(boost::json::string_view(out), code);
  check(!code);
  for (const auto& warning : answer.at("response").at("warnings").as_array()) {
    for (const char c : warning.as_string())
      check(static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
