#include "completion.hpp"

#include <vector>

namespace rankward::cli {
namespace {

struct Subcommand {
  std::string name;
  std::string description;
  struct Flag {
    std::string name;  // "--nodes"
    std::string description;
  };
  std::vector<Flag> flags;
};

std::vector<Subcommand> subcommands_of(const CLI::App& app) {
  std::vector<Subcommand> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    Subcommand subcommand{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        subcommand.flags.push_back({"--" + name, option->get_description()});
      }
    }
    out.push_back(std::move(subcommand));
  }
  return out;
}

std::string joined_names(const std::vector<Subcommand>& commands) {
  std::string out;
  for (const Subcommand& command : commands)
    out += (out.empty() ? "" : " ") + command.name;
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

std::string bash(const std::vector<Subcommand>& commands) {
  std::string out =
      "_rankward() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const Subcommand& command : commands) {
    out += "    " + command.name + ") words=\"";
    for (const auto& flag : command.flags)
      out += flag.name + " ";
    if (command.name == "completion") out += "bash zsh fish";
    out += "\" ;;\n";
  }
  out += "  esac\n  [ \"$COMP_CWORD\" -eq 1 ] && words=\"" + joined_names(commands) +
         "\"\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _rankward rankward\n";
  return out;
}

std::string zsh(const std::vector<Subcommand>& commands) {
  std::string out = "#compdef rankward\n_rankward() {\n  local -a commands flags\n  commands=(\n";
  for (const Subcommand& command : commands) {
    out += "    " + shell_quoted(command.name + ":" + command.description) + "\n";
  }
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  case $words[2] in\n";
  for (const Subcommand& command : commands) {
    out += "    " + command.name + ") flags=(";
    for (const auto& flag : command.flags)
      out += flag.name + " ";
    if (command.name == "completion") out += "bash zsh fish";
    out += ") ;;\n";
  }
  out +=
      "  esac\n"
      "  if [[ $words[CURRENT] == -* || $words[2] == completion ]]; then compadd -- $flags; else "
      "_files; fi\n"
      "}\n"
      "compdef _rankward rankward\n";
  return out;
}

std::string fish(const std::vector<Subcommand>& commands) {
  std::string out = "complete -c rankward -f -n __fish_use_subcommand\n";
  for (const Subcommand& command : commands) {
    out += "complete -c rankward -f -n __fish_use_subcommand -a " + command.name + " -d " +
           shell_quoted(command.description) + "\n";
    for (const auto& flag : command.flags) {
      out += "complete -c rankward -n '__fish_seen_subcommand_from " + command.name + "' -l " +
             flag.name.substr(2) + " -d " + shell_quoted(flag.description) + "\n";
    }
    if (command.name == "completion") {
      out +=
          "complete -c rankward -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh "
          "fish'\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, std::string_view shell) {
  const std::vector<Subcommand> commands = subcommands_of(app);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  return fish(commands);
}

}  // namespace rankward::cli
