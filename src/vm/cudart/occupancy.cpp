#include "vm/cudart/occupancy.h"

#include <algorithm>

namespace ridge::vm::cudart {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxBlock = 1024;
constexpr int kRegisterUnit = 256;      // registers are given to a warp in such steps
constexpr int kSchedulers = 4;          // a warp's registers come from its scheduler's quarter of the file
constexpr size_t kSharedUnit = 128;     // bytes

template <class T>
T round_up(T value, T step) {
  return (value + step - 1) / step * step;
}

int warps_by_registers(const GpuSpec& gpu, const KernelUsage& usage) {
  const int resident = gpu.max_threads_per_sm / kWarp;
  if (!usage.registers) return resident;
  const int per_warp = round_up(int(usage.registers) * kWarp, kRegisterUnit);
  return std::min(resident, gpu.registers_per_sm / kSchedulers / per_warp * kSchedulers);
}

}  // namespace

int blocks_per_sm(const GpuSpec& gpu, const KernelUsage& usage, int threads, size_t dynamic_shared) {
  const int warps = (threads + kWarp - 1) / kWarp;
  const int blocks = std::min(gpu.max_blocks_per_sm, warps_by_registers(gpu, usage) / warps);
  const size_t shared =
      round_up(usage.static_shared + dynamic_shared + size_t(gpu.shared_reserved_per_block), kSharedUnit);
  return shared ? int(std::min(size_t(blocks), size_t(gpu.shared_per_sm) / shared)) : blocks;
}

int threads_by_registers(const GpuSpec& gpu, const KernelUsage& usage) {
  return std::min(kMaxBlock, warps_by_registers(gpu, usage) * kWarp);
}

size_t shared_left_per_block(const GpuSpec& gpu, const KernelUsage& usage, int blocks) {
  const size_t each = size_t(gpu.shared_per_sm) / size_t(blocks) / kSharedUnit * kSharedUnit;
  const size_t taken = usage.static_shared + size_t(gpu.shared_reserved_per_block);
  return each > taken ? each - taken : 0;
}

}  // namespace ridge::vm::cudart
