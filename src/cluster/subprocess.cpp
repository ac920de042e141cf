#include "subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often exit, deadline and stop are looked at while the program is silent.
constexpr milliseconds kPoll{20};

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// posix_spawn's two option objects, set up for a program that prints into `output`.
class SpawnOptions {
 public:
  explicit SpawnOptions(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes_, 0);
    // The thread that waits for SIGTERM has it blocked in all others, and masks are inherited.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
  }
  ~SpawnOptions() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::vector<std::string> environment_of(const Program& program) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : program.environment)
      replaced = replaced || key == name;
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [key, value] : program.environment)
    out.push_back(key + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (auto& text : strings)
    out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string quoted(const std::string& command) {
  return "`" + command + "`";
}

// A child that leads a process group of its own. Not left behind, whatever happens.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Whether it has ended, and if so how.
  [[nodiscard]] bool ended(int& status) {
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got < 0) status = -1;  // somebody else has taken its status: not known to be good
    pid_ = 0;
    return true;
  }

 private:
  pid_t pid_;
};

enum class PipeState { kOpen, kEnded, kFull };

// Takes what the non-blocking pipe has now.
PipeState drain(int pipe, std::string& output, std::size_t most) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(pipe, buffer.data(), buffer.size());
    if (got == 0) return PipeState::kEnded;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? PipeState::kOpen : PipeState::kEnded;
    if (output.size() + static_cast<std::size_t>(got) > most) return PipeState::kFull;
    output.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> collect(const Program& program, Child& child, int pipe,
                            const std::stop_token& stop) {
  const auto deadline = steady_clock::now() + program.timeout;
  std::string output;
  bool pipe_open = true;
  for (;;) {
    if (pipe_open) {
      pollfd wanted{pipe, POLLIN, 0};
      poll(&wanted, 1, static_cast<int>(kPoll.count()));
    } else {
      std::this_thread::sleep_for(kPoll);
    }
    // Looked at before the pipe is drained: what an ended program printed is in the pipe by then.
    int status = 0;
    const bool ended = child.ended(status);
    if (pipe_open) {
      const auto state = drain(pipe, output, program.max_output_bytes);
      if (state == PipeState::kFull) {
        return Error::unavailable(quoted(program.command) + " printed more than " +
                                  std::to_string(program.max_output_bytes) + " bytes");
      }
      pipe_open = state == PipeState::kOpen;
    }
    if (ended) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
      const std::string how = WIFEXITED(status)
                                  ? " failed with exit code " + std::to_string(WEXITSTATUS(status))
                                  : std::string(" did not end by itself");
      return Error::unavailable(quoted(program.command) + how);
    }
    if (stop.stop_requested()) {
      return Error::unavailable(quoted(program.command) + " was stopped");
    }
    if (steady_clock::now() >= deadline) {
      return Error::unavailable(quoted(program.command) + " did not end within " +
                                std::to_string(program.timeout.count()) + " ms");
    }
  }
}

}  // namespace

// A stop_token is passed by value everywhere: NOLINTNEXTLINE(performance-unnecessary-value-param)
Result<std::string> run_program(const Program& program, std::stop_token stop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Error::unavailable(std::string("no pipe: ") + std::strerror(errno));
  }
  FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);

  std::vector<std::string> arguments = program.arguments;
  arguments.insert(arguments.begin(), program.command);
  auto environment = environment_of(program);
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(environment);

  const SpawnOptions options(write_end.get());
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, program.command.c_str(), options.actions(),
                                   options.attributes(), argv.data(), envp.data());
  if (failure != 0) {
    return Error(failure == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
                 quoted(program.command) + " cannot be started: " + std::strerror(failure));
  }
  write_end.close();
  Child child(pid);
  return collect(program, child, read_end.get(), stop);
}

}  // namespace rankward::cluster
