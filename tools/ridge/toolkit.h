// The CUDA toolkit on this machine.
#pragma once

#include <filesystem>
#include <string>

#include "core/status.h"

namespace ridge::tools {

struct Toolkit {
  std::filesystem::path nvcc;
  std::string version;            // "13.0.88"
  std::filesystem::path root;     // above bin/, include/, lib/
  std::filesystem::path library;  // the folder of its libcudart.so.13; empty: none there
};

// The first nvcc of CUDA 13 on PATH, in $CUDA_HOME, in /usr/local/cuda, or the one Ridge was built
// with.
Expected<Toolkit> find_toolkit();

// Its disassembler, which a toolkit need not have: on PATH, or beside nvcc; empty: neither.
std::filesystem::path find_nvdisasm(const Toolkit& toolkit);

}  // namespace ridge::tools
