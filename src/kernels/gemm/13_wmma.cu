// gemm rung 13, wmma: a warp makes 16 by 16 results with the tensor cores, from global memory.
//
// Since 12_cp_async: operands have 16 bits, and one instruction of a warp multiplies 16 by 16 by 16
//   elements: 4096 multiply-adds, as many as 128 fmaf of a warp. C++ has it as wmma: fragments,
//   whose layout over the lanes is left open, are loaded, multiplied and stored as a whole.
// Stops at: loads. Each fragment comes from global memory and serves one product, so the tensor
//   cores wait for the L1 and L2 caches nearly all of the time.
// Not for: sizes that are no multiples of 16. Fragments are loaded whole.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/wmma.cuh"

namespace ridge::gemm::wmma {

using namespace by_wmma;

constexpr int kWarps = 4;  // 2 by 2 fragments
constexpr int kTile = 2 * by_wmma::kEdge;

template <class TurnedA, class TurnedB>
__global__ void __launch_bounds__(kWarps * 32) gemm_wmma(Args args) {
  namespace wmma = nvcuda::wmma;
  __shared__ Staging staging[kWarps];
  const auto a = matrix_a<T>(args);  // (m, k)
  const auto b = matrix_b<T>(args);  // (k, n)
  const auto pitch_a = unsigned(TurnedA::value ? a.col_step : a.row_step);
  const auto pitch_b = unsigned(TurnedB::value ? b.row_step : b.col_step);
  const TilePlace tile = tile_place(args, kTile, kTile);
  const int warp = int(threadIdx.x) / 32;
  const int64_t row = tile.row + warp / 2 * by_wmma::kEdge;
  const int64_t col = tile.col + warp % 2 * by_wmma::kEdge;
  if (row >= args.m || col >= args.n) return;  // sizes are multiples of 16: the whole fragment
  Sums sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int64_t k = 0; k < args.k; k += by_wmma::kEdge) {
    FragmentA<TurnedA::value> x;
    FragmentB<TurnedB::value> y;
    wmma::load_matrix_sync(x, a.at(row, k), pitch_a);
    wmma::load_matrix_sync(y, b.at(k, col), pitch_b);
    wmma::mma_sync(sums, x, y, sums);
  }
  put(args, staging[warp], row, col, sums);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::bf16) return "this lesson multiplies bf16";
  if (const Support plain = only_plain(a); !plain) return plain;
  if (a.m % 16 != 0 || a.n % 16 != 0 || a.k % 16 != 0) return "sizes must be multiples of 16";
  const auto fits = [&](const Matrices& x) {
    const int64_t pitch = x.col_step == 1 ? x.row_step : x.col_step;
    return (x.row_step == 1 || x.col_step == 1) && pitch % 8 == 0 && pitch < (int64_t(1) << 31) &&
           (a.batch <= 1 || x.batch_step % 16 == 0) &&
           reinterpret_cast<uintptr_t>(x.data) % 32 == 0;
  };
  return fits(a.a) && fits(a.b) ? kSupported
                                : "matrices must begin at multiples of 32 bytes, rows of 16";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return with_turns(args, [&](auto a, auto b) {
    return launch_tiles(args, kTile, kTile, [&](const Args& part, dim3 grid) {
      gemm_wmma<decltype(a), decltype(b)><<<grid, kWarps * 32, 0, stream>>>(part);
    });
  });
}
constinit const Rung rung = {.idea = "tensor cores, on fragments from global memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 0.5, .barriers = 0}};

}  // namespace ridge::gemm::wmma
