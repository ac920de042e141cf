// Lines out of a stream that is cut anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankward::cluster {

// Lines end with \n. A line that stands whole in one piece is not copied.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  enum class Outcome { kMore, kStopped, kTooLong };

  // Calls `on_line(std::string_view)` for each line that is complete, without its end and without
  // blank lines; false ends it (kStopped). After kStopped or kTooLong only reset() is of use.
  template <class OnLine>
  [[nodiscard]] Outcome feed(std::string_view piece, OnLine&& on_line) {
    while (!piece.empty()) {
      const auto end = piece.find('\n');
      const auto part = piece.substr(0, end);
      if (pending_.size() + part.size() > max_line_bytes_) return Outcome::kTooLong;
      if (end == std::string_view::npos) {
        pending_.append(part);
        return Outcome::kMore;
      }
      piece.remove_prefix(end + 1);
      if (pending_.empty()) {
        if (!is_blank(part) && !on_line(part)) return Outcome::kStopped;
        continue;
      }
      pending_.append(part);
      const bool go_on = is_blank(pending_) || on_line(std::string_view(pending_));
      pending_.clear();
      if (!go_on) return Outcome::kStopped;
    }
    return Outcome::kMore;
  }

  // True between lines: a stream that ends elsewhere was cut.
  [[nodiscard]] bool at_line_start() const { return pending_.empty(); }
  void reset() { pending_.clear(); }

 private:
  static bool is_blank(std::string_view line) { return line.empty() || line == "\r"; }

  std::size_t max_line_bytes_;
  std::string pending_;
};

}  // namespace rankward::cluster
