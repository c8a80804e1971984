// Triton's kernel beside our rungs: a program of examples/triton, at the size of a climb
// (examples/triton/beside.json says which).
#pragma once

#include <string>

#include "climb_record.h"
#include "target.h"

namespace ridge::tools {

class TritonBeside {
 public:
  TritonBeside(const Target& target, std::string python);
  // Adds its check at the size that the rungs were verified at, and its time, to a climb.
  // An error says why there is no such kernel, or why it did not run.
  Status add_to(Climb& climb);

 private:
  Expected<std::string> run_program(const std::string& program, const Arguments& arguments);
  const Target& target_;
  const std::string python_;
};

}  // namespace ridge::tools
