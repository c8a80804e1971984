// What a launcher above the driver knows of a launch: how its kernel is called there, and the
// tensors behind its arguments. Python's does (../driver/python).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ridge::vm {

struct LaunchNotes {
  std::string title;  // "matmul_kernel[BLOCK_M=64]"; empty: the kernel's own name
  struct Tensor {
    uint32_t param = 0;  // of the kernel: which points to it
    uint64_t address = 0, bytes = 0;
    std::string name;  // "x: float32[128, 64]"
    uint64_t end() const { return address + bytes; }
  };
  std::vector<Tensor> tensors;
};
using LaunchNotesRef = std::shared_ptr<const LaunchNotes>;

}  // namespace ridge::vm
