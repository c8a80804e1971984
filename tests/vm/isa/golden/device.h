// Runs cases on whatever device the loaded CUDA runtime has.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "case.h"
#include "inputs.h"

namespace ridge::golden {

struct Result {
  enum class Kind { ok, refused, failed };
  Kind kind = Kind::failed;
  std::string message;  // refused, failed: what the runtime said
  int threads = 0;
  std::vector<uint64_t> inputs;  // (inputs, threads)
  std::vector<uint64_t> words;   // (outputs, threads), all lanes at once
  bool split_differs = false;    // run in two halves, a lane gave something else
};

std::string device_name();

// Calls done(i, result) for every case, from several threads at once but never two at a time. A
// module that does not load is halved until the refused kernels stand alone.
void run_cases(const std::vector<Case>& cases, int jobs,
               const std::function<void(size_t, const Result&)>& done);

}  // namespace ridge::golden
