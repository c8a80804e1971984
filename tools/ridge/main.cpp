// ridge: picks the verb and hands over the rest of the command line.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "suggest.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

int test_verb(const Arguments&) {
  complain("`test` builds first, so it belongs to the script: ./ridge test");
  return kUsage;
}

constexpr Verb kVerbs[] = {
    {"run", "compile and run a .cu file, or run a built program", run_verb},
    {"profile", "what each source line costs, why, and the fix", profile_verb},
    {"check", "find races, uninitialised reads and other hazards of a program", check_verb},
    {"climb", "climb a ladder of kernels, or a tour of all families", climb_verb},
    {"list", "the operators there are, their formats and rungs", list_verb},
    {"explain", "which rung the library takes for a shape, and why", explain_verb},
    {"compare", "two records of climbs: faster, slower, same, can't tell", compare_verb},
    {"device", "what this device is, and how much fits on one of its SMs", device_verb},
    {"formats", "number formats; how a number rounds, what bits mean", formats_verb},
    {"test", "build and run every test (./ridge test)", test_verb},
};

void print_help() {
  fmt::print(
      "Ridge: GPU kernels from the first thread to the roofline, on any machine.\n\n"
      "usage: ridge VERB [flags]\n\n");
  for (const Verb& verb : kVerbs) fmt::print("  {:<8} {}\n", verb.name, verb.summary);
  fmt::print(
      "\n`ridge VERB --help` lists the flags of a verb. Exit codes: 0 fine, 1 wrong result, 2 "
      "usage,\n"
      "3 does not compile, 4 CUDA error, 5 hazard found, 6 timeout, 8 something is missing on this "
      "machine,\n"
      "9 implausible measurement;\n"
      "`run` returns the program's own.\n");
}

int refuse(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  complain(fmt::format("there is no verb '{}'{} `ridge help` lists them.", word,
                       did_you_mean(word, names)));
  return kUsage;
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
  for (const Verb& verb : kVerbs)
    if (arguments.front() == verb.name) return verb.main({arguments.begin() + 1, arguments.end()});
  return refuse(arguments.front());
}

}  // namespace
}  // namespace ridge::tools

int main(int argc, char** argv) { return ridge::tools::dispatch({argv + 1, argv + argc}); }
