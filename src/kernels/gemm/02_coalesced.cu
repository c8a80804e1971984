// gemm rung 02, coalesced: the threads of a warp make a piece of one row of d, not of a column.
//
// Since 01_naive: rows and columns have changed places in the thread's index. The 32 threads of a
//   warp read the same element of a, which is one sector for all of them, and 32 neighbours of b,
//   which are four sectors. Stores are coalesced too.
// Stops at: loads. Each multiply-add needs two of them, and the L1 cache answers 128 bytes per
//   clock and SM.
// Not for: matrices beyond a few hundred rows. Nothing is kept: b is read m times.
#include "kernels/gemm/asked.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm::coalesced {

constexpr int kEdge = 32;      // of the tile that a block makes
constexpr int kThreads = 256;  // 8 rows by 32 columns at a time
constexpr int kPasses = kEdge * kEdge / kThreads;

template <class In, class Out, bool kAsked>
__global__ void __launch_bounds__(kThreads) gemm_coalesced(Args args) {
  const auto a = matrix_a<In>(args);  // (m, k)
  const auto b = matrix_b<In>(args);  // (k, n)
  const Results<Out> results(args);
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int64_t col = tile.col + threadIdx.x % kEdge;
  for (int pass = 0; pass < kPasses; ++pass) {
    const int64_t row = tile.row + pass * (kThreads / kEdge) + threadIdx.x / kEdge;
    const bool is_inside = row < args.m && col < args.n;
    if (!kAsked && !is_inside) continue;  // but lanes whose pairs are made ask their neighbours
    float sum = 0;
    for (int64_t k = 0; is_inside && k < args.k; ++k)
      sum = fmaf(to_float(*a.at(row, k)), to_float(*b.at(k, col)), sum);
    if constexpr (!kAsked) {
      results.put(row, col, sum);
    } else if (args.epilogue.swiglu) {
      const float next = __shfl_down_sync(0xffffffff, sum, 1);
      if (col % 2 == 0) put_asked<Out, 2>(args, row, col, {sum, next});
    } else {
      put_asked<Out, 1>(args, row, col, {sum});
    }
  }
}

static Support supports(const Args&, const DeviceInfo&) { return kSupported; }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return with_formats(args, [&](auto in, auto out) {
    return with_asked(args, stream, [&](auto asked) {
      return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
        gemm_coalesced<decltype(in), decltype(out), asked.value>
            <<<grid, kThreads, 0, stream>>>(part);
      });
    });
  });
}
constinit const Rung rung = {.idea = "a warp makes part of a row: coalesced loads",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::gemm::coalesced
