// CSV with a heading and plain cells, as public traces come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::sim {

// Views into the text that was given.
class CsvTable {
 public:
  // kInvalid where a column of `required` is missing, a row has another number of cells than the
  // heading, or a cell is quoted.
  [[nodiscard]] static Result<CsvTable> read(std::string_view text, std::string_view source_name,
                                             const std::vector<std::string_view>& required);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // "" where there is no such column.
  [[nodiscard]] std::string_view cell(std::size_t row, std::string_view column) const;
  // From `least` to `most`; an absent column or an empty cell gives `otherwise`. Decimals are cut.
  [[nodiscard]] Result<std::int64_t> integer(std::size_t row, std::string_view column,
                                             std::int64_t least, std::int64_t most,
                                             std::int64_t otherwise) const;
  [[nodiscard]] Result<double> number(std::size_t row, std::string_view column, double most,
                                      double otherwise) const;
  // An error about a cell, with file and line.
  [[nodiscard]] Error error(std::size_t row, std::string_view column, std::string message) const;

 private:
  std::string source_;
  std::vector<std::string_view> columns_;
  std::vector<std::vector<std::string_view>> rows_;
  std::vector<std::size_t> lines_;  // of each row, from 1
};

}  // namespace rankward::sim
