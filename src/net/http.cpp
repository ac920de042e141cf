#include "rankward/net/http.hpp"

#include <algorithm>

namespace rankward::net {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [lower](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Request::header(std::string_view name) const {
  for (const HeaderField& field : headers) {
    if (equal_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

void Response::reset() {
  status = 200;
  content_type = "application/json";
  body.clear();
  retry_after.reset();
  headers.clear();
  after_sent = nullptr;
  after_sent = nullptr;
}

}  // namespace rankward::net
