// metav1.ObjectMeta, string maps and resource lists.
#include "object_fields.hpp"

namespace rankward::formats {

// Static, since look-up by argument does not see into unnamed namespaces.
static bool read(Cursor& cursor, kube::OwnerReference& out) {
  return cursor.object(field("apiVersion", out.api_version), field("kind", out.kind),
                       field("name", out.name), field("uid", out.uid),
                       field("controller", out.controller));
}

namespace {

// Reads `name -> value` pairs, in which no name may come twice.
template <class Map, class ReadValue>
bool read_map(Cursor& cursor, Map& out, ReadValue&& read_value) {
  return cursor.members([&](std::string_view key) {
    const std::size_t at = cursor.offset();
    const auto [place, fresh] = out.try_emplace(std::string(key));
    if (!fresh) return cursor.fail("must not be given twice", at);
    return read_value(key, place);
  });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A Quantity as UnmarshalJSON takes it: a string, outer blanks trimmed, or a number; null is 0.
// `unreadable` gets a literal that Kubernetes cannot read, where the cursor keeps such amounts.
bool read_amount(Cursor& cursor, kube::Quantity& out, std::optional<std::string>& unreadable) {
  if (cursor.null()) return true;
  const bool keep = cursor.unreadable_amounts() == UnreadableAmounts::kKeep;
  const std::size_t at = cursor.offset();
  const char first = cursor.peek();
  std::string scratch;
  std::string_view literal;
  if (first == '"') {
    if (!cursor.string(literal, scratch)) return false;
  } else if (first == '-' || (first >= '0' && first <= '9')) {
    if (!cursor.number(literal)) return false;
  } else if (keep) {
    if (!cursor.raw(literal)) return false;
    unreadable = literal;
    return true;
  } else {
    return cursor.expected("a quantity, such as \"8\" or \"500m\"");
  }
  const auto amount = kube::Quantity::parse(trimmed(literal));
  if (amount) {
    out = *amount;
  } else if (keep) {
    unreadable = literal;
  } else {
    return cursor.fail(amount.error().at_byte(at));
  }
  return true;
}

// `take_unreadable(name, literal)` gets what the list has no place for.
template <class TakeUnreadable>
bool read_amounts(Cursor& cursor, kube::ResourceList& out, TakeUnreadable&& take_unreadable) {
  return read_map(cursor, out, [&](std::string_view name, kube::ResourceList::iterator place) {
    std::optional<std::string> unreadable;
    if (!read_amount(cursor, place->second, unreadable)) return false;
    if (!unreadable) return true;
    out.erase(place);
    take_unreadable(name, std::move(*unreadable));
    return true;
  });
}

}  // namespace

bool read(Cursor& cursor, kube::StringMap& out) {
  return read_map(cursor, out, [&](std::string_view, kube::StringMap::iterator place) {
    return read(cursor, place->second);
  });
}

bool read(Cursor& cursor, kube::ObjectMeta& out) {
  const auto deletion = [&] {
    out.deleting = !cursor.null();
    return !out.deleting || cursor.skip();
  };
  return cursor.object(field("name", out.name), field("generateName", out.generate_name),
                       field("namespace", out.namespace_), field("uid", out.uid),
                       field("resourceVersion", out.resource_version), field("labels", out.labels),
                       field("annotations", out.annotations),
                       field("ownerReferences", out.owner_references),
                       field("deletionTimestamp", deletion));
}

bool read(Cursor& cursor, kube::ResourceList& out) {
  return read_amounts(cursor, out, [](std::string_view, const std::string&) {});
}

bool read(Cursor& cursor, kube::ResourceRequirements& out) {
  const auto amounts = [&](std::string_view list, kube::ResourceList& into) {
    return read_amounts(cursor, into, [&](std::string_view name, const std::string& literal) {
      out.unreadable.push_back({std::string(list) + "[\"" + std::string(name) + "\"]", literal});
    });
  };
  const auto claim = [&](std::size_t) {
    return cursor.object(field("name", out.claims.emplace_back()));
  };
  return cursor.object(field("requests", [&] { return amounts("requests", out.requests); }),
                       field("limits", [&] { return amounts("limits", out.limits); }),
                       field("claims", [&] { return cursor.items(claim); }));
}

}  // namespace rankward::formats
