// Operands of mma.sync in shared memory: 128 rows of a, or columns of b, 64 elements deep, in rows
// of 128 bytes with the 128-byte swizzle, so that ldmatrix reads and copies write without bank
// conflicts. The layouts are those of wgmma (device/wgmma_operand.cuh):
//   (128,64):(64,1)                 where the depth is contiguous in memory
//   ((64,2),64):((1,4096),64)       where the rows of a or the columns of b are
//
// Copies of 16 bytes are asynchronous. What crosses an edge of the matrix or lies askew is read
// element by element, so that any matrix will do.
#pragma once

#include "core/layout.h"
#include "device/from_detail.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mma.cuh"

namespace ridge {

template <class T, bool kTurned>
struct MmaOperand {
  static constexpr int kWidth = 128, kDepth = 64;
  static constexpr int kBytes = kWidth * kDepth * 2;
  static constexpr int kChunk = 8;  // elements of 16 bytes, along the contiguous dimension

  // An operand in global memory, from the first row or column of the tile on.
  struct Source {
    const T* data;
    int64_t width_step, depth_step;
    int64_t widths, depths;  // how many are left
  };

  static __device__ __forceinline__ int place(int x, int k) {  // in bytes
    constexpr layouts::Swizzle kSwizzle = layouts::kSwizzle128;
    const int plain = kTurned ? x / 64 * (64 * 128) + k * 128 + x % 64 * 2 : x * 128 + k * 2;
    return int(kSwizzle(plain));
  }

  // Asks for the levels k …, by all threads of the block. The caller commits, waits, and meets a
  // barrier of the block.
  template <int kThreads>
  static __device__ __forceinline__ void load(char* shared, const Source& from, int64_t k) {
    constexpr int kChunks = kWidth * kDepth / kChunk;
#pragma unroll
    for (int pass = 0; pass < kChunks / kThreads; ++pass) {
      const int chunk = pass * kThreads + int(threadIdx.x);
      const int x = kTurned ? chunk % (kWidth / kChunk) * kChunk : chunk / (kDepth / kChunk);
      const int level = kTurned ? chunk / (kWidth / kChunk) : chunk % (kDepth / kChunk) * kChunk;
      load_chunk(shared + place(x, level), from, x, k + level);
    }
  }

  // Fragments of 16 rows or columns and 16 levels. For a: the four registers of mma. For b: two
  // registers for the first 8 columns, two for the others.
  static __device__ __forceinline__ void fragment_a(uint32_t (&to)[4], const char* shared, int x,
                                                    int k) {
    const int lane = int(threadIdx.x) % 32;
    const int row = kTurned ? lane / 8 % 2 * 8 : lane % 16;
    const int level = kTurned ? lane % 8 + lane / 16 * 8 : lane / 16 * 8;
    ptx::ldmatrix_x4<kTurned>(to, shared + place(x + row, k + level));
  }
  static __device__ __forceinline__ void fragment_b(uint32_t (&to)[4], const char* shared, int x,
                                                    int k) {
    const int lane = int(threadIdx.x) % 32;
    const int col = kTurned ? lane / 16 * 8 : lane % 8 + lane / 16 * 8;
    const int level = kTurned ? lane % 16 : lane / 8 % 2 * 8;
    ptx::ldmatrix_x4<kTurned>(to, shared + place(x + col, k + level));
  }

 private:
  static __device__ __forceinline__ void load_chunk(char* to, const Source& from, int64_t x,
                                                    int64_t k) {
    const T* const first = from.data + x * from.width_step + k * from.depth_step;
    const bool is_inside = kTurned ? x + kChunk <= from.widths && k < from.depths
                                   : x < from.widths && k + kChunk <= from.depths;
    const int64_t step = kTurned ? from.width_step : from.depth_step;
    if (is_inside && step == 1 && is_pack_aligned(first)) {
      ptx::copy_async_16(to, first, true);
      return;
    }
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const bool is_there =
          kTurned ? x + i < from.widths && k < from.depths : x < from.widths && k + i < from.depths;
      pack[i] = is_there ? first[i * step] : T(0.0f);
    }
    *reinterpret_cast<Pack<T>*>(to) = pack;
  }
};

}  // namespace ridge
