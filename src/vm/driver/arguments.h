// A kernel's arguments, however the caller handed them over: an array of pointers, or `extra`, one
// packed buffer.
#pragma once

#include <vector>

#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

class Arguments {
 public:
  cudaError_t read(const void* function, void** params, void** extra);
  void** pointers() { return pointers_; }

 private:
  void** pointers_ = nullptr;
  std::vector<void*> into_buffer_;
};

}  // namespace ridge::vm::driver
