// Objects read once, without a watch: for programs that come to an end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

// Called with the JSON of each object, a view that is valid during the call.
using OnObject = std::function<void(std::string_view json)>;

// Lists resources of one API server, in pages, so that fifty thousand pods are never in memory at
// once. Blocks; for one thread.
class ObjectLister {
 public:
  explicit ObjectLister(const ApiServer& server);
  ~ObjectLister();
  ObjectLister(const ObjectLister&) = delete;
  ObjectLister& operator=(const ObjectLister&) = delete;

  // `path` is a collection's, such as "/api/v1/pods"; `field_selector` may be "". kUnavailable
  // with what the server says where it gives no list. Where a page comes so late that its version
  // is gone, the rest is listed as it is now (the server's own token for that), so that an object
  // is never given twice.
  [[nodiscard]] Result<void> list(std::string_view path, std::string_view field_selector,
                                  const OnObject& on_object);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

// The objects of a list in JSON that comes in pieces, such as a file of `kubectl get -o json` of
// any size.
class ListText {
 public:
  ListText();
  ~ListText();
  ListText(const ListText&) = delete;
  ListText& operator=(const ListText&) = delete;

  // kTooLarge where one object is.
  [[nodiscard]] Result<void> feed(std::string_view piece, const OnObject& on_object);
  // What has come beside the objects: the list itself with no items, or all of a text that is no
  // list.
  [[nodiscard]] const std::string& rest() const;
  // kInvalid where that is no list.
  [[nodiscard]] Result<void> finish() const;

 private:
  struct Splitter;
  std::unique_ptr<Splitter> splitter_;
};

}  // namespace rankward::cluster
