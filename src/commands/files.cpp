#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "rankward/formats/objects.hpp"

namespace rankward::commands {
namespace {

Error locate(Error error, const formats::Document& document, const std::string& path) {
  const auto line = document.line_of(error.field());
  return std::move(error).at_line(line.value_or(document.line)).in(path);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (!file) return Error(ErrorKind::kNotFound, std::strerror(errno)).in(path);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, n);
    if (text.size() > formats::kMaxDocumentBytes) {
      return Error(ErrorKind::kTooLarge, "is larger than 64 MiB").in(path);
    }
  }
  if (std::ferror(file.get()) != 0) return Error::unavailable(std::strerror(errno)).in(path);
  return text;
}

Result<std::vector<formats::Document>> read_document_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return std::move(text.error());
  return formats::read_documents(*text, path == "-" ? "standard input" : path);
}

Result<std::vector<PodDocument>> read_pods(const std::string& path) {
  auto documents = read_document_file(path);
  if (!documents) return std::move(documents.error());
  std::vector<PodDocument> pods;
  for (formats::Document& document : *documents) {
    if (document.kind != "Pod" || document.api_version != "v1") continue;
    auto pod = formats::read_pod(document.json);
    if (!pod) return locate(std::move(pod.error()), document, path);
    pods.push_back({std::move(*pod), std::move(document.json)});
  }
  return pods;
}

Result<std::vector<kube::Node>> read_nodes(const std::string& path) {
  auto documents = read_document_file(path);
  if (!documents) return std::move(documents.error());
  std::vector<kube::Node> nodes;
  for (const formats::Document& document : *documents) {
    if (document.kind != "Node" || document.api_version != "v1") continue;
    auto node = formats::read_node(document.json);
    if (!node) return locate(std::move(node.error()), document, path);
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

}  // namespace rankward::commands
