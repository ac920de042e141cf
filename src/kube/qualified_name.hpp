// The alphabet of names and label values, as k8s.io/apimachinery/pkg/util/validation has it.
#pragma once

#include <algorithm>
#include <string_view>

namespace rankward::kube {

inline bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The part of a qualified name after the slash, and what a label may hold unless it is empty.
inline bool is_name_part(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace rankward::kube
