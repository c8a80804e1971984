// What a verb is, and the exit codes all verbs share.
#pragma once

#include <span>
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
  kTooSlow = 7,
  kMissing = 8,  // something this machine lacks
  kImplausible = 9,
  kInterrupted = 130,  // by Ctrl-C, as shells have it
};

using Arguments = std::vector<std::string>;  // those after the verb

struct Verb {
  const char* name;
  const char* summary;
  int (*main)(const Arguments& arguments);
};

// One function a file, one row each in main.cpp.
int run_verb(const Arguments& arguments);      // run.cpp
int check_verb(const Arguments& arguments);    // check.cpp
int list_verb(const Arguments& arguments);     // list.cpp
int explain_verb(const Arguments& arguments);  // explain.cpp
int compare_verb(const Arguments& arguments);  // compare.cpp
int device_verb(const Arguments& arguments);   // device.cpp
int climb_verb(const Arguments& arguments);    // climb.cpp
int profile_verb(const Arguments& arguments);  // profile.cpp
int formats_verb(const Arguments& arguments);  // formats.cpp

}  // namespace ridge::tools
