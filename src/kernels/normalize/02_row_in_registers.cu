// normalize rung 02, row_in_registers: lanes keep what they have read until the norm is known.
//
// Since 01_two_passes: every element is read once, 16 bytes a lane and load, all of a row's loads
//   under way together; a few lanes, a warp or a block take a row, so that short rows fill them.
//   Rows that no block can hold are read twice, the second time from the L2.
// Stops at: HBM; where there are fewer rows than SMs, at idle ones (03 shares a row).
#include "kernels/normalize/scale.cuh"
#include "select/select.h"

namespace ridge::normalize::row_in_registers {

constexpr Tuned kTuned = {3.0, 0.90};
constexpr double kSecondRead = 0.1;  // of a row still in the L2, in first reads
constexpr int kLongThreads = 1024, kLongUnroll = 4;
constexpr int64_t kMostPacks = 1024 * 8;  // that a block can hold

// Lanes that take a row, with Packs registers of 16 bytes each.
template <int Lanes, int Packs, class Norm, class T>
__global__ void __launch_bounds__(Lanes < 256 ? 256 : Lanes)
    normalize_row_in_registers(Norm norm, Args a) {
  constexpr int kThreads = Lanes < 256 ? 256 : Lanes;
  constexpr int kEdges = (kMostEdges<T> + Lanes - 1) / Lanes;  // of a lane
  const int lane = int(threadIdx.x) % Lanes;
  const int64_t index = int64_t(blockIdx.x) * (kThreads / Lanes) + threadIdx.x / Lanes;
  const bool there = index < a.rows;  // rows that are not there keep their lanes company
  const CutRow<T> row(a, there ? index : 0);
  const int packs = there ? int(row.packs) : 0, edges = there ? row.edges() : 0;

  Pack<T> held[Packs];
  T at_edge[kEdges];
#pragma unroll
  for (int k = 0; k < Packs; ++k)
    if (lane + k * Lanes < packs) held[k] = row.template load<false>(lane + k * Lanes);
#pragma unroll
  for (int k = 0; k < kEdges; ++k)
    if (lane + k * Lanes < edges) at_edge[k] = row.x[row.edge(lane + k * Lanes)];

  float sum = 0;
#pragma unroll
  for (int k = 0; k < Packs; ++k)
    if (lane + k * Lanes < packs) reduction::fold(norm, sum, 0, held[k]);
#pragma unroll
  for (int k = 0; k < kEdges; ++k)
    if (lane + k * Lanes < edges) sum += norm.transform(to_float(at_edge[k]));
  if constexpr (Lanes <= reduction::kWarpSize) sum = reduction::warp_combine<Lanes>(norm, sum);
  else sum = reduction::block_combine_for_all<Lanes>(norm, sum);

  const Divide scale(a, norm.finish(sum));
#pragma unroll
  for (int k = 0; k < Packs; ++k)
    if (lane + k * Lanes < packs) row.store(lane + k * Lanes, scaled(scale, held[k]));
#pragma unroll
  for (int k = 0; k < kEdges; ++k)
    if (lane + k * Lanes < edges)
      row.out[row.edge(lane + k * Lanes)] = from_float<T>(scale(to_float(at_edge[k])));
}

// A block a row, read twice.
template <class Norm, class T>
__global__ void __launch_bounds__(kLongThreads) normalize_long_rows(Norm norm, Args a) {
  const CutRow<T> row(a, blockIdx.x);
  const int t = int(threadIdx.x);
  float sum = 0;
  reduction::for_packs<kLongUnroll, Pack<T>>(
      int64_t(t), int64_t(kLongThreads), row.packs,
      [&](Pack<T>& x, int64_t pack) { x = row.template load<true>(pack); },
      [&](const Pack<T>& x, int64_t) { reduction::fold(norm, sum, 0, x); });
  if (t < row.edges()) sum += norm.transform(to_float(row.x[row.edge(t)]));
  sum = reduction::block_combine_for_all<kLongThreads>(norm, sum);
  const Divide scale(a, norm.finish(sum));
  reduction::for_packs<kLongUnroll, Pack<T>>(
      int64_t(t), int64_t(kLongThreads), row.packs,
      [&](Pack<T>& x, int64_t pack) { x = row.template load<false>(pack); },
      [&](const Pack<T>& x, int64_t pack) { row.store(pack, scaled(scale, x)); });
  if (t < row.edges()) row.out[row.edge(t)] = from_float<T>(scale(to_float(row.x[row.edge(t)])));
}

template <int Lanes, int Packs, class Norm, class T>
static void launch_rows(Norm norm, T, const Args& a, cudaStream_t stream) {
  constexpr int kThreads = Lanes < 256 ? 256 : Lanes, kRows = kThreads / Lanes;
  normalize_row_in_registers<Lanes, Packs, Norm, T>
      <<<unsigned((a.rows + kRows - 1) / kRows), kThreads, 0, stream>>>(norm, a);
}

static int64_t packs_of(const Args& a) { return a.cols * int64_t(size_of(a.dtype)) / kPackBytes; }

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.kind == Kind::clip) return "a vector is one row, and one block would have to read it all";
  return supports_all(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const int64_t packs = packs_of(a);
  return with_norm(a, [&](auto norm, auto t) {
    if (packs <= 8 * 4) launch_rows<8, 4>(norm, t, a, stream);
    else if (packs <= 32 * 4) launch_rows<32, 4>(norm, t, a, stream);
    else if (packs <= 32 * 8) launch_rows<32, 8>(norm, t, a, stream);
    else if (packs <= 256 * 4) launch_rows<256, 4>(norm, t, a, stream);
    else if (packs <= 256 * 8) launch_rows<256, 8>(norm, t, a, stream);
    else if (packs <= kMostPacks) launch_rows<1024, 8>(norm, t, a, stream);
    else
      normalize_long_rows<decltype(norm), decltype(t)>
          <<<unsigned(a.rows), kLongThreads, 0, stream>>>(norm, a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  double traffic = bytes(a);
  if (packs_of(a) > kMostPacks) {
    const double under_way = double(std::min<int64_t>(a.rows, 2 * device.sm_count)) *
                             double(a.cols) * double(size_of(a.dtype));
    traffic += bytes(a) / 2 * (under_way > double(device.l2_bytes) / 2 ? 1 : kSecondRead);
  }
  // A row of more than a warp's packs has an SM at most.
  const double busy = packs_of(a) <= 32 * 8 ? 1 : std::min(1.0, double(a.rows) / device.sm_count);
  return streaming_us(kTuned, traffic / busy, device);
}
constinit const Rung rung = {.name = "row_in_registers",
                             .idea = "a row is kept until its norm is known",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost};

}  // namespace ridge::normalize::row_in_registers
