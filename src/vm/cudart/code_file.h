// A file of code that a program names: PTX text, a fat binary.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

inline cudaError_t read_file(const char* path, std::string* bytes) {
  if (!path) return cudaErrorInvalidValue;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rbe"),
                                                   [](FILE* f) { return f ? std::fclose(f) : 0; });
  if (!file) return cudaErrorFileNotFound;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes->append(buffer, got);
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
