// Options of the driver's compiler and linker. PTX is interpreted, so options for machine code are
// checked and ignored; logs and times are filled in.
#pragma once

#include <chrono>
#include <string>

#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

class JitOptions {
 public:
  cudaError_t read(unsigned count, CUjit_option* options, void** values);

  bool wants_errors() const { return errors_.buffer && errors_.capacity; }
  bool verbose() const { return verbose_; }
  bool optimises() const { return optimises_; }  // level 0 folds nothing, which shows in results
  // Into the caller's buffers, with their sizes, and the time since `read`.
  void finish(const std::string& errors, const std::string& info);

 private:
  struct Log {
    char* buffer = nullptr;
    size_t capacity = 0;
    void** size_out = nullptr;
    void write(const std::string& text) const;
  };
  Log errors_, info_;
  void** wall_time_ = nullptr;
  bool verbose_ = false, optimises_ = true;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ridge::vm::driver
