// setmaxnreg: with how many registers per thread a kernel starts that changes their number, found
// out as ptxas does it.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "vm/decode/kernel_info.h"
#include "vm/parse/module.h"

namespace ridge::vm {

class RegisterUse {
 public:
  static constexpr uint32_t kLeast = 24, kMost = 256, kStep = 8;
  static bool is_count(uint64_t count) {
    return count >= kLeast && count <= kMost && count % kStep == 0;
  }

  void add(const Instruction& instruction);
  void add(const RegisterUse& other);
  // 0: setmaxnreg is not used, or has no effect. The error is that of a .dec to more registers than
  // the kernel ever has.
  Expected<uint32_t> at_entry(const KernelInfo& info, const Module& module) const;

 private:
  bool used_ = false;
  uint64_t least_inc_ = kMost, most_inc_ = 0;
  const Instruction* largest_dec_ = nullptr;
};

}  // namespace ridge::vm
