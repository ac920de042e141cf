#include "rankward/commands/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace rankward::commands {
namespace {

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kFaint:
      return "\x1b[2m";
    case Colour::kNone:
      break;
  }
  return {};
}

// Columns on a terminal: code points, not bytes. Wide characters do not occur in our own texts.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string Console::paint(Colour colour, std::string_view text) const {
  const std::string_view escape = escape_of(colour);
  if (!colours || escape.empty() || text.empty()) return std::string(text);
  return std::string(escape) + std::string(text) + "\x1b[0m";
}

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

void Table::add(std::vector<Cell> cells) {
  cells.resize(headings_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(const Console& console, std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings_)
    widths.push_back(width_of(heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  const auto print_row = [&](const auto& row, const auto& text_of, const auto& colour_of) {
    console.out << indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& text = text_of(row[i]);
      console.out << console.paint(colour_of(row[i]), text);
      if (i + 1 < row.size()) console.out << std::string(widths[i] - width_of(text) + 3, ' ');
    }
    console.out << '\n';
  };
  print_row(
      headings_, [](const std::string& text) -> const std::string& { return text; },
      [](const std::string&) { return Colour::kBold; });
  for (const auto& row : rows_) {
    print_row(
        row, [](const Cell& cell) -> const std::string& { return cell.text; },
        [](const Cell& cell) { return cell.colour; });
  }
}

std::string format_seconds(double seconds) {
  if (!(seconds > 0)) return "0";
  if (!std::isfinite(seconds)) return "never";
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string format_bandwidth(double gigabytes_per_second) {
  if (!std::isfinite(gigabytes_per_second)) return "-";
  return fmt::format("{:.3g} GB/s", gigabytes_per_second);
}

}  // namespace rankward::commands
