// ridge completion bash|zsh|fish: a script that teaches the shell Ridge's verbs and flags, made of
// what every verb says about itself. Names of operators are asked for when they are needed.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "describe.h"
#include "flags.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

using nlohmann::json;
using Verbs = std::vector<json>;

std::string text(const json& object, const char* key) { return object[key].get<std::string>(); }

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string words(const json& list) {
  return fmt::format("{}", fmt::join(list.get<std::vector<std::string>>(), " "));
}

bool takes_operator(const json& verb) {
  for (const auto& argument : verb["arguments"])
    if (text(argument, "name") == "OPERATOR") return true;
  return false;
}

// What is said of a flag, up to where an explanation begins.
std::string brief_help(const json& flag) {
  const std::string help = text(flag, "help");
  return help.substr(0, help.find_first_of(";\n"));
}

// ---- bash: words only, in one function; where it has no answer, files are offered ----

std::string bash(const Verbs& verbs) {
  std::string names, flags, values;
  for (const json& verb : verbs) {
    const std::string name = text(verb, "verb");
    names += name + " ";
    std::string of_verb;
    for (const auto& flag : verb["flags"]) {
      of_verb += words(flag["names"]) + " ";
      if (text(flag, "kind").empty()) continue;
      for (const auto& spelling : flag["names"])
        values += fmt::format("    {}:{}) words=\"{}\" ;;\n", name, spelling.get<std::string>(),
                              flag.contains("choices") ? words(flag["choices"]) : "");
    }
    flags += fmt::format("      {}) words=\"{}\" ;;\n", name, of_verb);
    if (takes_operator(verb))
      values += fmt::format("    {}:*) words=$(\"$ridge\" list --names 2>/dev/null) ;;\n", name);
    for (const auto& argument : verb["arguments"])
      if (argument.contains("choices"))
        values += fmt::format("    {}:*) words=\"{}\" ;;\n", name, words(argument["choices"]));
  }
  std::string script = R"bash(# bash completion for ridge.
_ridge() {
  local ridge=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} words="" i
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = -- ]; then return; fi  # the program's own arguments
  done
  if [ "$COMP_CWORD" = 1 ]; then
    words="@names@help"
  elif [[ $word == -* ]]; then
    case $verb in
@flags@    esac
  else
    case $verb:$previous in
@values@    help:*) words="@names@" ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _ridge ridge
)bash";
  script = replace_all(script, "@names@", names);
  script = replace_all(script, "@flags@", flags);
  return replace_all(script, "@values@", values);
}

// ---- zsh ----

std::string zsh_quoted(const std::string& text) { return replace_all(text, "'", "'\\''"); }

std::string zsh_help(const json& flag) {
  std::string help = brief_help(flag);
  for (const char* special : {"\\", "[", "]", ":"})
    help = replace_all(help, special, std::string("\\") + special);
  return zsh_quoted(help);
}

std::string zsh_flag(const json& flag) {
  std::string specs;
  for (const auto& name : flag["names"]) {
    specs += fmt::format(" \\\n        '{}[{}]", name.get<std::string>(), zsh_help(flag));
    if (const std::string kind = text(flag, "kind"); !kind.empty())
      specs += fmt::format(
          ":{}:{}", kind, flag.contains("choices") ? "(" + words(flag["choices"]) + ")" : "_files");
    specs += "'";
  }
  return specs;
}

std::string zsh(const Verbs& verbs) {
  std::string names, cases;
  for (const json& verb : verbs) {
    names += fmt::format("    '{}:{}'\n", text(verb, "verb"), zsh_quoted(text(verb, "brief")));
    cases += fmt::format("      {}) _arguments", text(verb, "verb"));
    for (const auto& flag : verb["flags"]) cases += zsh_flag(flag);
    for (const auto& argument : verb["arguments"])
      cases += fmt::format(" \\\n        '*:{}:{}'", text(argument, "name"),
                           takes_operator(verb)           ? "_ridge_operators"
                           : argument.contains("choices") ? "(" + words(argument["choices"]) + ")"
                                                          : "_files");
    cases += " ;;\n";
  }
  const std::string script = R"zsh(#compdef ridge
# zsh completion for ridge.
_ridge_operators() {
  compadd -- ${(f)"$($ridge list --names 2>/dev/null)"}
}

_ridge() {
  local ridge=$words[1]
  local -a verbs=(
@names@  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@cases@      *) _files ;;
  esac
}

if [[ $funcstack[1] == _ridge ]]; then _ridge "$@"; else compdef _ridge ridge; fi
)zsh";
  return replace_all(replace_all(script, "@names@", names), "@cases@", cases);
}

// ---- fish ----

std::string fish_quoted(std::string text) {
  return "'" + replace_all(replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish(const Verbs& verbs) {
  std::string script =
      "# fish completion for ridge.\n"
      "function __ridge_operators\n"
      "    set -l words (commandline -opc)\n"
      "    $words[1] list --names 2>/dev/null\n"
      "end\n";
  for (const json& verb : verbs)
    script += fmt::format("complete -c ridge -n __fish_use_subcommand -f -a {} -d {}\n",
                          text(verb, "verb"), fish_quoted(text(verb, "brief")));
  for (const json& verb : verbs) {
    const std::string line =
        fmt::format("complete -c ridge -n '__fish_seen_subcommand_from {}'", text(verb, "verb"));
    for (const auto& flag : verb["flags"]) {
      script += line;
      for (const auto& name : flag["names"]) {
        const std::string spelling = name;
        script +=
            spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
      }
      if (!text(flag, "kind").empty()) script += " -r";
      if (flag.contains("choices")) script += fmt::format(" -f -a '{}'", words(flag["choices"]));
      script += fmt::format(" -d {}\n", fish_quoted(brief_help(flag)));
    }
    if (takes_operator(verb)) script += line + " -f -a '(__ridge_operators)'\n";
    for (const auto& argument : verb["arguments"])
      if (argument.contains("choices"))
        script += fmt::format("{} -f -a '{}'\n", line, words(argument["choices"]));
  }
  return script;
}

int completion_main(const Arguments& arguments) {
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  std::string shell;
  CommandLine line("completion", "Prints a script that completes Ridge's verbs and flags.");
  line.add_argument("SHELL", shell, "bash, zsh or fish", shells);
  line.add_footer(
      "bash: ridge completion bash > ~/.local/share/bash-completion/completions/ridge\n"
      "zsh:  ridge completion zsh > a folder of $fpath/_ridge\n"
      "fish: ridge completion fish > ~/.config/fish/completions/ridge.fish");
  if (const auto done = line.parse(arguments)) return *done;
  if (shell.empty()) {
    complain("completion for which shell? usage: ridge completion bash|zsh|fish");
    return kUsage;
  }
  const auto verbs = describe_verbs();
  if (!verbs) return failed(verbs.error());
  fmt::print("{}", shell == "bash" ? bash(*verbs) : shell == "zsh" ? zsh(*verbs) : fish(*verbs));
  return kFine;
}

}  // namespace

extern const Verb completion_verb = {
    .position = 110,
    .name = "completion",
    .summary = "print a completion script for bash, zsh or fish",
    .main = completion_main,
};

}  // namespace ridge::tools
