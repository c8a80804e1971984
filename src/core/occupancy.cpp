// The allocation rules are those of the CUDA programming guide and of the occupancy calculator, for
// compute capability 7.5 to 9.0: registers go to warps in units of 256 out of four separate
// quarters of the register file, shared memory to blocks in units of 128 bytes (256 before 8.0).
#include "core/occupancy.h"

#include <algorithm>

#include "core/align.h"

namespace ridge {
namespace {

constexpr int kSubPartitions = 4;    // an SM's schedulers, each with a quarter of the registers
constexpr int kRegisterUnit = 256;   // registers, a warp
constexpr int kUnbounded = 1 << 20;  // more blocks than any SM holds

int warps_of(int threads) { return int(ceil_div(threads, kWarpSize)); }

}  // namespace

int blocks_by_threads(const GpuSpec& gpu, int block_threads) {
  if (block_threads <= 0 || block_threads > kMaxThreadsPerBlock) return 0;
  return gpu.max_threads_per_sm / kWarpSize / warps_of(block_threads);
}

int blocks_by_registers(const GpuSpec& gpu, int block_threads, int registers_per_thread) {
  if (block_threads <= 0 || registers_per_thread > kMaxRegistersPerThread) return 0;
  if (registers_per_thread <= 0) return kUnbounded;
  const int warps = warps_of(block_threads);
  const int64_t per_warp = round_up(int64_t(registers_per_thread) * kWarpSize, kRegisterUnit);
  // A block's warps are dealt out to the quarters in turn, so the fullest quarter decides if it
  // fits.
  if (per_warp * round_up(warps, kSubPartitions) > kMaxRegistersPerBlock) return 0;
  const int64_t warps_per_quarter = gpu.registers_per_sm / kSubPartitions / per_warp;
  return int(warps_per_quarter * kSubPartitions / warps);
}

int blocks_by_shared(const GpuSpec& gpu, int64_t shared_bytes) {
  if (shared_bytes > gpu.shared_per_block_optin) return 0;
  const int unit = gpu.major >= 8 ? 128 : 256;
  const int64_t per_block = round_up(shared_bytes + gpu.shared_reserved_per_block, unit);
  return per_block == 0 ? kUnbounded : int(gpu.shared_per_sm / per_block);
}

Occupancy occupancy(const GpuSpec& gpu, const KernelResources& kernel) {
  struct Limit {
    int blocks;
    Limiter limiter;
  };
  const Limit limits[] = {
      {blocks_by_threads(gpu, kernel.block_threads), Limiter::threads},
      {gpu.max_blocks_per_sm, Limiter::blocks},
      {blocks_by_registers(gpu, kernel.block_threads, kernel.registers_per_thread),
       Limiter::registers},
      {blocks_by_shared(gpu, kernel.shared_bytes), Limiter::shared},
  };
  const Limit least =
      *std::min_element(std::begin(limits), std::end(limits),
                        [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  if (least.blocks <= 0) return {};
  const int warps = least.blocks * warps_of(kernel.block_threads);
  return {.blocks_per_sm = least.blocks,
          .warps_per_sm = warps,
          .fraction = double(warps) * kWarpSize / gpu.max_threads_per_sm,
          .limiter = least.limiter};
}

int active_clusters(const GpuSpec& gpu, int blocks_per_sm, int cluster_size) {
  constexpr int kMostBlocks = 8;  // of clusters, on one multiprocessor
  constexpr int kUsual = 16;      // multiprocessors of a GPC
  const int blocks = std::min(blocks_per_sm, kMostBlocks);
  const auto of_gpc = [&](int multiprocessors) {
    return multiprocessors >= cluster_size ? multiprocessors * blocks / cluster_size : 0;
  };
  int clusters = 0;
  if (gpu.gpcs[0] == 0)
    for (int left = gpu.sm_count; left > 0; left -= kUsual)
      clusters += of_gpc(std::min(left, kUsual));
  for (const int multiprocessors : gpu.gpcs) clusters += of_gpc(multiprocessors);
  return clusters;
}

const char* to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::threads: return "threads";
    case Limiter::blocks: return "blocks";
    case Limiter::registers: return "registers";
    case Limiter::shared: return "shared memory";
    case Limiter::does_not_fit: return "does not fit";
  }
  return "?";
}

}  // namespace ridge
