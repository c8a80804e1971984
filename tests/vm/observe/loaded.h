// PTX of one kernel, loaded and decoded for an H200.
#pragma once

#include <string>

#include "vm/decode/program.h"
#include "vm/exec/engine.h"

namespace ridge::vm::observe {

class Loaded {
 public:
  explicit Loaded(const std::string& ptx) : engine_({.gpu = *find_gpu("h200")}) {
    const auto program = engine_.load(ptx, "test.ptx");
    if (!program) {
      error = program.error().message;
      return;
    }
    Kernel* const kernel = engine_.kernels(*program).at(0);
    if (const auto usage = engine_.usage(kernel); !usage) error = usage.error().message;
    else code = kernel->code->code;
  }

 private:
  Engine engine_;

 public:
  const Code* code = nullptr;
  std::string error;  // why there is no code
};

}  // namespace ridge::vm::observe
