// dgamma and dbeta: sums down the columns, always in the same order and without atomics. The rows
// are cut into slices; each slice leaves a partial sum for every column in the workspace, and a
// last kernel adds the slices up.
#pragma once

#include <algorithm>

#include "device/convert_pack.cuh"
#include "kernels/layer_norm/rows.cuh"

namespace ridge::layer_norm {

// In the workspace: (slices, cols) of dgamma, then the same of dbeta.
struct Partials {
  float *dgamma, *dbeta;
  int64_t slices, cols;

  Partials(const Args& a, int64_t slices)
      : dgamma(static_cast<float*>(a.workspace)),
        dbeta(dgamma + slices * a.cols),
        slices(slices),
        cols(a.cols) {}
  size_t bytes() const { return size_t(2 * slices * cols) * sizeof(float); }
};

// Adds up the slices: 32 columns per block, each warp every kSumWarps-th slice.
constexpr int kSumWarps = 16;
static __global__ void __launch_bounds__(kSumWarps* kWarpSize)
    layer_norm_add_slices(Args a, Partials p) {
  __shared__ float sums[kSumWarps][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int64_t c = int64_t(blockIdx.x) * kWarpSize + lane;
  const float* const from = blockIdx.y ? p.dbeta : p.dgamma;
  float sum = 0;
  if (c < p.cols) {
#pragma unroll 4
    for (int64_t s = warp; s < p.slices; s += kSumWarps) sum += from[s * p.cols + c];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || c >= p.cols) return;
  for (int w = 1; w < kSumWarps; ++w) sum += sums[w][lane];
  (blockIdx.y ? a.dbeta : a.dgamma)[c] = sum;
}
inline Status add_slices(const Args& a, const Partials& p, cudaStream_t stream) {
  const dim3 grid(unsigned((a.cols + kWarpSize - 1) / kWarpSize), a.dbeta ? 2 : 1);
  layer_norm_add_slices<<<grid, kSumWarps * kWarpSize, 0, stream>>>(a, p);
  return launch_status();
}

// The sums of a call whose dx another kernel makes: this must run first, since dx may be x or dy.
// N columns per thread at once; the warps of a block take the rows of its slice in turn.
constexpr int kColumnWarps = 8, kColumnsInFlight = 2, kColumnBlocksPerSm = 4;
template <class T, int N>
__global__ void __launch_bounds__(kColumnWarps* kWarpSize)
    layer_norm_column_sums(Args a, Partials partials, int64_t rows_per_slice) {
  using Part = Pack<T, N>;
  __shared__ float shared[kColumnWarps][2][N][kWarpSize];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t c = (int64_t(blockIdx.x) * kWarpSize + lane) * N;
  const int64_t end = min(a.rows, (blockIdx.y + 1) * rows_per_slice);
  const bool inside = c < a.cols;
  float dgamma[N] = {}, dbeta[N] = {};
  for (int64_t r = blockIdx.y * rows_per_slice + warp; inside && r < end;
       r += kColumnWarps * kColumnsInFlight) {
    Part x[kColumnsInFlight], dy[kColumnsInFlight];
#pragma unroll
    for (int k = 0; k < kColumnsInFlight; ++k) {
      const int64_t row = min(r + k * kColumnWarps, end - 1);
      x[k] = *reinterpret_cast<const Part*>(static_cast<const T*>(a.x) + row * a.x_stride + c);
      dy[k] = *reinterpret_cast<const Part*>(static_cast<const T*>(a.dy) + row * a.dy_stride + c);
    }
#pragma unroll
    for (int k = 0; k < kColumnsInFlight; ++k) {
      const int64_t row = r + k * kColumnWarps;
      if (row >= end) break;
      const float mean = a.centred ? a.mean[row] : 0, rstd = a.rstd[row];
      float of_x[N], of_dy[N];
      to_floats(x[k], of_x);
      to_floats(dy[k], of_dy);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        dgamma[i] += of_dy[i] * ((of_x[i] - mean) * rstd);
        dbeta[i] += of_dy[i];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    shared[warp][0][i][lane] = dgamma[i];
    shared[warp][1][i][lane] = dbeta[i];
  }
  __syncthreads();
  for (int kind = warp; inside && kind < 2 * N; kind += kColumnWarps) {
    float sum = 0;
    for (int w = 0; w < kColumnWarps; ++w) sum += shared[w][kind / N][kind % N][lane];
    float* const to = kind < N ? partials.dgamma : partials.dbeta;
    to[blockIdx.y * a.cols + c + kind % N] = sum;
  }
}

// Enough slices to fill the GPU, of whole turns of a block.
struct Slices {
  int64_t tiles, rows, count;
  Slices(const Args& a, const DeviceInfo& device, int n) {
    constexpr int64_t kTurn = kColumnWarps * kColumnsInFlight;
    tiles = (a.cols + int64_t(n) * kWarpSize - 1) / (int64_t(n) * kWarpSize);
    const int64_t wanted =
        std::max<int64_t>(int64_t(device.sm_count) * kColumnBlocksPerSm / tiles, 1);
    rows = std::max<int64_t>(((a.rows + wanted - 1) / wanted + kTurn - 1) / kTurn * kTurn, kTurn);
    count = std::max<int64_t>((a.rows + rows - 1) / rows, 1);
  }
};
template <class T, int N>
Status launch_column_sums(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Slices slices(a, device, N);
  const Partials partials(a, slices.count);
  layer_norm_column_sums<T, N><<<dim3(unsigned(slices.tiles), unsigned(slices.count)),
                                 kColumnWarps * kWarpSize, 0, stream>>>(a, partials, slices.rows);
  return add_slices(a, partials, stream);
}
inline size_t column_sums_bytes(const Args& a, const DeviceInfo& device, int n) {
  return a.backward ? Partials(a, Slices(a, device, n).count).bytes() : 0;
}

}  // namespace ridge::layer_norm
