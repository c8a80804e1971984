// A kernel as the query functions see it: looked up, loaded and decoded.
#pragma once

#include <optional>
#include <string>

#include "vm/cudart/api.h"
#include "vm/cudart/modules.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

struct ResolvedFunction {
  KernelHandle* function = nullptr;
  Kernel* kernel = nullptr;
  KernelUsage usage;
};
// A host stub or a cudaKernel_t. An error in the kernel's code is reported once.
cudaError_t resolve_function(const void* function, ResolvedFunction* resolved);

// Dynamic shared memory one block of it may ask for: the opt-in, or what static memory leaves of
// the default.
int dynamic_shared_limit(const ResolvedFunction& function);
// How many threads a block of it may have: .maxntid, and what its registers allow.
int max_threads(const ResolvedFunction& function);
bool has_registers_for(const ResolvedFunction& function, int threads);
// Blocks of it that fit on one multiprocessor at a time.
int blocks_per_sm(const ResolvedFunction& function, int threads, size_t dynamic_shared);
// The blocks of its clusters: what the launch asks for, or what the kernel requires; 0: it has
// none. cudaErrorInvalidClusterSize where this cannot be, with a reason for the user.
struct ClusterShape {
  dim3 size{0, 0, 0};
  std::string why, fix;
  cudaError_t error = cudaSuccess;
};
ClusterShape cluster_shape(const ResolvedFunction& function, const std::optional<dim3>& asked,
                           const dim3& grid);
dim3 required_cluster(const ResolvedFunction& function);  // by the compiler or at run time
int largest_cluster(const ResolvedFunction& function);
// Dynamic shared memory each block could have if `blocks` of them shared a multiprocessor.
size_t shared_per_block(const ResolvedFunction& function, int blocks);

}  // namespace ridge::vm::cudart
