#include "scan_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "rankward/formats/documents.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::commands {
namespace {

// The watch reads the same pods: what has ended holds nothing.
constexpr std::string_view kNotEnded = "status.phase!=Succeeded,status.phase!=Failed";

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// Kind and version of an item may be the list's; what cannot be read is refused by its own reader.
void give_item(std::string_view json, const OnItem& on_item) {
  const auto head = formats::read_object_head(json);
  if (head) {
    on_item(head->api_version, head->kind, json);
  } else {
    on_item("", "", json);
  }
}

Result<void> give_documents(std::string_view text, const std::string& source,
                            const OnItem& on_item) {
  auto documents = formats::read_documents(text, source);
  if (!documents) return std::move(documents.error());
  for (const formats::Document& document : *documents)
    on_item(document.api_version, document.kind, document.json);
  return {};
}

class Pieces {
 public:
  static Result<Pieces> open(const std::string& path) {
    Pieces out;
    out.file_.reset(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
    if (!out.file_) return Error(ErrorKind::kNotFound, std::strerror(errno)).in(path);
    return out;
  }

  // "" at the end.
  Result<std::string_view> next() {
    const std::size_t size = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
    if (size == 0 && std::ferror(file_.get()) != 0) {
      return Error::unavailable(std::strerror(errno));
    }
    return std::string_view(buffer_).substr(0, size);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string buffer_ = std::string(std::size_t{1} << 18, '\0');
};

bool begins_as_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// A list gives its objects as they come; what is no list after all is read as a whole.
Result<void> read_json_items(std::string_view first, Pieces& pieces, const std::string& source,
                             const OnItem& on_item) {
  cluster::ListText list;
  bool any = false;
  const auto give = [&](std::string_view json) {
    any = true;
    give_item(json, on_item);
  };
  Result<std::string_view> piece = first;
  for (; piece && !piece->empty(); piece = pieces.next()) {
    if (auto fed = list.feed(*piece, give); !fed) return std::move(fed.error()).in(source);
  }
  if (!piece) return std::move(piece.error()).in(source);
  if (!any) return give_documents(list.rest(), source, on_item);
  if (auto finished = list.finish(); !finished) return std::move(finished.error()).in(source);
  return {};
}

}  // namespace

Result<void> read_items(const std::string& path, const OnItem& on_item) {
  const std::string source = name_of(path);
  auto pieces = Pieces::open(path);
  if (!pieces) return std::move(pieces.error());
  const auto first = pieces->next();
  if (!first) return Error(first.error()).in(source);
  if (begins_as_json(*first)) return read_json_items(*first, *pieces, source, on_item);
  std::string text(*first);
  while (true) {
    const auto piece = pieces->next();
    if (!piece) return Error(piece.error()).in(source);
    if (piece->empty()) return give_documents(text, source, on_item);
    text.append(*piece);
    if (text.size() > formats::kMaxDocumentBytes) {
      return Error(ErrorKind::kTooLarge, "is larger than 64 MiB; JSON may be of any size")
          .in(source);
    }
  }
}

Result<void> list_items(
    cluster::ObjectLister& lister, const std::string& name_space, const OnItem& on_item,
    const std::function<void(std::string_view resource, const Error& why)>& on_missing) {
  const auto as = [&](std::string_view kind) {
    return [&on_item, kind](std::string_view json) { on_item("v1", kind, json); };
  };
  const std::pair<std::string_view, std::string_view> kBeside[] = {
      {"namespaces", "Namespace"}, {"persistentvolumes", "PersistentVolume"}};
  for (const auto& [resource, kind] : kBeside) {
    const auto listed = lister.list("/api/v1/" + std::string(resource), "", as(kind));
    if (!listed) on_missing(resource, listed.error());
  }
  const std::string path =
      name_space.empty() ? "/api/v1/pods" : "/api/v1/namespaces/" + name_space + "/pods";
  return lister.list(path, kNotEnded, as("Pod"));
}

}  // namespace rankward::commands
