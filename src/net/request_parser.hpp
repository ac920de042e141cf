// Beast's parser, with fields as views and no memory of its own.
#pragma once

#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "http_head.hpp"
#include "rankward/net/http.hpp"

namespace rankward::net {

// Bytes that grow without being zeroed first and keep their memory between calls.
class ByteBuffer {
 public:
  // Room for `size` bytes and kBodyPadding behind them; keeps what is there.
  void reserve(std::size_t size);
  void append(std::string_view bytes);
  // After bytes were written behind size() by someone else.
  void commit(std::size_t n) { size_ += n; }
  void clear() { size_ = 0; }
  void release();

  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }  // without the padding
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// One request. The head comes in one piece that outlives the parser; a chunked body goes to `body`.
// Bodies with a length are not shown to the parser: they are read where they are needed.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser(std::size_t max_body_bytes, ByteBuffer& body);

  // Parses a head that check_head() has passed and that ends with its empty line.
  std::optional<Refusal> read_head(std::string_view head);

  // Feeds body bytes; returns how many were used. done() tells whether the body is complete.
  std::size_t read_chunks(std::string_view bytes, std::optional<Refusal>& refusal);

  [[nodiscard]] std::string_view method() const { return method_; }
  [[nodiscard]] std::string_view target() const { return target_; }
  [[nodiscard]] int version() const { return version_; }  // 10 or 11
  [[nodiscard]] std::span<const HeaderField> fields() const { return {fields_.data(), count_}; }
  [[nodiscard]] std::size_t body_length() const;  // 0 where there is none; not for chunked bodies
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }

 private:
  using string_view = boost::beast::string_view;
  using error_code = boost::beast::error_code;

  void on_request_impl(boost::beast::http::verb verb, string_view method, string_view target,
                       int version, error_code& ec) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field name, string_view name_text, string_view value,
                     error_code& ec) override;
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t remain, string_view bytes, error_code& ec) override;
  void on_finish_impl(error_code&) override {}

  static constexpr std::size_t kMaxFields = 128;

  const std::size_t max_body_bytes_;
  ByteBuffer& body_;
  std::string_view method_;
  std::string_view target_;
  int version_ = 11;
  std::array<HeaderField, kMaxFields> fields_;
  std::size_t count_ = 0;
  bool head_done_ = false;
  bool has_host_ = false;
  bool expects_continue_ = false;
  bool unknown_expectation_ = false;
};

}  // namespace rankward::net
