// Beast's parser for responses; the body goes where the caller wants it, piece by piece.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <functional>
#include <string_view>

#include "rankward/net/client.hpp"

namespace rankward::net {

class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  struct Sink {
    Client::OnHead on_head;
    Client::OnChunk on_bytes;
  };

  ResponseParser(const Sink& sink, bool head_only) : sink_(sink) {
    header_limit(32 << 10);
    body_limit(boost::none);
    eager(true);
    skip(head_only);
  }

  [[nodiscard]] bool informational() const { return head_.status / 100 == 1; }
  // The sink has said that it wants no more.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  using string_view = boost::beast::string_view;
  using error_code = boost::beast::error_code;

  void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                       error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override {
    head_.status = status;
  }
  void on_field_impl(boost::beast::http::field, string_view name, string_view value,
                     error_code&) override {
    if (!head_done_) head_.headers.emplace_back(name, value);
  }
  void on_header_impl(error_code& ec) override {
    head_done_ = true;
    if (!informational() && !sink_.on_head(head_)) stop(ec);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code& ec) override { return pass(bytes, ec); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& ec) override {
    return pass(bytes, ec);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t pass(std::string_view bytes, error_code& ec) {
    if (!bytes.empty() && !sink_.on_bytes(bytes)) stop(ec);
    return bytes.size();
  }
  void stop(error_code& ec) {
    stopped_ = true;
    ec = boost::asio::error::operation_aborted;
  }

  const Sink& sink_;
  ClientResponse head_;
  bool head_done_ = false;
  bool stopped_ = false;
};

}  // namespace rankward::net
