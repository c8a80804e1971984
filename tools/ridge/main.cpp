// ridge: picks the verb and hands over the rest of the command line.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "ending.h"
#include "suggest.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {

extern const Verb run_verb;

namespace {

void print_help() {
  fmt::print(
      "Ridge: GPU kernels from the first thread to the roofline, on any machine.\n\n"
      "usage: ridge VERB [flags]\n"
      "       ridge FILE.cu [flags] [-- arguments]   as ridge run FILE.cu\n\n");
  std::vector<std::vector<std::string>> verbs;
  for (const Verb* verb : all_verbs()) verbs.push_back({verb->name, verb->summary});
  fmt::print("{}", table(verbs, {Align::left, Align::left}, "  "));
  std::vector<std::vector<std::string>> codes;
  for (const ExitCode& exit : kExitCodes) {
    if (codes.empty() || codes.back().size() == 3) codes.emplace_back();
    codes.back().push_back(fmt::format("{} {}", int(exit.code), exit.meaning));
  }
  fmt::print(
      "\n`ridge VERB --help` lists the flags of a verb. Exit codes (`run` returns the "
      "program's own):\n\n{}",
      table(codes, {Align::left, Align::left, Align::left}, "  "));
}

int refuse(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb* verb : all_verbs()) names.emplace_back(verb->name);
  complain(fmt::format("there is no verb '{}'{} `ridge help` lists them.", word,
                       did_you_mean(word, names)));
  return kUsage;
}

// `ridge FILE.cu` means `ridge run FILE.cu`, and so does any other file that is there.
bool names_program(const std::string& word) {
  std::error_code error;
  return word.ends_with(".cu") || std::filesystem::is_regular_file(word, error);
}

int dispatch(Arguments arguments) {
  const std::string word = arguments.empty() ? "help" : arguments.front();
  if (word == "--version") {
    fmt::print("ridge {}\n", RIDGE_VERSION);
    return kFine;
  }
  if (word == "help" && arguments.size() > 1) {  // help VERB is VERB --help
    arguments = {arguments[1], "--help"};
  } else if (word == "help" || word == "--help" || word == "-h") {
    print_help();
    return kFine;
  }
  for (const Verb* verb : all_verbs())
    if (arguments.front() == verb->name)
      return verb->main({arguments.begin() + 1, arguments.end()});
  if (names_program(arguments.front())) return run_verb.main(arguments);
  return refuse(arguments.front());
}

}  // namespace
}  // namespace ridge::tools

// A disk that is full, or a closed pipe, is no reason to abort.
int main(int argc, char** argv) {
  ridge::tools::listen_for_signals();
  int code = ridge::tools::kMissing;
  int error = 0;
  try {
    code = ridge::tools::dispatch({argv + 1, argv + argc});
  } catch (const std::system_error& failure) {  // of fmt::print, or of a file
    if (!std::ferror(stdout)) {
      ridge::tools::complain(failure.what());
      return code;
    }
    error = failure.code().value();
  }
  if (std::fflush(stdout) != 0 && error == 0) error = errno;
  if (error == 0) return code;
  ridge::tools::complain(fmt::format("cannot write to stdout: {}", std::strerror(error)));
  return ridge::tools::kMissing;
}
