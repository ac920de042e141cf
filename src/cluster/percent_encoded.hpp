// Text as part of a query.
#pragma once

#include <string>
#include <string_view>

namespace rankward::cluster {

// All but RFC 3986's unreserved characters as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace rankward::cluster
