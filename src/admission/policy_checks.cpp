#include "policy_checks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "rankward/admission/host_path.hpp"
#include "rankward/kube/quantity.hpp"
#include "rankward/kube/resources.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::size_t kMaxPatternLength = 253;
constexpr std::size_t kMaxAllowedPaths = 256;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string at(std::string_view list, std::size_t index) {
  return std::string(list).append("[").append(std::to_string(index)).append("]");
}

// Checks every item, and how many there are.
template <class IsFit>
Result<void> check_each(const std::vector<std::string>& items, std::string_view list, IsFit is_fit,
                        std::string_view form) {
  if (items.size() > kMaxOfAVendor)
    return Error::invalid("must have at most " + std::to_string(kMaxOfAVendor) + " entries")
        .at_field(std::string(list));
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].size() > kMaxPatternLength || !is_fit(items[i]))
      return Error::invalid(in_quotes(items[i]) + " must be " + std::string(form))
          .at_field(at(list, i));
  return {};
}

// A name with any characters in the place of `*`.
std::string filled(std::string_view pattern) {
  std::string out(pattern);
  std::replace(out.begin(), out.end(), '*', 'x');
  return out;
}

bool is_resource_pattern(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.substr(0, slash).find('*') != std::string_view::npos)
    return false;
  return kube::is_extended(filled(text));
}

bool has_own_character(std::string_view segment) {
  return std::any_of(segment.begin(), segment.end(), is_letter_or_digit);
}

// Below /dev; /dev/shm, /dev/null and the like are everybody's, so a segment that is all `*` would
// deny honest pods.
bool is_device_pattern(std::string_view text) {
  constexpr std::string_view kDev = "/dev/";
  if (!text.starts_with(kDev) || canonical_host_path(text) != text) return false;
  text.remove_prefix(kDev.size());
  while (true) {
    const std::size_t slash = text.find('/');
    if (!has_own_character(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_variable_name(std::string_view text) {
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), fits);
}

bool is_domain_pattern(std::string_view text) {
  const bool has_dot = text.find('.') != std::string_view::npos;
  // kube knows what a domain is as the first half of a resource's name.
  return has_dot && has_own_character(text) && text.find('/') == std::string_view::npos &&
         kube::is_extended(filled(text) + "/x");
}

bool is_printable_name(std::string_view text) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return printable && has_own_character(text) && text.size() <= kMaxNameLength;
}

Result<void> check_vendor(const VendorOption& vendor) {
  if (!is_printable_name(vendor.name))
    return Error::invalid("must be a printable name of at most " + std::to_string(kMaxNameLength) +
                          " characters, such as \"Example NPU\"")
        .at_field("name");
  if (auto ok = check_each(vendor.resources, "resources", is_resource_pattern,
                           "a resource with its domain, such as \"example.com/npu\" or "
                           "\"example.com/npu-*\"");
      !ok)
    return ok;
  if (auto ok = check_each(vendor.device_paths, "devicePaths", is_device_pattern,
                           "a path below /dev in plain form, such as \"/dev/examplenpu*\", with a "
                           "letter or digit in every segment");
      !ok)
    return ok;
  if (auto ok = check_each(vendor.env_names, "envNames", is_variable_name,
                           "a variable's name, such as \"EXAMPLE_VISIBLE_DEVICES\"");
      !ok)
    return ok;
  return check_each(vendor.annotations, "annotations", is_domain_pattern,
                    "the domain of annotation keys, such as \"npu.example.com\"");
}

}  // namespace

Result<void> check_vendors(const PolicyOptions& options) {
  if (options.vendors.size() > kMaxVendors)
    return Error::invalid("must be at most " + std::to_string(kMaxVendors)).at_field("vendors");
  for (std::size_t i = 0; i < options.vendors.size(); ++i)
    if (auto ok = check_vendor(options.vendors[i]); !ok)
      return std::move(ok.error()).under(at("vendors", i));
  return {};
}

Result<void> check_allowed_host_paths(const PolicyOptions& options) {
  if (!options.allowed_host_paths) return {};
  const std::vector<std::string>& paths = *options.allowed_host_paths;
  if (paths.size() > kMaxAllowedPaths)
    return Error::invalid("must be at most " + std::to_string(kMaxAllowedPaths) + " paths")
        .at_field("allowedHostPaths");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string canonical = canonical_host_path(paths[i]);
    if (paths[i] != canonical)
      return Error::invalid("must be a path from the root in plain form, such as " +
                            in_quotes(canonical) + ", not " + in_quotes(paths[i]))
          .at_field(at("allowedHostPaths", i));
  }
  return {};
}

Result<void> check_fabric_tests(const FabricTestOptions& options) {
  const auto wrong = [](std::string_view field, std::string message) {
    return Error::invalid(std::move(message)).at_field("fabricTests." + std::string(field));
  };
  if (options.max_seconds < 0) return wrong("maxSeconds", "must not be negative");
  if (!options.max_message_size.empty()) {
    const auto size = kube::Quantity::parse(options.max_message_size);
    if (!size || size->sign() <= 0)
      return wrong("maxMessageSize", "must be an amount of bytes such as 8Gi, not " +
                                         in_quotes(options.max_message_size));
  }
  if (options.min_nodes < 0) return wrong("minNodes", "must not be negative");
  if (options.max_nodes < 0) return wrong("maxNodes", "must not be negative");
  if (options.max_nodes > 0 && options.max_nodes < options.min_nodes)
    return wrong("maxNodes", "must not be less than minNodes");
  return {};
}

}  // namespace rankward::admission
