// ExtenderArgs and ExtenderPreemptionArgs: never a crash; what is accepted is JSON to Boost.JSON's
// own parser too; raw nodes lie in the body and are JSON objects; an error is inside the body.
#include <boost/json.hpp>

#include "fuzz_input.hpp"
#include "rankward/formats/extender.hpp"
#include "rankward/formats/objects.hpp"

namespace {

using rankward::fuzz::check;

bool is_json(std::string_view text) {
  boost::json::error_code code;
  boost::json::parse_options options;
  options.max_depth = rankward::formats::kMaxJsonDepth;
  boost::json::parse(boost::json::string_view(text.data(), text.size()), code, {}, options);
  return !code;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  const std::string_view body = rankward::fuzz::text_of(data, size);
  static formats::ExtenderArgsReader reader;
  const auto args = reader.read(body);
  if (args) {
    check(is_json(body));
    if ((*args)->form == formats::NodeForm::kNodes) {
      check((*args)->node_items.size() == (*args)->node_names.size());
    } else {
      check((*args)->node_items.empty());
    }
    for (const std::string_view node : (*args)->node_items) {
      check(rankward::fuzz::inside(node, body) && node.front() == '{' && node.back() == '}');
      check(is_json(node));
      (void)formats::read_node(node);
    }
  } else {
    check(args.error().offset().value_or(0) <= body.size());
  }
  const auto preemption = formats::read_preemption_args(body);
  if (preemption) {
    check(is_json(body));
    std::string out;
    formats::write_preemption_result(preemption->candidates, out);
    check(is_json(out));
  }
  return 0;
}
