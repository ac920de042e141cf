// Which files a command line of files and directories means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::commands {

// Of one directory, all below it included. A checkout with more is one that nobody meant.
inline constexpr std::size_t kMaxManifestFiles = 20'000;
inline constexpr int kMaxDirectoryDepth = 32;

// A file and "-" stand for themselves. A directory stands for every *.yaml, *.yml and *.json in it
// and below, sorted by path; names that begin with a dot are passed over, links to files are
// followed, links to directories are not, so that no walk goes round. kNotFound for what is not
// there and for a directory without any such file; kTooLarge over the bounds; kUnavailable where
// a directory cannot be read.
[[nodiscard]] Result<std::vector<std::string>> manifest_files(const std::string& path);

}  // namespace rankward::commands
