// Lines, words and fields of the matrix that nvidia-smi prints for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankward::formats {

// Without the escape sequences of a terminal (CSI): nvidia-smi underlines the header.
std::string without_escapes(std::string_view text);

std::string_view trimmed(std::string_view text);

// Takes the next word off; "" at the end of the line.
std::string_view take_word(std::string_view& line);

// Takes the next line off, without its end.
std::string_view take_line(std::string_view& text);

// A word of the input for a message: cut, and without what a terminal might obey.
std::string quoted(std::string_view word);

struct AffinityFields {
  std::vector<std::string_view> fields;
  bool in_place = false;  // an empty field is there too
};

// What stands right of the paths. Tabs keep empty fields (on Grace CPU Affinity may be empty);
// blanks do not, so that there a row with fewer fields than titles does not say whose they are.
AffinityFields affinity_fields(std::string_view line);

}  // namespace rankward::formats
