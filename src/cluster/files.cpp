#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace rankward::cluster {

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    return Error(errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
                 std::strerror(errno))
        .in(path);
  }
  std::string out;
  char buffer[16384];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (out.size() + got > max_bytes) {
      return Error(ErrorKind::kTooLarge, "is larger than " + std::to_string(max_bytes) + " bytes")
          .in(path);
    }
    out.append(buffer, got);
  }
  if (std::ferror(file.get()) != 0) return Error::unavailable("cannot be read").in(path);
  return out;
}

}  // namespace rankward::cluster
