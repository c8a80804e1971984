// warp_scan rung 03, packs: each lane scans four numbers of its own.
//
// Since 02_shuffle: a lane loads and stores 16 bytes, so eight lanes hold a row and a warp scans
//   four rows. Three additions in registers, three shuffles among the eight lanes, and the sum of
//   the lanes before goes to all four numbers.
// Stops at: HBM.
// Not for: rows that do not start at multiples of 16 bytes.
#include "device/from_detail.cuh"
#include "device/warp_per_row.cuh"
#include "kernels/warp_scan/warp_scan.h"

namespace ridge::warp_scan::packs {

constexpr int kThreads = 256;
constexpr int kPack = 4;                      // numbers
constexpr int kLanesPerRow = kLanes / kPack;  // 8

template <class T>
__global__ void __launch_bounds__(kThreads) warp_scan_packs(Args a) {
  const int64_t thread = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = thread / kLanesPerRow;
  const int lane = int(thread % kLanesPerRow);
  const bool is_row = row < a.rows;  // all lanes take part in the shuffles
  Pack<T> pack = {};
  if (is_row) pack = load_pack(static_cast<const T*>(a.in) + row * a.in_stride + lane * kPack);
#pragma unroll
  for (int i = 1; i < kPack; ++i) pack[i] += pack[i - 1];
  T sum = pack[kPack - 1];
#pragma unroll
  for (int distance = 1; distance < kLanesPerRow; distance *= 2) {
    const T before = __shfl_up_sync(~0u, sum, distance, kLanesPerRow);
    if (lane >= distance) sum += before;
  }
  const T before = __shfl_up_sync(~0u, sum, 1, kLanesPerRow);
  if (lane > 0)
#pragma unroll
    for (int i = 0; i < kPack; ++i) pack[i] += before;
  if (is_row) store_pack(static_cast<T*>(a.out) + row * a.out_stride + lane * kPack, pack);
}

static Support supports(const Args& a, const DeviceInfo&) {
  const bool has_packs = is_pack_aligned(a.in) && is_pack_aligned(a.out) &&
                         (a.rows <= 1 || (a.in_stride % kPack == 0 && a.out_stride % kPack == 0));
  if (!has_packs) return "rows start at multiples of 16 bytes";
  return warp_per_row::takes(a);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  const auto launch = [&](auto kernel) {
    const int64_t blocks = (a.rows * kLanesPerRow + kThreads - 1) / kThreads;
    kernel<<<unsigned(blocks), kThreads, 0, stream>>>(a);
    return launch_status();
  };
  return a.dtype == Dtype::i32 ? launch(warp_scan_packs<int>) : launch(warp_scan_packs<float>);
}
constinit const Rung rung = {
    .idea = "four numbers per lane; eight lanes share a row",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 0.25, .global_stores_per_element = 0.25, .barriers = 0}};

}  // namespace ridge::warp_scan::packs
