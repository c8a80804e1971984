// Products in tf32 whose a lies along its rows. wgmma turns no operand of 32 bits in shared memory,
// but it takes a from registers, and lanes can load their elements from any place.
#pragma once

#include "kernels/gemm/ring_of_tiles.cuh"

namespace ridge::gemm::hopper {

// A lane's elements of a for one step: of its warpgroup's 64 rows, from `row` on.
//
// They are levels t and t + 4 of eight, with t = l % 4, of rows l / 4 and l / 4 + 8 of the warp's
// 16. The rows of a box are contiguous, 32 of them, swizzled: chunk c of level k lies at c ^ k % 8.
// So levels t and t ^ 1 have the same two chunks in another order: the same banks. Therefore lanes
// with an odd t load level t + 4 first.
template <class A>
struct Fragments {
  static constexpr int kProducts = A::kDepth / A::kStepDepth;
  uint32_t of[kProducts][4];

  __device__ __forceinline__ void load(const char* tile, int row) {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) % kWarpgroup / 32;
    const int x = row + 16 * warp + lane / 4, t = lane % 4, is_odd = t % 2;
    const char* const box = tile + x / A::kBox * A::kBytesPerBox;
    constexpr layouts::Swizzle kSwizzle = layouts::kSwizzle128;
    const auto place = [&](int level) {
      return int(kSwizzle(level * A::kRowBytes + x % A::kBox * 4));
    };
    const int first = place(t + 4 * is_odd), second = place(t + 4 - 4 * is_odd);
    constexpr int kDown = 8 * 4;  // 8 rows: x / 8 is even, so they are added by an exclusive or
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      const auto word = [&](int at) {
        return *reinterpret_cast<const uint32_t*>(box + at + i * A::kStepDepth * A::kRowBytes);
      };
      const uint32_t a[4] = {word(first), word(first ^ kDown), word(second), word(second ^ kDown)};
#pragma unroll
      for (int j = 0; j < 4; ++j) of[i][j] = is_odd ? a[j ^ 2] : a[j];
    }
  }
};

// As consume, with one warpgroup of 64 rows. Two sets of registers take turns: those of a step must
// stay as they are until its products are complete, and the next step is loaded meanwhile.
template <class A, class B, class Shape, class Issued>
__device__ __forceinline__ void consume_from_registers(RingOfTiles<Shape>& ring, int row,
                                                       Levels levels, Place<Shape>& place,
                                                       Sums<Shape>& sums, Issued issued) {
  static_assert(Shape::kGroupRows == kRows);
  using WholeB = WholeWidth<B, Shape::kCols>;
  if (levels.begin >= levels.end) return;
  Fragments<A> even, odd;
  int before = 0;  // the stage of the step before
  int k = levels.begin;
  const auto step = [&](Fragments<A>& a) {
    ptx::mbarrier_wait(&ring.barriers.full[place.stage], place.phase);
    a.load(ring.a[place.stage], row);
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < Fragments<A>::kProducts; ++i)
      ptx::wgmma_64xNx8(sums.of[0], a.of[i],
                        WholeB::descriptor(ring.b[place.stage], 0, i * B::kStepDepth),
                        k > levels.begin || i > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the products of the step before are complete
    if (k > levels.begin) release(ring, before);
    before = place.stage;
    place.advance();
    k += A::kDepth;
  };
  while (true) {
    step(even);
    if (k >= levels.end) break;
    step(odd);
    if (k >= levels.end) break;
  }
  issued();
  ptx::wgmma_wait<0>();
  release(ring, before);
}

}  // namespace ridge::gemm::hopper
