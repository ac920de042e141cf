// The one way in which this project reports failure: a value with context, never an exception that
// crosses a room. `Result<T>` holds a T or an Error.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rankward {

// What a caller can do about it; the edge maps it to an HTTP status or an exit code.
enum class ErrorKind : std::uint8_t {
  kInvalid,      // the input is wrong; sending it again will not help
  kTooLarge,     // the input is over a limit that the message names
  kNotFound,     // what was named does not exist
  kUnavailable,  // a peer or the system failed; trying again may help
  kInternal,     // our own fault
};

class Error {
 public:
  // What Result<T>::error() gives where there is a value; not an error of its own.
  Error() = default;
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  static Error invalid(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }
  static Error unavailable(std::string message) {
    return {ErrorKind::kUnavailable, std::move(message)};
  }

  // Where in the input: a path such as `spec.containers[0].resources.limits["nvidia.com/gpu"]`.
  Error&& at_field(std::string field) && {
    field_ = std::move(field);
    return std::move(*this);
  }
  // Offset in bytes from the start of the input.
  Error&& at_byte(std::size_t offset) && {
    offset_ = offset;
    return std::move(*this);
  }
  // Line of the input, counted from 1.
  Error&& at_line(std::size_t line) && {
    line_ = line;
    return std::move(*this);
  }
  // Which input: a file, a URL, "request body".
  Error&& in(std::string source) && {
    source_ = std::move(source);
    return std::move(*this);
  }
  // Puts an outer part in front of the field: `spec` + `containers[0]` -> `spec.containers[0]`.
  Error&& under(std::string_view prefix) && {
    if (field_.empty()) {
      field_ = prefix;
    } else if (field_.front() == '[') {
      field_.insert(0, prefix);
    } else {
      field_.insert(0, std::string(prefix) + ".");
    }
    return std::move(*this);
  }

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& field() const { return field_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] std::optional<std::size_t> offset() const { return offset_; }
  [[nodiscard]] std::optional<std::size_t> line() const { return line_; }

  // `nodes.yaml:12: spec.containers[0].name: must be a string (byte 345)`
  [[nodiscard]] std::string to_string() const {
    std::string out = source_;
    if (line_) out += (out.empty() ? "line " : ":") + std::to_string(*line_);
    if (!out.empty()) out += ": ";
    if (!field_.empty()) out += field_ + ": ";
    out += message_;
    if (offset_) out += " (byte " + std::to_string(*offset_) + ")";
    return out;
  }

 private:
  ErrorKind kind_ = ErrorKind::kInternal;
  std::string message_;
  std::string field_;
  std::string source_;
  std::optional<std::size_t> offset_;
  std::optional<std::size_t> line_;
};

// Called by Result<T>::value() on an error. A caller that has not looked is a bug.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location& /*where*/) {
  throw std::logic_error("unchecked result: " + error.to_string());
}

template <class T>
using Result = boost::system::result<T, Error>;

}  // namespace rankward
