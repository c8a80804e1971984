// Slabs of a and b on their way to shared memory behind the products, which rung 12 introduces.
// Each thread keeps the place of its own elements and moves it on by one step. A step that lies
// inside of the matrix as a whole is copied without a question about any element.
//
// ask(k, to) starts the copies of the levels k … to the buffer `to`; put(to) ends what passes
// through registers. After both, and wait_for_async_copies, the calling thread's part is there.
#pragma once

#include "device/ptx/cp_async.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm {

// Neighbours along x: asynchronous copies of 16 bytes. Where packs are not whole, or lie askew,
// of 4.
template <int kWidth, int kDepth, int kPitch, int kThreads>
class CopyAlongX {
 public:
  __device__ __forceinline__ explicit CopyAlongX(const Slab& slab)
      : x_(int(threadIdx.x) % (kWidth / 4) * 4),
        level_(int(threadIdx.x) / (kWidth / 4)),
        from_(slab.at(x_, level_)),
        pass_step_(kLevels * slab.k_step),
        anywhere_(slab.data),
        left_(int(slab.xs < kWidth ? slab.xs : kWidth) - x_),
        ks_(slab.ks),
        is_straight_(slab.x_step == 1 && is_pack_aligned(slab.data) && slab.k_step % 4 == 0),
        is_whole_(is_straight_ && slab.xs >= kWidth) {}

  __device__ __forceinline__ void ask(int64_t k, float* to) {
    float* const place = to + level_ * kPitch + x_;
    if (is_whole_ && k + kDepth <= ks_) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass)
        ptx::copy_async_16(place + pass * kLevels * kPitch, from_ + pass * pass_step_);
    } else {
      ask_at_edge(k, place);
    }
    from_ += kPasses * pass_step_;
  }
  __device__ __forceinline__ void put(float*) {}

 private:
  static constexpr int kLevels = kThreads / (kWidth / 4);  // in one pass
  static constexpr int kPasses = kDepth / kLevels;
  static_assert(kPasses * kLevels == kDepth);

  __device__ __forceinline__ void ask_at_edge(int64_t k, float* place) const {
#pragma unroll 1
    for (int pass = 0; pass < kPasses; ++pass) {
      const bool is_level = k + level_ + pass * kLevels < ks_;
      const float* const from = from_ + pass * pass_step_;
      float* const here = place + pass * kLevels * kPitch;
      if (is_straight_ && left_ >= 4) {
        ptx::copy_async_16(here, is_level ? from : anywhere_, is_level);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const bool is_there = is_level && j < left_;
          ptx::copy_async_4(here + j, is_there ? from + j : anywhere_, is_there);
        }
      }
    }
  }

  int x_, level_;
  const float* from_;
  int64_t pass_step_;
  const float* anywhere_;  // an address that exists, for copies of nothing
  int left_;
  int64_t ks_;
  bool is_straight_, is_whole_;  // the same in all threads of the block
};

// Neighbours along k: loads of 16 bytes to registers, which are stored, turned, after the products.
// Two lanes take 8 levels of one x, which is a sector of 32 bytes.
template <int kWidth, int kDepth, int kPitch, int kThreads>
class CopyAlongK {
 public:
  __device__ __forceinline__ explicit CopyAlongK(const Slab& slab)
      : x_(int(threadIdx.x) / 2),
        level_(int(threadIdx.x) % 2 * 4),
        from_(slab.at(x_, level_)),
        pass_step_(kXs * slab.x_step),
        xs_(int(slab.xs < kWidth ? slab.xs : kWidth)),
        ks_(slab.ks),
        is_whole_(slab.k_step == 1 && is_pack_aligned(slab.data) && slab.x_step % 4 == 0 &&
                  slab.xs >= kWidth) {}

  __device__ __forceinline__ void ask(int64_t k, float*) {
    const int levels = int(ks_ - k < kDepth ? ks_ - k : kDepth);  // of this step
    const bool is_inside = is_whole_ && levels == kDepth;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const float* const from = from_ + pass % kPassesOfX * pass_step_ + pass / kPassesOfX * 8;
      if (is_inside) {
        kept_[pass] = load_pack(from);
      } else {
        const bool is_x = x_ + pass % kPassesOfX * kXs < xs_;
        const int left = levels - level_ - pass / kPassesOfX * 8;
#pragma unroll
        for (int j = 0; j < 4; ++j) kept_[pass][j] = is_x && j < left ? from[j] : 0;
      }
    }
    from_ += kDepth;
  }
  __device__ __forceinline__ void put(float* to) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        to[(level_ + pass / kPassesOfX * 8 + j) * kPitch + x_ + pass % kPassesOfX * kXs] =
            kept_[pass][j];
  }

 private:
  static constexpr int kXs = kThreads / 2;  // in one pass
  static constexpr int kPassesOfX = kWidth / kXs;
  static constexpr int kPasses = kPassesOfX * kDepth / 8;
  static_assert(kPassesOfX * kXs == kWidth && kDepth % 8 == 0);

  int x_, level_;
  const float* from_;
  int64_t pass_step_;
  int xs_;
  int64_t ks_;
  bool is_whole_;  // the same in all threads of the block
  Pack<float> kept_[kPasses];
};

}  // namespace ridge::gemm
