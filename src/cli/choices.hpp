// Options that take one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace rankward::cli {

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

// Sets `target` to what stands beside the word. The words are in the help and in completion, the
// first as the default. CLI11's own transformer prints the values of an enum beside them.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& names, T& target,
                        const Choices<T>& choices, const std::string& description) {
  std::vector<std::string> words;
  for (const auto& choice : choices)
    words.push_back(choice.first);
  const auto set = [&target, choices](const std::string& word) {
    const auto found = std::find_if(choices.begin(), choices.end(),
                                    [&](const auto& choice) { return choice.first == word; });
    if (found != choices.end()) target = found->second;
  };
  return app.add_option_function<std::string>(names, set, description)
      ->check(CLI::IsMember(words))
      ->default_str(words.front());
}

}  // namespace rankward::cli
