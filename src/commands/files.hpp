// Files as subcommands take them.
#pragma once

#include <string>
#include <vector>

#include "rankward/formats/documents.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

// "-" is standard input. kNotFound or kUnavailable with the file's name; kTooLarge over
// formats::kMaxDocumentBytes.
[[nodiscard]] Result<std::string> read_file(const std::string& path);
[[nodiscard]] Result<std::vector<formats::Document>> read_document_file(const std::string& path);

// The objects of one kind in a file; others are passed over. Errors carry file, line and field.
struct PodDocument {
  kube::Pod pod;
  std::string json;
};
[[nodiscard]] Result<std::vector<PodDocument>> read_pods(const std::string& path);
[[nodiscard]] Result<std::vector<kube::Node>> read_nodes(const std::string& path);

}  // namespace rankward::commands
