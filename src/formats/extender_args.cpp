#include <set>

#include "object_fields.hpp"
#include "rankward/formats/extender.hpp"

namespace rankward::formats {
namespace {

Error too_many_nodes() {
  return {ErrorKind::kTooLarge,
          "must not name more than " + std::to_string(kMaxCandidates) + " nodes"};
}

// The part of ExtenderArgs that speaks of nodes: names, or whole Nodes with their names.
class NodeListReader {
 public:
  // `names` is where NodeNames go until it is known that Nodes do not come too.
  NodeListReader(Cursor& cursor, ExtenderArgs& args, std::vector<std::string_view>& names,
                 std::deque<std::string>& decoded)
      : cursor_(cursor), args_(args), names_(names), decoded_(decoded) {}

  // ["a", "b"]
  bool names() {
    if (cursor_.peek() != 'n') names_given_ = true;
    return cursor_.items(
        [&](std::size_t) { return has_room(names_.size()) && name(names_.emplace_back()); });
  }

  // {"metadata": {}, "items": [...]}
  bool nodes() {
    if (cursor_.peek() != 'n') nodes_given_ = true;
    const auto item = [&](std::size_t) { return has_room(args_.node_items.size()) && node(); };
    return cursor_.object(field("items", [&] { return cursor_.items(item); }));
  }

  void finish() {
    args_.form = nodes_given_   ? NodeForm::kNodes
                 : names_given_ ? NodeForm::kNames
                                : NodeForm::kNone;
    if (args_.form == NodeForm::kNodes) return;
    args_.node_names.swap(names_);
  }

 private:
  bool has_room(std::size_t count) {
    return count < kMaxCandidates || cursor_.fail(too_many_nodes().at_byte(cursor_.offset()));
  }

  bool name(std::string_view& out) {
    if (cursor_.plain_string(out)) return true;
    std::string scratch;
    if (!cursor_.string(out, scratch)) return false;
    if (out.data() == scratch.data()) out = decoded_.emplace_back(std::move(scratch));
    return true;
  }

  bool node() {
    const std::size_t start = cursor_.offset();
    std::string_view& its_name = args_.node_names.emplace_back();
    const auto metadata = [&] {
      return cursor_.object(field("name", [&] { return name(its_name); }));
    };
    if (cursor_.peek() != '{') return cursor_.expected("a Node");
    if (!cursor_.object(field("metadata", metadata))) return false;
    if (its_name.empty()) {
      return cursor_.fail(Error::invalid("must be given").at_field("metadata.name").at_byte(start));
    }
    args_.node_items.push_back(cursor_.taken_since(start));
    return true;
  }

  Cursor& cursor_;
  ExtenderArgs& args_;
  std::vector<std::string_view>& names_;
  std::deque<std::string>& decoded_;
  bool names_given_ = false;
  bool nodes_given_ = false;
};

}  // namespace

Result<const ExtenderArgs*> ExtenderArgsReader::read(std::string_view body) {
  args_.pod = {};
  args_.node_names.clear();
  args_.node_items.clear();
  names_.clear();
  decoded_.clear();

  Cursor cursor(body);
  NodeListReader list(cursor, args_, names_, decoded_);
  bool pod_given = false;
  const auto pod = [&] {
    pod_given = cursor.peek() == '{';
    return formats::read(cursor, args_.pod);
  };
  if (!cursor.document<KeyCase::kAny>(field("Pod", pod),
                                      field("Nodes", [&] { return list.nodes(); }),
                                      field("NodeNames", [&] { return list.names(); }))) {
    return cursor.take_error();
  }
  if (!pod_given) return Error::invalid("must be a Pod").at_field("Pod");
  list.finish();
  return &args_;
}

namespace {

bool read_victim(Cursor& cursor, PreemptionVictim& out, bool whole_pod) {
  if (cursor.peek() != '{') return cursor.expected(whole_pod ? "a Pod" : "an object with a UID");
  const std::size_t start = cursor.offset();
  if (whole_pod) {
    if (!read(cursor, out.pod)) return false;
    out.uid = out.pod.metadata.uid;
  } else {
    if (!cursor.object_any_case(field("UID", out.uid))) return false;
    out.pod.metadata.uid = out.uid;
  }
  if (!out.uid.empty()) return true;
  return cursor.fail(
      Error::invalid("must be given").at_field(whole_pod ? "metadata.uid" : "UID").at_byte(start));
}

// {"node-a": {"Pods": [...], "NumPDBViolations": 0}, ...}
bool read_candidates(Cursor& cursor, std::vector<PreemptionCandidate>& out, bool whole_pods) {
  std::set<std::string, std::less<>> nodes;
  return cursor.members([&](std::string_view node) {
    const std::size_t at = cursor.offset();
    if (!nodes.emplace(node).second) return cursor.fail("must not be given twice", at);
    if (out.size() == kMaxCandidates) return cursor.fail(too_many_nodes().at_byte(at));
    PreemptionCandidate& candidate = out.emplace_back();
    candidate.node.assign(node);
    const auto victim = [&](std::size_t) {
      return read_victim(cursor, candidate.victims.emplace_back(), whole_pods);
    };
    return cursor.object_any_case(field("Pods", [&] { return cursor.items(victim); }),
                                  field("NumPDBViolations", candidate.pdb_violations));
  });
}

}  // namespace

Result<ExtenderPreemptionArgs> read_preemption_args(std::string_view body) {
  Cursor cursor(body);
  ExtenderPreemptionArgs args;
  std::vector<PreemptionCandidate> by_uid;
  bool pod_given = false;
  const auto pod = [&] {
    pod_given = cursor.peek() == '{';
    return read(cursor, args.pod);
  };
  const auto victims = [&] {
    args.whole_pods = cursor.peek() != 'n';
    return read_candidates(cursor, args.candidates, true);
  };
  const auto meta_victims = [&] { return read_candidates(cursor, by_uid, false); };
  if (!cursor.document<KeyCase::kAny>(field("Pod", pod), field("NodeNameToVictims", victims),
                                      field("NodeNameToMetaVictims", meta_victims))) {
    return cursor.take_error();
  }
  if (!pod_given) return Error::invalid("must be a Pod").at_field("Pod");
  if (!args.whole_pods) args.candidates = std::move(by_uid);
  return args;
}

}  // namespace rankward::formats
