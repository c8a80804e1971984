// What `ridge run` tells this library. The environment is the private wire between the two, not an
// interface: users say `ridge run --gpu a100 --timeout 10`, and only config.cpp reads a variable.
#pragma once

#include <string>

#include "core/gpu_spec.h"

namespace ridge::vm::cudart {

struct Config {
  GpuSpec gpu;
  unsigned threads = 0;        // RIDGE_THREADS; 0: one per core
  double timeout_seconds = 0;  // RIDGE_TIMEOUT; 0: none
  bool progress = false;       // RIDGE_PROGRESS=1
  bool strict = false;         // RIDGE_STRICT=1: faults where a GPU lets an access pass
  bool open_memory = false;    // RIDGE_OPEN_MEMORY=1: the host may touch the device's memory
  bool count = false;          // RIDGE_COUNT=1 or a path
  std::string count_file;      // RIDGE_COUNT=path: the totals as JSON
  std::string trace_file;      // RIDGE_TRACE=path: a timeline, see trace.h
};

const Config& config();  // read once, on first use

}  // namespace ridge::vm::cudart
