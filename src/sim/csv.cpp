#include "csv.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace rankward::sim {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<CsvTable> CsvTable::read(std::string_view text, std::string_view source_name,
                                const std::vector<std::string_view>& required) {
  CsvTable table;
  table.source_ = source_name;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    if (row.find('"') != std::string_view::npos) {
      return Error::invalid("quoted cells are not read").at_line(line).in(table.source_);
    }
    auto cells = cells_of(row);
    if (table.columns_.empty()) {
      table.columns_ = std::move(cells);
      continue;
    }
    if (cells.size() != table.columns_.size()) {
      return Error::invalid("must have " + std::to_string(table.columns_.size()) +
                            " cells as the heading, not " + std::to_string(cells.size()))
          .at_line(line)
          .in(table.source_);
    }
    table.rows_.push_back(std::move(cells));
    table.lines_.push_back(line);
  }
  for (const std::string_view column : required) {
    if (std::find(table.columns_.begin(), table.columns_.end(), column) == table.columns_.end()) {
      return Error::invalid("must have the column \"" + std::string(column) + "\"")
          .at_line(1)
          .in(table.source_);
    }
  }
  return table;
}

std::string_view CsvTable::cell(std::size_t row, std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return {};
  return rows_[row][static_cast<std::size_t>(found - columns_.begin())];
}

Result<double> CsvTable::number(std::size_t row, std::string_view column, double most,
                                double otherwise) const {
  const std::string_view text = cell(row, column);
  if (text.empty()) return otherwise;
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value);
  if (status != std::errc() || end != last || !(value >= 0 && value <= most)) {
    return error(row, column, "must be a number of 0 or more, not \"" + std::string(text) + "\"");
  }
  return value;
}

Result<std::int64_t> CsvTable::integer(std::size_t row, std::string_view column, std::int64_t least,
                                       std::int64_t most, std::int64_t otherwise) const {
  const auto value = number(row, column, static_cast<double>(most), static_cast<double>(otherwise));
  if (!value) return value.error();
  const auto whole = static_cast<std::int64_t>(*value);
  if (whole < least) {
    return error(row, column, "must be " + std::to_string(least) + " or more");
  }
  return whole;
}

Error CsvTable::error(std::size_t row, std::string_view column, std::string message) const {
  return Error::invalid(std::move(message))
      .at_field(std::string(column))
      .at_line(lines_[row])
      .in(source_);
}

}  // namespace rankward::sim
