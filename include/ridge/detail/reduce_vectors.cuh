// Reduces a vector to one number in a single launch, with any operator (see reduce_op.cuh).
//
// As many blocks as the device holds walk through the vector in 16-byte packs. The last block to
// finish combines the results of all blocks. Which block that is differs from run to run, but the
// result does not: the order of all combinations is fixed.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "ridge/detail/reduce_block.cuh"

namespace ridge::reduction {

template <class T, int In = 1>
struct Vectors {
  const T* in[In];
  int64_t n;
};

// Estimates for an H200.
struct VectorTuning {
  static constexpr int kThreads = 512;
  static constexpr int kPacks = 4;  // of each thread under way, shared by the inputs
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kAlonePacks = 8;  // a thread: until there, one block beats a meeting of many
  static constexpr int kPacksAThread = 2;  // at least, before there is another block; twice as many
                                           // before an SM has a second one, for each has to arrive
  static constexpr bool kReadAgain = false;
};
struct ReadAgain : VectorTuning {  // for vectors that the next launch reads too
  static constexpr bool kReadAgain = true;
};

template <class Tuning, bool kCongruent, class Op, class T, int In, class Out>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerSm)
    reduce_vectors(Op op, Vectors<T, In> v, Out* out, Meeting<AccOf<Op>> meeting) {
  constexpr int kSize = kPackSize<T>, kUnroll = (Tuning::kPacks + In - 1) / In;
  // Packs lie at the first input's boundaries. Where another one lies differently, its packs are
  // read from the words they span, which needs a neighbour at both ends.
  int64_t begin = elements_to_alignment(v.in[0]) + (kCongruent ? 0 : kSize);
  begin = min(begin, v.n);
  const int64_t packs = max(int64_t(0), (v.n - begin) / kSize - (kCongruent ? 0 : 1));
  struct Buffer {
    Pack<T> of[In];
  };
  unsigned long long arrivals = 0;
  if (gridDim.x > 1 && threadIdx.x == 0) arrivals = before_arrival(meeting.arrivals);
  AccOf<Op> acc = op.identity();
  for_packs<kUnroll, Buffer>(
      int64_t(blockIdx.x) * Tuning::kThreads + threadIdx.x, int64_t(gridDim.x) * Tuning::kThreads,
      packs,
      [&](Buffer& x, int64_t pack) {
        const int64_t i = begin + pack * kSize;
        x.of[0] = Tuning::kReadAgain ? load_pack_to_keep(v.in[0] + i) : load_pack(v.in[0] + i);
        if constexpr (In == 2)
          x.of[1] = kCongruent ? load_pack(v.in[1] + i) : load_pack_anywhere(v.in[1] + i);
      },
      [&](const Buffer& x, int64_t pack) {
        const int64_t i = begin + pack * kSize;
        if constexpr (In == 1) fold(op, acc, i, x.of[0]);
        else fold(op, acc, i, x.of[0], x.of[1]);
      });

  // The elements before the first pack and behind the last: fewer than the block has threads.
  static_assert(4 * kSize <= Tuning::kThreads);
  if (blockIdx.x == gridDim.x - 1) {
    const int64_t i = threadIdx.x < begin ? threadIdx.x : threadIdx.x + packs * kSize;
    if (i < v.n) {
      if constexpr (In == 1) acc = op.combine(acc, transformed(op, i, element(v.in[0][i])));
      else acc = op.combine(acc, transformed(op, i, element(v.in[0][i]), element(v.in[1][i])));
    }
  }

  acc = block_combine<Tuning::kThreads>(op, acc);
  if (threadIdx.x >= kWarpSize) return;
  if (gridDim.x > 1) {
    bool last = false;
    if (threadIdx.x == 0) {
      meeting.partials[blockIdx.x] = acc;
      last = is_last_arrival(meeting.arrivals, gridDim.x, arrivals);
    }
    if (!__shfl_sync(kAllLanes, last, 0)) return;
    __syncwarp();  // orders the reads below behind the arrival
    acc = warp_combine_fresh(op, meeting.partials, int(gridDim.x));
  }
  if (threadIdx.x == 0) *out = finished<Out>(op, acc, v.n);
}

template <class Tuning, class T, int In>
unsigned vector_blocks(const Vectors<T, In>& v, int sm_count) {
  const int64_t packs = v.n / kPackSize<T> + 1;
  if (packs <= int64_t(Tuning::kThreads) * Tuning::kAlonePacks) return 1;
  const int64_t a_block = int64_t(Tuning::kThreads) * Tuning::kPacksAThread;
  const auto blocks_of = [&](int64_t each) { return (packs + each - 1) / each; };
  return unsigned(std::min({blocks_of(a_block), std::max<int64_t>(sm_count, blocks_of(2 * a_block)),
                            int64_t(sm_count) * Tuning::kBlocksPerSm}));
}

// Of device memory at a 16-byte boundary, whatever they hold.
template <class Tuning, class Op, class T, int In>
size_t vector_bytes(const Vectors<T, In>& v, int sm_count) {
  const unsigned blocks = vector_blocks<Tuning>(v, sm_count);
  return blocks == 1 ? 0 : meeting_bytes<AccOf<Op>>(1, blocks);
}

// Of no elements: finish(identity). The caller has seen to it that `workspace` has vector_bytes; it
// also asks whether the launch went well.
template <class Tuning, class Out, class Op, class T, int In>
void launch_vectors(const Op& op, const Vectors<T, In>& v, Out* out, void* workspace, int sm_count,
                    cudaStream_t stream) {
  const auto meeting = meeting_at<AccOf<Op>>(workspace, 1);
  const unsigned blocks = vector_blocks<Tuning>(v, sm_count);
  bool congruent = true;
  for (int k = 1; k < In; ++k)
    congruent &= elements_to_alignment(v.in[k]) == elements_to_alignment(v.in[0]);
  if (congruent)
    reduce_vectors<Tuning, true><<<blocks, Tuning::kThreads, 0, stream>>>(op, v, out, meeting);
  else if constexpr (In > 1)
    reduce_vectors<Tuning, false><<<blocks, Tuning::kThreads, 0, stream>>>(op, v, out, meeting);
}

}  // namespace ridge::reduction
