// The answer of a mutating webhook: a JSON patch (RFC 6902) inside an AdmissionReview.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankward/admission/companion.hpp"

namespace rankward::formats {

// `token` as one part of a JSON pointer: `~` becomes `~0` and `/` becomes `~1` (RFC 6901).
void append_pointer_token(std::string& out, std::string_view token);

// A JSON patch that adds the variable to each container, and the list of variables where there is
// none.
[[nodiscard]] std::string void_patch(std::span<const admission::VoidAddition> additions);

// Appends the AdmissionReview of an object that is admitted. No patch where `json_patch` is empty.
void write_mutation_response(std::string_view uid, std::string_view json_patch, std::string& out);

}  // namespace rankward::formats
