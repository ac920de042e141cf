// Objects of every kind that makes gangs, and an API group's resources: never a crash; sizes stay
// within bounds.
#include "fuzz_input.hpp"
#include "rankward/formats/gang_objects.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  using rankward::fuzz::check;
  const std::string_view text = rankward::fuzz::text_of(data, size);
  for (const formats::GangResource& resource : formats::gang_resources()) {
    const auto owner = formats::read_gang_owner(resource, text);
    if (!owner) continue;
    for (const auto& facts : owner->facts) {
      check(!facts.gang_key.empty());
      for (const auto& role : facts.sizes) {
        check(role.pods > 0 && role.pods <= 100'000 && role.least >= 0 && role.least <= role.pods);
      }
    }
  }
  (void)formats::lists_resource(text, "jobs");
  return 0;
}
