// What a verb is, and the exit codes all verbs share.
#pragma once

#include <string>
#include <vector>

namespace ridge::tools {

enum Exit : int {
  kFine = 0,
  kWrongResult = 1,
  kUsage = 2,
  kDoesNotCompile = 3,
  kCudaError = 4,
  kHazard = 5,
  kTimeout = 6,
  kMissing = 8,  // something this machine lacks
  kImplausible = 9,
  kInterrupted = 130,  // by Ctrl-C, as shells have it
};

struct ExitCode {
  Exit code;
  const char* meaning;
};
inline constexpr ExitCode kExitCodes[] = {
    {kFine, "fine"},
    {kWrongResult, "wrong result"},
    {kUsage, "usage"},
    {kDoesNotCompile, "does not compile"},
    {kCudaError, "CUDA error"},
    {kHazard, "hazard found"},
    {kTimeout, "timeout"},
    {kMissing, "something is missing on this machine"},
    {kImplausible, "implausible measurement"},
};

using Arguments = std::vector<std::string>;  // those after the verb

// One file in verbs/ defines one of these: verbs/run.cpp has `extern const Verb run_verb`.
struct Verb {
  int position;  // in `ridge help`: the smallest stands first
  const char* name;
  const char* summary;  // one line for `ridge help`
  int (*main)(const Arguments& arguments);
};

// In the order of their positions. CMake makes the list from the names of the files in verbs/.
std::vector<const Verb*> all_verbs();

}  // namespace ridge::tools
