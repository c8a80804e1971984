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
  bool static_runtime = false;      // the CUDA runtime is linked into it
  std::vector<std::string> closed;  // names of closed libraries linked into it, as far as its
                                    // symbols tell: "cuBLAS"
};

// Every offset in the file is checked: a truncated or hostile file gives an error, never a bad
// read.
Expected<ElfFacts> read_elf(std::span<const uint8_t> file);
Expected<ElfFacts> read_elf(const std::filesystem::path& path);

// What a program will load, as far as CUDA is concerned: itself, or through libraries.
struct CudaUse {
  ElfFacts program;
  std::string runtime;                      // the libcudart it needs; empty: none
  std::vector<std::string> closed;          // files of closed libraries: "libcublas.so.13"
  std::vector<std::string> static_runtime;  // other libraries with the CUDA runtime linked in
};
Expected<CudaUse> inspect_program(const std::filesystem::path& path);

}  // namespace ridge::tools
