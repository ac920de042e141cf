// Typed access to a Boost.JSON object with the path of what is wrong. For the two small documents
// that only this room reads: kubeconfig and ExecCredential.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "rankward/result.hpp"

namespace rankward::cluster {

class JsonFields {
 public:
  JsonFields(const boost::json::object& object, std::string path)
      : object_(&object), path_(std::move(path)) {}

  [[nodiscard]] std::string at(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }
  // nullptr where it is absent or null.
  [[nodiscard]] const boost::json::value* find(std::string_view key) const {
    const auto* value = object_->if_contains(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  // The three below give what Go's zero value would be where the key is absent or null.
  [[nodiscard]] Result<std::string> string(std::string_view key) const {
    const auto* value = find(key);
    if (value == nullptr) return std::string();
    if (!value->is_string()) return Error::invalid("must be a string").at_field(at(key));
    return std::string(value->get_string());
  }
  [[nodiscard]] Result<bool> boolean(std::string_view key) const {
    const auto* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_bool()) return Error::invalid("must be true or false").at_field(at(key));
    return value->get_bool();
  }
  [[nodiscard]] Result<boost::json::array> array(std::string_view key) const {
    const auto* value = find(key);
    if (value == nullptr) return boost::json::array();
    if (!value->is_array()) return Error::invalid("must be a list").at_field(at(key));
    return value->get_array();
  }
  // kInvalid where it is absent.
  [[nodiscard]] Result<JsonFields> object(std::string_view key) const {
    const auto* value = find(key);
    if (value == nullptr) return Error::invalid("is missing").at_field(at(key));
    return of(*value, at(key));
  }
  [[nodiscard]] static Result<JsonFields> of(const boost::json::value& value, std::string path) {
    if (!value.is_object()) return Error::invalid("must be an object").at_field(std::move(path));
    return JsonFields(value.get_object(), std::move(path));
  }

 private:
  const boost::json::object* object_;
  std::string path_;
};

// First error wins; later calls are not made. Keeps a reader of many fields free of one `if` each.
class FieldErrors {
 public:
  // Assigns to `out` where `read` is good.
  template <class T>
  void take(T& out, Result<T> read) {
    if (error_) return;
    if (read) {
      out = std::move(*read);
    } else {
      error_ = read.error();
    }
  }
  void add(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace rankward::cluster
