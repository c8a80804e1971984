// A kernel's machine code, where the toolkit is at hand that makes it and takes it apart.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/gpu_spec.h"
#include "vm/decode/program.h"
#include "vm/observe/disassembly.h"

namespace ridge::vm::observe {

struct Disassembled {
  std::optional<Disassembly> code;
  std::string why_not;     // where it was wanted
  std::string ptxas_said;  // a file with what ptxas said of registers and spills
};

// The program's own where it brought some for this device with line information, otherwise what
// ptxas makes of its PTX. Wanted where RIDGE_PROFILE_NVDISASM (and RIDGE_PROFILE_PTXAS) name those
// programs and RIDGE_PROFILE_PTX a folder to work in. Not for two threads at once.
class Disassembler {
 public:
  const Disassembled& of(const KernelCode& kernel, const GpuSpec& gpu);

 private:
  // By the program's number, which is never used again; a whole module has kernel nullptr.
  std::map<uint64_t, Disassembled> own_;
  std::map<std::pair<uint64_t, const KernelCode*>, Disassembled> known_;
};

}  // namespace ridge::vm::observe
