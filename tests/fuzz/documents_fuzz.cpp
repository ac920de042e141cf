// YAML and JSON manifests: never a crash or an endless run; what is accepted comes out as JSON that
// our own readers take, and every line lies in the file.
#include <algorithm>
#include <boost/json.hpp>

#include "fuzz_input.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/workload.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  using rankward::fuzz::check;
  const std::string_view text = rankward::fuzz::text_of(data, size);
  const auto documents = formats::read_documents(text, "input");
  if (!documents) return 0;
  for (const formats::Document& document : *documents) {
    boost::json::parse_options options;
    options.max_depth = formats::kMaxJsonDepth;
    boost::json::error_code code;
    boost::json::parse(boost::json::string_view(document.json), code, {}, options);
    check(!code);
    check(document.line >= 1 && document.line <= text.size() + 1);
    (void)document.line_of("spec.containers[0].env[1].value");
    (void)document.line_of(text.substr(0, 64));
    (void)formats::pod_templates(document.api_version, document.kind, document.json);
  }
  return 0;
}
