// gemm rung 01, naive: three loops. A thread makes one element of d; the 32 threads of a warp make
// a piece of one column.
//
// Stops at: sectors. The threads of a warp read 32 rows of a at the same k, so each load touches 32
//   sectors of 32 bytes and uses 4 bytes of each, and each store does the same to d. With the
//   columns of a contiguous (a transposed), the loads are fine and the stores are not.
// Not for: anything but reading. It is the definition, written down.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::naive {

constexpr int kEdge = 32;      // of the tile that a block makes
constexpr int kThreads = 256;  // 32 rows by 8 columns at a time
constexpr int kPasses = kEdge * kEdge / kThreads;

template <class In, class Out>
__global__ void __launch_bounds__(kThreads) gemm_naive(Args args) {
  const auto a = matrix_a<In>(args);  // (m, k)
  const auto b = matrix_b<In>(args);  // (k, n)
  const Results<Out> results(args);
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int64_t row = tile.row + threadIdx.x % kEdge;
  for (int pass = 0; pass < kPasses; ++pass) {
    const int64_t col = tile.col + pass * (kThreads / kEdge) + threadIdx.x / kEdge;
    if (row >= args.m || col >= args.n) continue;
    float sum = 0;
    for (int64_t k = 0; k < args.k; ++k)
      sum = fmaf(to_float(*a.at(row, k)), to_float(*b.at(k, col)), sum);
    results.put(row, col, sum);
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return only_plain(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return with_formats(args, [&](auto in, auto out) {
    return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
      gemm_naive<decltype(in), decltype(out)><<<grid, kThreads, 0, stream>>>(part);
    });
  });
}
constinit const Rung rung = {.idea = "three loops: one thread, one element of d",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::gemm::naive
