// A Finding: one admission rule violated at one field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rankward::admission {

// What a finding leads to; a later one is stricter.
enum class Mode : std::uint8_t {
  kOff,      // the rule is not run
  kAudit,    // audit annotation and metric only
  kWarn,     // the user sees a warning, the object is admitted
  kEnforce,  // the object is denied
};

// "off", "audit", "warn", "enforce": the words of the configuration and of audit annotations.
[[nodiscard]] std::string_view to_string(Mode mode);
[[nodiscard]] std::optional<Mode> mode_from_string(std::string_view text);
[[nodiscard]] std::span<const std::string_view> mode_names();

// `what`, `why` and `fix` are single lines of printable text: what the user wrote is escaped and
// cut, values of other variables are never in them.
struct Finding {
  std::string_view rule;  // "ENV-01"; lives as long as the catalogue
  Mode mode = Mode::kEnforce;
  std::string field;      // from the object's root: `spec.template.spec.containers[0].env[2]`
  std::string container;  // name, or "" for what belongs to the whole pod
  std::string subject;    // what is judged: a volume, a variable, an annotation key
  std::string value;      // tells two findings apart; may be private, so never print or log it
  std::string what;       // `containers[0] "train": NVIDIA_VISIBLE_DEVICES="all" without ...`
  std::string why;        // `A pod that happens to reach a GPU has no scheduling guarantee.`
  std::string fix;        // `set resources.limits "nvidia.com/gpu" and drop the variable.`

  // The whole line: `[ENV-01] WHAT WHY Fix: FIX`.
  [[nodiscard]] std::string message() const;

  // Whether both are the same thing seen twice: what an UPDATE did not bring in is not denied.
  [[nodiscard]] bool same_as(const Finding& other) const {
    return rule == other.rule && container == other.container && subject == other.subject &&
           value == other.value;
  }
};

}  // namespace rankward::admission
