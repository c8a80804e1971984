// gemv rung 04, vectors: 16 bytes a lane and load, eight loads of A under way.
//
// Since 03_block_per_row: a lane has four packs of each of two rows under way, 128 bytes instead of
//   4; a pack of x serves both rows, from L1; as many lanes work on a row as it has packs for; and
//   where there are too few rows to go round, several blocks share a row and a second, tiny kernel
//   adds their sums, always in the same order.
// Stops at: HBM. Every byte of A is read once; x comes from L1.
// Not for: several vectors x at once. That is a matrix product, whose A serves all of them.
//
// A row is packs in the middle and up to 30 elements at its edges, a lane each: what comes before
// A's first 16-byte boundary, what is left at the end, and, where x is at another distance from its
// boundary than A (not congruent), the packs whose x is not inside two aligned packs of x.
#include <algorithm>

#include "device/convert_pack.cuh"
#include "device/lanes.cuh"
#include "device/shifted.cuh"
#include "kernels/gemv/finish.cuh"
#include "select/select.h"

namespace ridge::gemv::vectors {

// Packs of a row a lane has under way, and the warps an SM then has registers for. A short row is
// one pack a lane: there, many small warps take the place of many loads.
template <int Lanes>
constexpr int kUnroll = Lanes < kWarpSize ? 1 : 4;
constexpr int warps_per_sm(int lanes, size_t element) {
  return lanes < kWarpSize ? 48 : element == 2 ? 20 : 24;
}
constexpr int kRows = 2;           // that share a pack of x
constexpr double kLeastWaves = 4;  // of blocks, else the last one leaves much of the GPU idle
constexpr double kLargeBytes = 64 << 20;  // of A: a second kernel for even waves pays from here
constexpr Tuned kTuned = {3.0, 0.92};

template <int Lanes>
constexpr int kThreads = Lanes > 128 ? Lanes : 128;

// The packs in the middle of a row: columns begin … begin + packs * kPackSize.
struct Middle {
  int begin;
  int64_t packs;
};
template <bool Congruent, class T>
__device__ __forceinline__ Middle middle_of(const T* a, const T* x, int64_t cols) {
  constexpr int kSize = kPackSize<T>;
  int begin = elements_to_alignment(a);
  int64_t packs = (cols - begin) / kSize;  // rounds up to 0 where the row ends before
  if (!Congruent && packs > 0) {
    const int before = int(reinterpret_cast<uintptr_t>(x + begin) % kPackBytes / sizeof(T));
    if (before > begin) {
      begin += kSize;
      --packs;
    }
    if (before > 0 && begin + packs * kSize + (kSize - before) > cols) --packs;
  }
  return {begin, max(packs, int64_t(0))};
}

// Lanes: threads that share a row; up to 32 of them are part of a warp, more are the block.
template <class T, int Lanes, int Rows, bool Congruent>
__global__ void __launch_bounds__(kThreads<Lanes>,
                                  warps_per_sm(Lanes, sizeof(T)) * kWarpSize / kThreads<Lanes>)
    gemv_vectors(Args args, int64_t packs_per_split) {
  constexpr int kSize = kPackSize<T>, kUnroll = vectors::kUnroll<Lanes>;
  static_assert(Congruent || Rows == 1, "rows at different distances share no pack of x");
  const int lane = threadIdx.x % Lanes;
  const int64_t first_row =
      (int64_t(blockIdx.x) * (kThreads<Lanes> / Lanes) + threadIdx.x / Lanes) * Rows;
  const T* const x = static_cast<const T*>(args.x);  // (cols)
  const T* a[Rows];                                  // (Rows, cols)
#pragma unroll
  for (int r = 0; r < Rows; ++r)  // past the end: the last row once more, so that shuffles are full
    a[r] = static_cast<const T*>(args.a) + min(first_row + r, args.rows - 1) * args.a_stride;

  const auto [begin, packs] = middle_of<Congruent>(a[0], x, args.cols);
  const int edges = blockIdx.y == 0 ? int(args.cols - packs * kSize) : 0;
  const auto edge_column = [&](int e) { return e < begin ? e : e + packs * kSize; };
  float edge_a[Rows] = {}, edge_x = 0;
  if (lane < edges) {
    const int64_t c = edge_column(lane);
    edge_x = to_float(x[c]);
#pragma unroll
    for (int r = 0; r < Rows; ++r) edge_a[r] = to_float(a[r][c]);
  }

  // Row by row, x is the same number of bytes past its boundary at every pack.
  const int shift = Congruent ? 0 : int(reinterpret_cast<uintptr_t>(x + begin) % kPackBytes);
  const int4* const x_packs =
      reinterpret_cast<const int4*>(reinterpret_cast<uintptr_t>(x + begin) - uintptr_t(shift));
  float sums[Rows][kUnroll] = {};
  const auto add = [&](int64_t p, auto inside) {  // packs p, p + Lanes, … where they are inside
    Pack<T> packs_a[Rows][kUnroll];
    int4 packs_x[kUnroll], next_x[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        packs_a[r][u] = {};  // all bits 0 are zeros
        if (inside(u)) packs_a[r][u] = load_pack(a[r] + begin + (p + u * Lanes) * kSize);
      }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      packs_x[u] = next_x[u] = {};
      if (inside(u)) packs_x[u] = __ldg(x_packs + p + u * Lanes);
      if (!Congruent && inside(u) && shift) next_x[u] = __ldg(x_packs + p + u * Lanes + 1);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const auto factors =
          bytes_as<Pack<T>>(Congruent ? packs_x[u] : shifted(packs_x[u], next_x[u], shift));
      float fx[kSize], fa[kSize];
      to_floats(factors, fx);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        to_floats(packs_a[r][u], fa);
#pragma unroll
        for (int i = 0; i < kSize; ++i) sums[r][u] = fmaf(fa[i], fx[i], sums[r][u]);
      }
    }
  };
  const int64_t end = min(packs, (int64_t(blockIdx.y) + 1) * packs_per_split);
  int64_t p = int64_t(blockIdx.y) * packs_per_split;  // of lane 0, so that all lanes turn alike
  for (; p + Lanes * kUnroll <= end; p += Lanes * kUnroll) add(p + lane, [](int) { return true; });
  if (p < end) add(p + lane, [&](int u) { return p + lane + u * Lanes < end; });

  float sum[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    sum[r] = edge_a[r] * edge_x;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) sum[r] += sums[r][u];
    if constexpr (Lanes < kWarpSize) {  // fewer lanes than edges
      for (int e = lane + Lanes; e < edges; e += Lanes) {
        const int64_t c = edge_column(e);
        sum[r] = fmaf(to_float(a[r][c]), to_float(x[c]), sum[r]);
      }
    }
    sum[r] = lanes_sum(sum[r], Lanes);
  }
  const auto put = [&](int64_t row, float total) {
    if (row >= args.rows) return;
    if (gridDim.y == 1) finish<T>(args, row, total);
    else static_cast<float*>(args.workspace)[row * gridDim.y + blockIdx.y] = total;
  };
  if constexpr (Lanes <= kWarpSize) {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      if (lane == r % Lanes) put(first_row + r, sum[r]);
  } else {
    constexpr int kWarps = Lanes / kWarpSize;
    __shared__ float partial[Rows][kWarps];
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      if (lane % kWarpSize == 0) partial[r][lane / kWarpSize] = sum[r];
    __syncthreads();
    if (lane >= Rows) return;
    float total = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total += partial[lane][w];
    put(first_row + lane, total);
  }
}

// A warp adds what the blocks of one row left.
constexpr int kCombineWarps = 4;
template <class T>
__global__ void __launch_bounds__(kCombineWarps* kWarpSize) gemv_combine(Args args, int splits) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t row = int64_t(blockIdx.x) * kCombineWarps + threadIdx.x / kWarpSize;
  if (row >= args.rows) return;  // the whole warp
  const float* partial = static_cast<const float*>(args.workspace) + row * splits;  // (splits)
  float sum = 0;
  for (int s = lane; s < splits; s += kWarpSize) sum += partial[s];
  sum = lanes_sum(sum, kWarpSize);
  if (lane == 0) finish<T>(args, row, sum);
}

// How the work is cut; the same for `workspace` and `launch`.
struct Plan {
  bool congruent;
  int lanes;
  int64_t blocks;
  int64_t splits, packs_per_split;
};
static Plan plan_for(const Args& a, const DeviceInfo& device) {
  const auto size = int64_t(size_of(a.dtype));
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  Plan plan;
  plan.congruent =
      phase(a.a) == phase(a.x) && (a.rows == 1 || uint64_t(a.a_stride * size) % kPackBytes == 0);
  const int64_t packs = a.cols * size / kPackBytes;
  plan.lanes = packs <= 4     ? 4
               : packs <= 8   ? 8
               : packs <= 16  ? 16
               : packs < 512  ? 32
               : packs < 4096 ? 128
                              : 256;
  const int threads = std::max(plan.lanes, kThreads<1>);
  const int64_t rows_a_block = threads / plan.lanes * (plan.congruent ? kRows : 1);
  plan.blocks = (a.rows + rows_a_block - 1) / rows_a_block;
  const int64_t resident =
      int64_t(device.sm_count) * warps_per_sm(plan.lanes, size_t(size)) * kWarpSize / threads;
  const double waves = double(plan.blocks) / double(resident);
  const bool is_large = double(a.rows) * double(a.cols) * double(size) >= kLargeBytes;
  const double wanted = is_large ? kLeastWaves / waves : waves < 1 ? 1 / waves : 1;
  const int64_t most = std::clamp<int64_t>(packs / (plan.lanes * kUnroll<kWarpSize>), 1, 65535);
  plan.splits = std::clamp<int64_t>(int64_t(wanted + 0.999), 1, most);
  plan.packs_per_split = (packs + plan.splits - 1) / plan.splits;
  return plan;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  if (a.rows == 0) return 0;
  const Plan plan = plan_for(a, device);
  return plan.splits == 1 ? 0 : size_t(a.rows * plan.splits) * sizeof(float);
}

template <class T, int Lanes>
static void launch_lanes(const Args& a, const Plan& plan, cudaStream_t stream) {
  const dim3 grid(unsigned(plan.blocks), unsigned(plan.splits));
  if (plan.congruent)
    gemv_vectors<T, Lanes, kRows, true>
        <<<grid, kThreads<Lanes>, 0, stream>>>(a, plan.packs_per_split);
  else
    gemv_vectors<T, Lanes, 1, false><<<grid, kThreads<Lanes>, 0, stream>>>(a, plan.packs_per_split);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  const Plan plan = plan_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    switch (plan.lanes) {
      case 4: launch_lanes<T, 4>(a, plan, stream); break;
      case 8: launch_lanes<T, 8>(a, plan, stream); break;
      case 16: launch_lanes<T, 16>(a, plan, stream); break;
      case 32: launch_lanes<T, 32>(a, plan, stream); break;
      case 128: launch_lanes<T, 128>(a, plan, stream); break;
      default: launch_lanes<T, 256>(a, plan, stream);
    }
    if (const Status s = launch_status(); !s || plan.splits == 1) return s;
    gemv_combine<T><<<unsigned((a.rows + kCombineWarps - 1) / kCombineWarps),
                      kCombineWarps * kWarpSize, 0, stream>>>(a, int(plan.splits));
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes_read(a) + bytes_written(a), device);
}
constinit const Rung rung = {.name = "vectors",
                             .idea = "16 bytes a lane, two rows share x, blocks share rows",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost};

}  // namespace ridge::gemv::vectors
