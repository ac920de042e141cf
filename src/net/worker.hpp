// One thread of one listener: an event loop, an accepting socket, the connections accepted there.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "session.hpp"
#include "transport.hpp"

namespace rankward::net {

class Worker {
 public:
  // Takes over a listening socket. Nothing runs before start().
  Worker(ListenerState& listener, int listening_socket, bool ipv6);
  ~Worker();

  void start();
  // From another thread: accept what is queued, close the socket, end idle connections.
  void stop();
  // From another thread: cut everything.
  void abort();
  // Waits until the loop has nothing left to do. True if that was before `end`.
  bool join(Clock::time_point end);

 private:
  Task<void> accept();
  Task<void> sweep();
  void admit(TcpSocket socket);
  void report(std::string_view message, const std::string& error);
  void update_date();

  ListenerState& listener_;
  asio::io_context io_{1};
  TcpAcceptor acceptor_;
  Timer sweep_timer_;
  boost::intrusive::list<Session, boost::intrusive::constant_time_size<false>> sessions_;
  ThreadState state_;
  std::time_t date_second_ = 0;
  bool stopping_ = false;
  std::atomic<bool> finished_{false};
  std::thread thread_;
};

}  // namespace rankward::net
