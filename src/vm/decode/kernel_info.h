// What is known of a kernel before and after its body is decoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ridge::vm {

// What cudaFuncGetAttributes and the launcher need; known without decoding the body.
struct KernelInfo {
  std::string name;
  struct Param {
    uint32_t offset, size;
  };
  std::vector<Param> params;
  uint32_t param_bytes = 0;
  uint32_t max_threads = 1024;  // from .maxntid, or the device's limit
  // ptxas spills rather than use more: .maxnreg, .maxntid and .minnctapersm.
  uint32_t max_registers = 255;
  // ptxas gives the kernel exactly that many if it uses setmaxnreg: .maxnreg, or .maxntid together
  // with .minnctapersm, is there. Otherwise it ignores setmaxnreg.
  bool fixed_registers = false;
  uint32_t required_threads[3] = {0, 0, 0};
  uint32_t required_cluster[3] = {0, 0, 0};  // from .reqnctapercluster
  uint32_t max_cluster = 0;                  // from .maxclusterrank; 0: no limit of its own
  bool needs_cluster = false;                // from .explicitcluster
  bool grid_of_clusters = false;  // from .blocksareclusters: a launch's grid counts these
  int ptx_version = 0;            // 90 for sm_90 PTX
};
// Known after the body has been decoded.
struct KernelUsage {
  uint32_t registers = 0;  // our estimate, as ptxas would report it
  uint32_t static_shared = 0;
  uint32_t local_bytes = 0;  // per thread
  uint32_t constant_bytes = 0;
};

}  // namespace ridge::vm
