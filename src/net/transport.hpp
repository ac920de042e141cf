// The concrete Asio types of this room: everything runs on the executor of one io_context, so no
// operation pays for a type-erased one.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace rankward::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

using Executor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using TcpAcceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using TlsStream = asio::ssl::stream<TcpSocket>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

template <class T>
using Task = asio::awaitable<T, Executor>;

// co_await of an operation gives its error code and result as a tuple.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable_t<Executor>{});

}  // namespace rankward::net
