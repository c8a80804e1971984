// Runs programs on whatever device the CUDA runtime has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program.h"

namespace ridge::differential {

struct Outcome {
  enum class Kind : uint32_t { not_run, ok, failed, hung };
  Kind kind = Kind::not_run;
  uint32_t hash = 0;  // of the whole buffer
  int32_t error = 0;  // a cudaError_t, where it failed
};

// A module and how its one kernel is launched.
struct Job {
  std::string ptx, kernel;
  uint32_t blocks = 1, threads = 1;
};
Job job(const Program& program, const Mask& mask);

// The optimisation level for all modules loaded from now on; without this, the driver's own.
void compile_at(int level);

// The whole buffer after one launch; empty when something failed, and `error` says what.
std::vector<uint8_t> run(const Job& job, int& error);
uint32_t hash(const std::vector<uint8_t>& bytes);

// Every seed in [first, first + count), in `jobs` processes: a program that breaks its context
// takes only its own with it, and the driver compiles in all of them at once.
std::vector<Outcome> run_all(uint64_t first, size_t count, unsigned jobs);

std::string device_name();

}  // namespace ridge::differential
