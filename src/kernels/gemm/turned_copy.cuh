// Operands in the form that the fastest kernel in f32 wants: the rows of a, or the columns of b,
// are contiguous, and lines lie at multiples of 16 bytes. An operand whose depth is contiguous is
// turned on its way to the workspace; one that lies the right way, but askew, is copied straight.
//
//   const AlongWidth along(args);                           // where copies would lie
//   along.bytes()                                           // how much workspace they take
//   if (const Status s = along.copy(stream); !s) return s;  // makes them
//   … along.args() …                                        // the same call on the copies
#pragma once

#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm {
namespace turned_copy {

constexpr int kTile = 64, kThreads = 256;

// Steps in elements. The copy has width_step = 1.
template <class T>
struct Job {
  const T* from = nullptr;
  T* to = nullptr;
  int64_t width = 0, depth = 0;
  int64_t width_step = 0, depth_step = 0, step = 0;
  int64_t to_pitch = 0, to_step = 0;
  int64_t blocks = 0;
  int tiles_along_width = 0, tiles_of_one = 0;  // of one matrix
};

template <class T>
__device__ __forceinline__ void turn(const Job<T>& job, unsigned block) {
  __shared__ T tile[kTile][kTile + 1];  // (k, x): neither lanes along k nor along x conflict
  const int64_t matrix = block / unsigned(job.tiles_of_one);
  const int of_one = int(block % unsigned(job.tiles_of_one));
  const int64_t x0 = int64_t(of_one % job.tiles_along_width) * kTile;
  const int64_t k0 = int64_t(of_one / job.tiles_along_width) * kTile;
  constexpr int kLines = kThreads / kTile;  // in one pass
  const int along = int(threadIdx.x) % kTile, line = int(threadIdx.x) / kTile;
  const T* const from =
      job.from + matrix * job.step + (x0 + line) * job.width_step + (k0 + along) * job.depth_step;
  T kept[kTile / kLines];
#pragma unroll
  for (int i = 0; i < kTile / kLines; ++i) {  // all loads first
    const bool is_there = k0 + along < job.depth && x0 + line + i * kLines < job.width;
    kept[i] = is_there ? __ldg(from + i * kLines * job.width_step) : T();
  }
#pragma unroll
  for (int i = 0; i < kTile / kLines; ++i) tile[along][line + i * kLines] = kept[i];
  __syncthreads();
  T* const to = job.to + matrix * job.to_step + (k0 + line) * job.to_pitch + x0 + along;
#pragma unroll
  for (int i = 0; i < kTile / kLines; ++i)
    if (k0 + line + i * kLines < job.depth && x0 + along < job.width)
      to[i * kLines * job.to_pitch] = tile[line + i * kLines][along];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gemm_turned_copy(const __grid_constant__ Job<T> a, const __grid_constant__ Job<T> b) {
  if (blockIdx.x < a.blocks) turn(a, blockIdx.x);
  else turn(b, blockIdx.x - unsigned(a.blocks));
}

}  // namespace turned_copy

// For f32. The constructor touches no memory, so that `workspace` and `cost` may use it, too.
class AlongWidth {
 public:
  explicit AlongWidth(const Args& args) : given_(args), aligned_(turned(args)) {}

  const Args& args() const { return aligned_.args(); }
  size_t bytes() const { return bytes_ + aligned_.bytes(); }
  int launches() const { return (bytes_ > 0 ? 1 : 0) + (aligned_.bytes() > 0 ? 1 : 0); }
  // Bytes that copies read and write.
  double traffic() const {
    return 2 * sizeof(float) * double(elements_) + 2 * double(aligned_.bytes());
  }

  Status copy(cudaStream_t stream) const {
    if (given_.workspace_bytes < bytes())
      return Error{int(cudaErrorInvalidValue),
                   "the workspace has " + std::to_string(given_.workspace_bytes) +
                       " bytes, but turned copies of the operands take " + std::to_string(bytes())};
    if (const int64_t blocks = a_.blocks + b_.blocks; blocks > 0) {
      turned_copy::gemm_turned_copy<float>
          <<<unsigned(blocks), turned_copy::kThreads, 0, stream>>>(a_, b_);
      if (const Status s = launch_status(); !s) return s;
    }
    return aligned_.copy(stream);
  }

 private:
  // The call with turned operands, and their jobs.
  Args turned(Args args) {
    if (is_empty(args) || args.k == 0) return args;
    turn(args, args.a, args.m, args.a.row_step, args.a.col_step, a_);
    turn(args, args.b, args.n, args.b.col_step, args.b.row_step, b_);
    return args;
  }
  void turn(Args& args, Matrices& operand, int64_t width, int64_t& width_step, int64_t& depth_step,
            turned_copy::Job<float>& job) {
    using turned_copy::kTile;
    const bool lies_right = (width_step == 1 || width == 1) && (depth_step != 1 || args.k == 1);
    if (lies_right) {
      width_step = 1;
      return;
    }
    const int64_t count = operand.batch_step == 0 ? 1 : args.batch;
    const int64_t pitch = aligned_copy::rounded_up(width, 4);
    auto at = reinterpret_cast<uintptr_t>(args.workspace);
    constexpr auto kLine = uintptr_t(aligned_copy::kCacheLine);
    if (bytes_ == 0) {
      at += -at % kLine;
      bytes_ = kLine;  // whatever the start, as much is asked for
    }
    job = {.from = static_cast<const float*>(operand.data),
           .to = reinterpret_cast<float*>(at),
           .width = width,
           .depth = args.k,
           .width_step = width_step,
           .depth_step = depth_step,
           .step = operand.batch_step,
           .to_pitch = pitch,
           .to_step = count > 1 ? args.k * pitch : 0,
           .tiles_along_width = int(tiles_of(width, kTile)),
           .tiles_of_one = int(tiles_of(width, kTile) * tiles_of(args.k, kTile))};
    job.blocks = count * job.tiles_of_one;
    const size_t bytes = size_t(aligned_copy::rounded_up(
        count * args.k * pitch * int64_t(sizeof(float)), aligned_copy::kCacheLine));
    bytes_ += bytes;
    elements_ += count * args.k * width;
    args.workspace = reinterpret_cast<void*>(at + bytes);
    args.workspace_bytes = given_.workspace_bytes - std::min(bytes_, given_.workspace_bytes);
    operand = {.data = job.to, .row_step = 0, .col_step = 0, .batch_step = job.to_step};
    width_step = 1;
    depth_step = pitch;
  }

  Args given_;
  turned_copy::Job<float> a_, b_;
  size_t bytes_ = 0;
  int64_t elements_ = 0;
  AlignedOperands aligned_;
};

}  // namespace ridge::gemm
