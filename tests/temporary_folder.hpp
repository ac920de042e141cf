// A folder of a test or load generator, gone with the object.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rankward {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // mkdtemp(3) puts its letters where the pattern has X.
    std::string name = (std::filesystem::temp_directory_path() / "rankward-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The path of a file in it.
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }
  // Returns the path.
  std::string write(std::string_view name, std::string_view content) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }
  // A shell script that can be run.
  std::string script(std::string_view name, std::string_view body) const {
    auto file = write(name, "#!/bin/sh\n" + std::string(body));
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rankward
