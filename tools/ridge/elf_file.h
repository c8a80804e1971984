// What `ridge run PROGRAM` has to know about a program before it starts it, read from its ELF file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/status.h"

namespace ridge::tools {

struct ElfFacts {
  bool x86_64 = false;
  bool dynamic = false;             // has a dynamic section: shared libraries are loaded
  bool fat_binary = false;          // a .nv_fatbin section: nvcc linked it
  bool kernels = false;             // a __nv_module_id section: some of its units have device code
  std::vector<std::string> needed;  // "libcudart.so.13", …
  std::string rpath, runpath;       // folders with colons between them
};

// Every offset in the file is checked: a truncated or hostile file gives an error, never a bad
// read.
Expected<ElfFacts> read_elf(std::span<const uint8_t> file);
Expected<ElfFacts> read_elf(const std::filesystem::path& path);

// What a program will load, as far as the CUDA runtime is concerned.
struct CudaUse {
  ElfFacts program;
  std::string runtime;  // the libcudart it needs, itself or through a library; empty: none
};
Expected<CudaUse> inspect_program(const std::filesystem::path& path);

}  // namespace ridge::tools
