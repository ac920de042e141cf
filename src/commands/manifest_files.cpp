#include "manifest_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace rankward::commands {
namespace {

namespace fs = std::filesystem;

bool is_manifest_name(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

Error unreadable(const std::string& path, const std::error_code& error) {
  return Error::unavailable(error.message()).in(path);
}

Result<void> collect(const std::string& root, std::vector<std::string>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(root, error);
  if (error) return unreadable(root, error);
  for (const fs::recursive_directory_iterator end; at != end; at.increment(error)) {
    if (error) return unreadable(root, error);
    const fs::path& path = at->path();
    if (path.filename().string().front() == '.') {
      at.disable_recursion_pending();
      continue;
    }
    if (at.depth() >= kMaxDirectoryDepth) {
      return Error(ErrorKind::kTooLarge, "must not be nested deeper than " +
                                             std::to_string(kMaxDirectoryDepth) + " directories")
          .in(root);
    }
    std::error_code not_there;
    if (!is_manifest_name(path) || !fs::is_regular_file(path, not_there)) continue;
    if (files.size() == kMaxManifestFiles) {
      return Error(ErrorKind::kTooLarge,
                   "must not hold more than " + std::to_string(kMaxManifestFiles) + " manifests")
          .in(root);
    }
    files.push_back(path.string());
  }
  if (error) return unreadable(root, error);
  return {};
}

}  // namespace

Result<std::vector<std::string>> manifest_files(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  if (auto done = collect(path, files); !done) return done.error();
  if (files.empty()) {
    return Error(ErrorKind::kNotFound, "must have a *.yaml, *.yml or *.json in it").in(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace rankward::commands
