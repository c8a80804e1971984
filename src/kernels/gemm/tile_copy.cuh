// Slabs of a and b on their way to tiles of any shape, for `small_tiles`.
//
// A slab is kWidth rows of a, or columns of b, by kDepth levels. In shared memory level i begins at
// i * kPitch, with neighbours along x. ask(k, to) starts the copies of the levels k …; put(to) ends
// what passes through registers. After both, and wait_for_async_copies, the calling thread's part
// is there.
//
// There are two ways to bring a slab, and the block takes one of them for a step:
// - fast, 16 bytes at a time, if the slab lies inside of the matrix and is aligned;
// - by elements of 4 bytes, with zeros for what is outside of the matrix.
#pragma once

#include "device/ptx/cp_async.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm {

// Neighbours in memory lie along x. Copies of 16 or 4 bytes, all asynchronous.
template <int kWidth, int kDepth, int kPitch, int kThreads>
class TileAlongX {
 public:
  __device__ __forceinline__ explicit TileAlongX(const Slab& slab)
      : is_straight_(slab.x_step == 1 && is_pack_aligned(slab.data) && slab.k_step % 4 == 0 &&
                     slab.xs >= kWidth),
        k_step_(slab.k_step),
        ks_(slab.ks),
        xs_(int(slab.xs < kWidth ? slab.xs : kWidth)),
        anywhere_(slab.data) {
    const int t = int(threadIdx.x);
    x_ = is_straight_ ? t % kPacks * 4 : t % kWidth;
    level_ = is_straight_ ? t / kPacks : t / kWidth;
    from_ = slab.at(x_, level_);
  }

  __device__ __forceinline__ void ask(int64_t k, float* to) {
    const int levels = int(ks_ - k < kDepth ? ks_ - k : kDepth);  // of this step
    if (is_straight_) {
      float* const place = to + level_ * kPitch + x_;
      if (levels == kDepth) {
#pragma unroll
        for (int pass = 0; pass < kPackPasses; ++pass)
          ptx::copy_async_16(place + pass * kPackLevels * kPitch,
                             from_ + pass * kPackLevels * k_step_);
      } else {
#pragma unroll 1
        for (int pass = 0; pass < kPackPasses; ++pass) {
          const bool is_there = level_ + pass * kPackLevels < levels;
          ptx::copy_async_16(place + pass * kPackLevels * kPitch,
                             is_there ? from_ + pass * kPackLevels * k_step_ : anywhere_, is_there);
        }
      }
    } else {
      float* const place = to + level_ * kPitch + x_;
      if (xs_ == kWidth && levels == kDepth) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass)
          ptx::copy_async_4(place + level_of(pass) * kPitch + x_of(pass),
                            from_ + level_of(pass) * k_step_ + x_of(pass));
      } else {
#pragma unroll 1
        for (int pass = 0; pass < kPasses; ++pass) {
          const bool is_there = level_ + level_of(pass) < levels && x_ + x_of(pass) < xs_;
          ptx::copy_async_4(place + level_of(pass) * kPitch + x_of(pass),
                            is_there ? from_ + level_of(pass) * k_step_ + x_of(pass) : anywhere_,
                            is_there);
        }
      }
    }
    from_ += kDepth * k_step_;
  }
  __device__ __forceinline__ void put(float*) {}

 private:
  static constexpr int kPacks = kWidth / 4;              // in a level
  static constexpr int kPackLevels = kThreads / kPacks;  // in one pass
  static constexpr int kPackPasses = kDepth / kPackLevels;
  static_assert(kPackPasses * kPackLevels == kDepth && kPackLevels > 0);
  static constexpr int kPasses = kWidth * kDepth / kThreads;  // of single elements
  static_assert(kThreads % kWidth == 0 || kWidth % kThreads == 0);

  // What one pass is beyond the first: whole levels, or the rest of a level.
  static __device__ __forceinline__ constexpr int level_of(int pass) {
    return kThreads >= kWidth ? pass * (kThreads / kWidth) : pass / (kWidth / kThreads);
  }
  static __device__ __forceinline__ constexpr int x_of(int pass) {
    return kThreads >= kWidth ? 0 : pass % (kWidth / kThreads) * kThreads;
  }

  bool is_straight_;  // the same in all threads of the block
  int64_t k_step_, ks_;
  int xs_, x_, level_;
  const float* from_;
  const float* anywhere_;  // an address that exists, for copies of nothing
};

// Neighbours in memory lie along k. Fast: each thread loads patches of 4 levels by up to 4 x to
// registers and stores them, turned, after the products. Otherwise 8 levels of 4 x at a time, by
// copies of 4 bytes, which can turn as they go.
template <int kWidth, int kDepth, int kPitch, int kThreads>
class TileAlongK {
 public:
  __device__ __forceinline__ explicit TileAlongK(const Slab& slab)
      : is_straight_(slab.k_step == 1 && is_pack_aligned(slab.data) && slab.x_step % 4 == 0 &&
                     slab.xs >= kWidth),
        x_step_(slab.x_step),
        k_step_(slab.k_step),
        ks_(slab.ks),
        xs_(int(slab.xs < kWidth ? slab.xs : kWidth)),
        anywhere_(slab.data),
        data_(slab.data) {}

  __device__ __forceinline__ void ask(int64_t k, float* to) {
    const int levels = int(ks_ - k < kDepth ? ks_ - k : kDepth);  // of this step
    is_kept_ = is_straight_ && levels == kDepth;
    if (is_kept_) {
      const float* const from = data_ + patch_x() * x_step_ + patch_level();
#pragma unroll
      for (int p = 0; p < kPatches; ++p)
#pragma unroll
        for (int j = 0; j < kHigh; ++j)
          kept_[p][j] = load_pack(from + (x_of_patch(p) + j) * x_step_ + level_of_patch(p));
    } else {
      const int x = int(threadIdx.x) / 8, level = int(threadIdx.x) % 8;
      const float* const from = data_ + x * x_step_ + level * k_step_;
      float* const place = to + level * kPitch + x;
      if (xs_ == kWidth && levels == kDepth) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass)
          ptx::copy_async_4(place + level_of(pass) * kPitch + x_of(pass),
                            from + x_of(pass) * x_step_ + level_of(pass) * k_step_);
      } else {
#pragma unroll 1
        for (int pass = 0; pass < kPasses; ++pass) {
          const bool is_there = level + level_of(pass) < levels && x + x_of(pass) < xs_;
          ptx::copy_async_4(
              place + level_of(pass) * kPitch + x_of(pass),
              is_there ? from + x_of(pass) * x_step_ + level_of(pass) * k_step_ : anywhere_,
              is_there);
        }
      }
    }
    data_ += kDepth * k_step_;
  }
  __device__ __forceinline__ void put(float* to) {
    if (!is_kept_) return;
    float* const place = to + patch_level() * kPitch + patch_x();
#pragma unroll
    for (int p = 0; p < kPatches; ++p)
#pragma unroll
      for (int level = 0; level < 4; ++level) {
        struct alignas(4 * kHigh) Column {
          float at[kHigh];
        } column;
#pragma unroll
        for (int j = 0; j < kHigh; ++j) column.at[j] = kept_[p][j][level];
        *reinterpret_cast<Column*>(place + (level_of_patch(p) + level) * kPitch + x_of_patch(p)) =
            column;
      }
  }

 private:
  static constexpr int kPacks = kWidth * kDepth / 4 / kThreads;  // per thread and step
  static constexpr int kHigh = kPacks < 4 ? kPacks : 4;          // x of a patch
  static constexpr int kPatches = kPacks / kHigh;
  // Two lanes take 8 levels of one x, which is a sector of 32 bytes.
  static constexpr int kPatchXs = kThreads / 2 * kHigh;  // x of all threads together
  static constexpr int kPassesOfX = kWidth > kPatchXs ? kWidth / kPatchXs : 1;
  static constexpr int kLanesOfX = kWidth / kHigh / kPassesOfX;  // pairs of lanes along x
  static constexpr int kPassLevels = kThreads / 2 / kLanesOfX * 8;
  static_assert(kPacks > 0 && kPatches * kHigh == kPacks && kDepth % kPassLevels == 0);
  static constexpr int kXs = kThreads / 8;  // of one pass of elements
  static constexpr int kPasses = kWidth * kDepth / kThreads;
  static_assert(kWidth % kXs == 0 && kDepth % 8 == 0);

  static __device__ __forceinline__ int patch_x() {
    return int(threadIdx.x) / 2 % kLanesOfX * kHigh;
  }
  static __device__ __forceinline__ int patch_level() {
    return int(threadIdx.x) % 2 * 4 + int(threadIdx.x) / 2 / kLanesOfX * 8;
  }
  static __device__ __forceinline__ constexpr int x_of_patch(int p) {
    return p % kPassesOfX * kPatchXs;
  }
  static __device__ __forceinline__ constexpr int level_of_patch(int p) {
    return p / kPassesOfX * kPassLevels;
  }
  static __device__ __forceinline__ constexpr int level_of(int pass) {
    return pass / (kWidth / kXs) * 8;
  }
  static __device__ __forceinline__ constexpr int x_of(int pass) {
    return pass % (kWidth / kXs) * kXs;
  }

  bool is_straight_, is_kept_ = false;  // the same in all threads of the block
  int64_t x_step_, k_step_, ks_;
  int xs_;
  const float* anywhere_;  // an address that exists, for copies of nothing
  const float* data_;      // of this step
  Pack<float> kept_[kPatches][kHigh];
};

}  // namespace ridge::gemm
