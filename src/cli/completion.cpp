#include "completion.hpp"

#include <vector>

namespace rankward::cli {
namespace {

struct Flag {
  std::string name;        // "--nodes"
  std::string short_name;  // "-n", or ""
  std::string description;
  std::vector<std::string> words;  // that it takes; empty: anything, such as a file
};

struct Command {
  std::string path;  // "gates lift"
  std::string description;
  std::vector<std::string> words;  // subcommands, or what its argument may be
  std::vector<Flag> flags;
};

// CLI11 shows the words of IsMember as `TEXT:{a,b}`.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.rfind('}');
  std::vector<std::string> out;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return out;
  std::string word;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ",") {
    if (c != ',') {
      word += c;
    } else {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  return out;
}

// Commands before those that they have.
void add_commands(const CLI::App& app, const std::string& above, std::vector<Command>& out) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    Command command;
    command.path = above + (above.empty() ? "" : " ") + sub->get_name();
    command.description = sub->get_description();
    for (const CLI::App* below : sub->get_subcommands([](const CLI::App*) { return true; }))
      command.words.push_back(below->get_name());
    for (const CLI::Option* option : sub->get_options()) {
      std::vector<std::string> words = words_of(*option);
      if (option->get_positional()) command.words = words;
      const auto& short_names = option->get_snames();
      for (const std::string& name : option->get_lnames()) {
        command.flags.push_back({"--" + name, short_names.empty() ? "" : "-" + short_names.front(),
                                 option->get_description(), words});
      }
    }
    const std::string path = command.path;
    out.push_back(std::move(command));
    add_commands(*sub, path, out);
  }
}

bool has_subcommands(const std::vector<Command>& commands, const Command& command) {
  for (const Command& other : commands)
    if (other.path.rfind(command.path + " ", 0) == 0) return true;
  return false;
}

bool is_below(const Command& command) {
  return command.path.find(' ') != std::string::npos;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string flag_names(const Command& command) {
  std::string out;
  for (const Flag& flag : command.flags)
    out += (out.empty() ? "" : " ") + flag.name;
  return out;
}

std::string outermost(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands)
    if (!is_below(command)) out += (out.empty() ? "" : " ") + command.path;
  return out;
}

// "gates|generate": after these the next word is part of the command.
std::string with_subcommands(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands)
    if (has_subcommands(commands, command)) out += (out.empty() ? "" : "|") + command.path;
  return out;
}

// For single quotes in a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// The words that an option takes, by the word before the cursor.
std::string cases_of_values(const Command& command, const std::string& before,
                            const std::string& after) {
  std::string out;
  for (const Flag& flag : command.flags) {
    if (flag.words.empty()) continue;
    out += "        " + flag.name + (flag.short_name.empty() ? "" : "|" + flag.short_name) + ") " +
           before + joined(flag.words) + after + " ;;\n";
  }
  return out;
}

std::string bash(const std::vector<Command>& commands) {
  std::string out =
      "_rankward() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} words=\"\"\n"
      "  case $command in " +
      with_subcommands(commands) +
      ")\n"
      "    [ \"$COMP_CWORD\" -gt 2 ] && command=\"$command ${COMP_WORDS[2]}\" ;;\n"
      "  esac\n"
      "  case $command in\n";
  for (const Command& command : commands) {
    std::string words = joined(command.words);
    if (!has_subcommands(commands, command)) {
      words += (words.empty() ? "" : " ") + flag_names(command);
    }
    out += "    \"" + command.path + "\")\n      words=\"" + words + "\"\n";
    const std::string values = cases_of_values(command, "words=\"", "\"");
    if (!values.empty()) out += "      case $previous in\n" + values + "      esac\n";
    out += "      ;;\n";
  }
  out += "  esac\n  [ \"$COMP_CWORD\" -eq 1 ] && words=\"" + outermost(commands) +
         "\"\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _rankward rankward\n";
  return out;
}

std::string zsh(const std::vector<Command>& commands) {
  std::string out =
      "#compdef rankward\n_rankward() {\n  local -a commands flags\n  local command values=\"\"\n"
      "  commands=(\n";
  for (const Command& command : commands) {
    if (is_below(command)) continue;
    out += "    " + shell_quoted(command.path + ":" + command.description) + "\n";
  }
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  command=$words[2]\n"
      "  case $command in " +
      with_subcommands(commands) +
      ") (( CURRENT > 3 )) && command=\"$command $words[3]\" ;; esac\n"
      "  case $command in\n";
  for (const Command& command : commands) {
    out += "    \"" + command.path + "\")\n      flags=(" + flag_names(command) + ")\n";
    if (!command.words.empty()) out += "      values=\"" + joined(command.words) + "\"\n";
    const std::string values = cases_of_values(command, "values=\"", "\"");
    if (!values.empty()) out += "      case $words[CURRENT-1] in\n" + values + "      esac\n";
    out += "      ;;\n";
  }
  out +=
      "  esac\n"
      "  if [[ $words[CURRENT] == -* ]]; then compadd -- $flags\n"
      "  elif [[ -n $values ]]; then compadd -- ${=values}\n"
      "  else _files; fi\n"
      "}\n"
      "compdef _rankward rankward\n";
  return out;
}

// Where the command has been typed.
std::string fish_condition(const Command& command) {
  const std::size_t blank = command.path.find(' ');
  if (blank == std::string::npos) return "__fish_seen_subcommand_from " + command.path;
  return "__fish_seen_subcommand_from " + command.path.substr(0, blank) +
         "; and __fish_seen_subcommand_from " + command.path.substr(blank + 1);
}

std::string fish(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands) {
    const std::string when = " -n " + shell_quoted(fish_condition(command));
    const std::string described = " -d " + shell_quoted(command.description) + "\n";
    if (const std::size_t blank = command.path.find(' '); blank != std::string::npos) {
      out += "complete -c rankward -f -n '__fish_seen_subcommand_from " +
             command.path.substr(0, blank) + "' -a " + command.path.substr(blank + 1) + described;
    } else {
      out += "complete -c rankward -f -n __fish_use_subcommand -a " + command.path + described;
    }
    for (const Flag& flag : command.flags) {
      out += "complete -c rankward" + when + " -l " + flag.name.substr(2);
      if (!flag.short_name.empty()) out += " -s " + flag.short_name.substr(1);
      if (!flag.words.empty()) out += " -x -a " + shell_quoted(joined(flag.words));
      out += " -d " + shell_quoted(flag.description) + "\n";
    }
    if (!command.words.empty() && !has_subcommands(commands, command)) {
      out += "complete -c rankward -f" + when + " -a " + shell_quoted(joined(command.words)) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, std::string_view shell) {
  std::vector<Command> commands;
  add_commands(app, "", commands);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  return fish(commands);
}

}  // namespace rankward::cli
