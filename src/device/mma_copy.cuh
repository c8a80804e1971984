// Brings tiles of an operand of mma.sync (device/mma_operand.cuh) to shared memory, one step of 64
// levels after another, for operands that can be reached by whole packs: lines, which are
// contiguous, at multiples of 16 bytes.
//
// No step but the last asks where the matrix ends. Beyond its last row or column, the last one is
// copied again, since nobody stores what becomes of it. The last step may end in the middle of a
// pack, or at the end of the memory, so there each pack is told how many bytes it has.
#pragma once

#include "device/mma_operand.cuh"

namespace ridge {

template <class Operand, int kThreads>
class MmaCopy {
  using T = typename Operand::Element;
  static constexpr bool kTurned = Operand::kIsTurned;
  static constexpr int kChunk = Operand::kChunk, kDepth = Operand::kDepth;
  static constexpr int kPerLine = (kTurned ? Operand::kWidth : kDepth) / kChunk;  // chunks
  static constexpr int kLines = kThreads / kPerLine;                              // in one pass
  static_assert(kLines % 8 == 0);  // so that all passes of a thread have the same swizzle

 public:
  static constexpr int kPasses = Operand::kBytes / kPackBytes / kThreads;

  __device__ __forceinline__ MmaCopy()
      : line_(int(threadIdx.x) / kPerLine),
        chunk_(int(threadIdx.x) % kPerLine * kChunk),
        place_(kTurned ? Operand::place(chunk_, line_) : Operand::place(line_, chunk_)) {}

  // From now on, tiles of this matrix: from its row or column `data` on, of which `widths` are
  // left. `pitch` is in elements.
  __device__ __forceinline__ void start(const T* data, int pitch, int widths) {
    pitch_ = pitch * int(sizeof(T));
    widths_ = widths;
    const int last = (widths - 1) / kChunk * kChunk;  // chunk that begins inside
    from_ = reinterpret_cast<const char*>(data + (kTurned ? min(chunk_, last) : chunk_));
  }
  // Whether the last step, of `levels` levels, has to be asked for by ask_at_end.
  __device__ __forceinline__ bool has_end(int levels) const {
    return levels < kDepth || (kTurned && widths_ % kChunk != 0);
  }
  __device__ __forceinline__ void ask(int pass, char* tile) const {
    ptx::copy_async_16(tile + place_ + pass * kLines * Operand::kRowBytes, at(pass));
  }
  __device__ __forceinline__ void ask_at_end(int levels, char* tile) const {
#pragma unroll 1
    for (int pass = 0; pass < kPasses; ++pass) {
      const int line = line_ + pass * kLines;
      const int there = kTurned ? (line < levels ? widths_ - chunk_ : 0) : levels - chunk_;
      const int count = min(max(there, 0), kChunk);
      ptx::copy_async_part(tile + place_ + pass * kLines * Operand::kRowBytes, at(pass),
                           count * int(sizeof(T)));
    }
  }
  __device__ __forceinline__ void advance() {
    from_ += kTurned ? int64_t(pitch_) * kDepth : int64_t(kDepth * sizeof(T));
  }

 private:
  __device__ __forceinline__ const char* at(int pass) const {
    const int line = line_ + pass * kLines;
    return from_ + int64_t(kTurned ? line : min(line, widths_ - 1)) * pitch_;
  }

  int line_, chunk_;  // of the first pass; the chunk in elements
  int place_;
  const char* from_;  // this thread's chunk of the step's first line
  int pitch_;         // bytes
  int widths_;
};

}  // namespace ridge
