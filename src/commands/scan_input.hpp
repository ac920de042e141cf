// Pods and what belongs to them, from a cluster or a file, given on one by one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rankward/cluster/list_objects.hpp"
#include "rankward/result.hpp"

namespace rankward::commands {

// `kind` is "" where an item of a list has none of its own.
using OnItem =
    std::function<void(std::string_view api_version, std::string_view kind, std::string_view json)>;

// `kubectl get -o json` is read in pieces, whatever its size; YAML as a whole, up to
// formats::kMaxDocumentBytes.
[[nodiscard]] Result<void> read_items(const std::string& path, const OnItem& on_item);

// The pods of the namespace ("": of all) that have not ended. Before them the Namespaces and the
// PersistentVolumes; a resource that may not be listed is told to `on_missing`, and the scan is
// poorer by what it says.
[[nodiscard]] Result<void> list_items(
    cluster::ObjectLister& lister, const std::string& name_space, const OnItem& on_item,
    const std::function<void(std::string_view resource, const Error& why)>& on_missing);

}  // namespace rankward::commands
