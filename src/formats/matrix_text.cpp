#include "matrix_text.hpp"

#include <algorithm>

namespace rankward::formats {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && text[i] >= ' ' && text[i] < '@')
        ++i;
      if (i == text.size() || text[i] < '@') --i;  // cut short: it ends before what does not fit
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kShown = 24;
  std::string out = "\"";
  for (const char c : word.substr(0, kShown))
    out += c > ' ' && c < '\x7f' ? c : '?';
  return out + (word.size() > kShown ? "...\"" : "\"");
}

AffinityFields affinity_fields(std::string_view line) {
  AffinityFields out;
  const auto first = line.find_first_not_of(' ');
  if (first != std::string_view::npos && line[first] == '\t') {
    out.in_place = true;
    std::string_view rest = line.substr(first + 1);
    while (!trimmed(rest).empty()) {
      const std::string_view field = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(field.size() + 1, rest.size()));
      out.fields.push_back(trimmed(field));
      out.in_place = out.in_place && out.fields.back().find(' ') == std::string_view::npos;
    }
    // nvidia-smi puts two tabs before GPU NUMA ID.
    if (out.fields.size() == 4 && out.fields[2].empty()) out.fields.erase(out.fields.begin() + 2);
    if (out.in_place) return out;
    out.fields.clear();
  }
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
    out.fields.push_back(word);
  return out;
}

}  // namespace rankward::formats
