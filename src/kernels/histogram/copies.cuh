// A histogram in shared memory, in several copies that lie interleaved: copy c of bin b is word b *
// copies + c. With 32 copies each lane of a warp has a bank of its own.
#pragma once

#include "kernels/histogram/bins.cuh"

namespace ridge::histogram {

constexpr int kMostCopies = 32;

struct Copies {
  uint32_t* table;
  int bins, log2;  // of the number of copies

  __device__ void clear() const {
    for (int i = int(threadIdx.x); i < bins << log2; i += kThreads) table[i] = 0;
    __syncthreads();
  }
  // The word of this lane's copy.
  __device__ __forceinline__ uint32_t* at(uint32_t bin) const {
    const uint32_t copy = threadIdx.x & ((1u << log2) - 1);
    return table + ((bin << log2) | copy);
  }
  // One thread adds up one bin. It starts at the copy of its own lane, so that lanes read different
  // banks.
  __device__ void merge_into(uint32_t* counts, int counted) const {
    __syncthreads();
    const int copies = 1 << log2;
    for (int bin = int(threadIdx.x); bin < counted; bin += kThreads) {
      uint32_t total = 0;
      for (int c = 0; c < copies; ++c)
        total += table[(bin << log2) | ((c + int(threadIdx.x)) & (copies - 1))];
      if (total) atomicAdd(counts + bin, total);
    }
  }
};

// As many copies as fit into the part of shared memory that each of the blocks of an SM has.
inline int log2_copies(const Args& a, const DeviceInfo& device, int most) {
  const int64_t room = device.shared_per_block_optin / kBlocksPerSm;
  int log2 = 0;
  while (2 << log2 <= most && (int64_t(table_bins(a)) * 4 << (log2 + 1)) <= room) ++log2;
  return log2;
}

inline Support fits_shared(const Args& a, const DeviceInfo& device) {
  if (!is_counted(a.dtype)) return kNotCounted;
  return int64_t(table_bins(a)) * 4 <= device.shared_per_block_optin / kBlocksPerSm
             ? kSupported
             : "the bins do not fit into shared memory";
}

// Kernel: void(Args, Bins, int log2).
template <class Kernel, class Bins>
Status launch_with_copies(Kernel kernel, const Args& a, const Bins& bins, int log2,
                          const DeviceInfo& device, cudaStream_t stream) {
  const size_t shared = size_t(table_bins(a)) * sizeof(uint32_t) << log2;
  if (const Status s = allow_shared(kernel, shared); !s) return s;
  if (const Status s = clear_counts(a, stream); !s) return s;
  if (a.n == 0) return Status::ok();
  kernel<<<walking_blocks(a, device, kBlocksPerSm), kThreads, shared, stream>>>(a, bins, log2);
  return launch_status();
}

}  // namespace ridge::histogram
