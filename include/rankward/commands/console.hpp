// Where a subcommand writes, and how a person would like to read it.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace rankward::commands {

enum class Colour : unsigned char { kNone, kGreen, kYellow, kRed, kBold, kFaint };

struct Console {
  std::ostream& out;
  std::ostream& err;
  bool colours = false;  // only where out is a terminal and NO_COLOR is not set

  // The text in that colour, or as it is where there are none.
  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;
};

// Columns as kubectl prints them: upper-case headings, three blanks between, no lines.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  struct Cell {
    std::string text;
    Colour colour = Colour::kNone;
  };
  // As many cells as headings; fewer leave the last ones empty.
  void add(std::vector<Cell> cells);
  void print(const Console& console, std::string_view indent = "") const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
};

// "13.4 ms", "870 us", "0"; for people, three digits.
[[nodiscard]] std::string format_seconds(double seconds);
// "400 GB/s"; "-" where nothing is sent.
[[nodiscard]] std::string format_bandwidth(double gigabytes_per_second);

}  // namespace rankward::commands
