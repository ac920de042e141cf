// Standard base64 with padding, as Go's encoding/json reads and writes []byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankward::formats {

[[nodiscard]] std::string base64_encode(std::string_view bytes);
// Line ends inside are passed over. Nothing where anything else is wrong.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace rankward::formats
