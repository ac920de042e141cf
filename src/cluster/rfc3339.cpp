#include "rfc3339.hpp"

namespace rankward::cluster {
namespace {

// Reads from the front of a text; a failure sticks.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_.empty() || text_.front() < '0' || text_.front() > '9') {
        failed_ = true;
        return 0;
      }
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  // Takes one of the characters and returns it; 0 and failure where none of them is next.
  char one_of(std::string_view accepted) {
    if (text_.empty() || accepted.find(text_.front()) == std::string_view::npos) {
      failed_ = true;
      return 0;
    }
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
  }
  std::chrono::nanoseconds fraction() {
    if (text_.empty() || text_.front() != '.') return {};
    text_.remove_prefix(1);
    std::int64_t value = digits(1);
    std::int64_t scale = 100'000'000;
    value *= scale;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      scale /= 10;
      value += scale * digits(1);
    }
    return std::chrono::nanoseconds(value);
  }
  [[nodiscard]] bool done() const { return !failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  Reader in(text);
  const year y(in.digits(4));
  in.one_of("-");
  const month m(static_cast<unsigned>(in.digits(2)));
  in.one_of("-");
  const day d(static_cast<unsigned>(in.digits(2)));
  in.one_of("Tt");
  const int hour = in.digits(2);
  in.one_of(":");
  const int minute = in.digits(2);
  in.one_of(":");
  const int second = in.digits(2);
  const auto fraction = in.fraction();
  minutes offset{0};
  if (const char zone = in.one_of("Zz+-"); zone == '+' || zone == '-') {
    const int zone_hours = in.digits(2);
    in.one_of(":");
    const int zone_minutes = in.digits(2);
    if (zone_hours > 23 || zone_minutes > 59) return std::nullopt;
    offset = hours(zone_hours) + minutes(zone_minutes);
    if (zone == '-') offset = -offset;
  }
  const year_month_day date(y, m, d);
  // 60 is a leap second; it counts as the next minute's first.
  if (!in.done() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  // system_clock's nanoseconds reach from 1678 to 2262.
  if (y < year(1678) || y > year(2261)) return std::nullopt;
  return sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - offset +
         duration_cast<system_clock::duration>(fraction);
}

}  // namespace rankward::cluster
