#include "request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <cstring>
#include <limits>

namespace rankward::net {
namespace http = boost::beast::http;

void ByteBuffer::reserve(std::size_t size) {
  if (size <= capacity_ && data_) return;
  std::unique_ptr<char[]> larger(new char[size + kBodyPadding]);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = size;
}

void ByteBuffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (size_ + bytes.size() > capacity_) reserve(std::max(size_ + bytes.size(), 2 * capacity_));
  std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void ByteBuffer::release() {
  data_.reset();
  size_ = capacity_ = 0;
}

RequestParser::RequestParser(std::size_t max_body_bytes, ByteBuffer& body)
    : max_body_bytes_(max_body_bytes), body_(body) {
  // The limits are kept here: the head's by the scanner, the body's below.
  header_limit(std::numeric_limits<std::uint32_t>::max());
  body_limit(boost::none);
  eager(true);
}

std::optional<Refusal> RequestParser::read_head(std::string_view head) {
  error_code ec;
  put(boost::asio::const_buffer(head.data(), head.size()), ec);
  if (ec == http::error::bad_version) return Refusal{505, "HTTP version must be 1.0 or 1.1"};
  // A length that does not fit 64 bits.
  if (ec == http::error::bad_content_length) return Refusal{413, "body too large"};
  if (ec || !head_done_) return Refusal{400, "malformed request head"};
  if (target_.empty() || target_.front() != '/') {
    return Refusal{400, "request target must be a path"};
  }
  if (version_ == 11 && !has_host_) return Refusal{400, "Host is missing"};
  if (version_ == 10 && chunked()) return Refusal{400, "Transfer-Encoding in HTTP/1.0"};
  if (unknown_expectation_) return Refusal{417, "Expect must be 100-continue"};
  if (!chunked() && body_length() > max_body_bytes_) return Refusal{413, "body too large"};
  return std::nullopt;
}

std::size_t RequestParser::read_chunks(std::string_view bytes, std::optional<Refusal>& refusal) {
  error_code ec;
  const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  if (ec == http::error::body_limit) {
    refusal = Refusal{413, "body too large"};
  } else if (ec && ec != http::error::need_more) {
    refusal = Refusal{400, "malformed chunked body"};
  }
  return used;
}

std::size_t RequestParser::body_length() const {
  const auto length = content_length();
  return length ? static_cast<std::size_t>(*length) : 0;
}

void RequestParser::on_request_impl(http::verb /*verb*/, string_view method, string_view target,
                                    int version, error_code& ec) {
  if (version != 10 && version != 11) {
    ec = http::error::bad_version;
    return;
  }
  method_ = method;
  target_ = target;
  version_ = version;
}

void RequestParser::on_field_impl(http::field name, string_view name_text, string_view value,
                                  error_code& ec) {
  if (head_done_) return;  // trailers of a chunked body are dropped
  if (count_ == fields_.size()) {
    ec = http::error::header_limit;
    return;
  }
  if (name == http::field::host) has_host_ = true;
  if (name == http::field::expect && version_ == 11) {
    (equal_ignoring_case(value, "100-continue") ? expects_continue_ : unknown_expectation_) = true;
  }
  fields_[count_++] = {name_text, value};
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t /*remain*/, string_view bytes,
                                              error_code& ec) {
  if (bytes.size() > max_body_bytes_ - body_.size()) {
    ec = http::error::body_limit;
    return 0;
  }
  body_.append(bytes);
  return bytes.size();
}

}  // namespace rankward::net
