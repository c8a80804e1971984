// How many blocks of a kernel fit on one multiprocessor at a time, by the device's allocation granularities.
#pragma once

#include <cstddef>

#include "core/gpu_spec.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

int blocks_per_sm(const GpuSpec& gpu, const KernelUsage& usage, int threads, size_t dynamic_shared);
int threads_by_registers(const GpuSpec& gpu, const KernelUsage& usage);  // the largest block the registers allow
// The most dynamic shared memory each of `blocks` resident blocks could have.
size_t shared_left_per_block(const GpuSpec& gpu, const KernelUsage& usage, int blocks);

}  // namespace ridge::vm::cudart
