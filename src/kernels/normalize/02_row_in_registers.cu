// normalize rung 02, row_in_registers: lanes keep what they have read until the norm is known.
//
// Since 01_two_passes: every element is read once. Each load brings 16 bytes, and all loads of a
//   row are under way together. A few lanes, a warp or a block take a row, depending on its length.
//   Rows that no block can hold are read twice, the second time from the L2.
// Stops at: HBM; at idle SMs, if there are fewer rows than SMs (03 lets all SMs share a row).
// Not for: fewer rows than SMs, and rows that no block holds (03).
#include "device/row.cuh"
#include "kernels/normalize/scale.cuh"
#include "select/select.h"

namespace ridge::normalize::row_in_registers {

constexpr Tuned kTuned = {3.0, 0.90};
constexpr double kSecondRead = 0.1;  // of a row still in the L2, in first reads
constexpr int kLongThreads = 1024, kLongUnroll = 4;
constexpr int64_t kMostSlots = 1024 * 8;  // that a block can hold

// Lanes that take a row, with Packs registers of 16 bytes each.
template <int Lanes>
constexpr int kThreads = Lanes <= reduction::kWarpSize ? 256 : Lanes;
template <int Lanes, int Packs, class Norm, class T>
__global__ void __launch_bounds__(kThreads<Lanes>) normalize_row_in_registers(Norm norm, Args a) {
  const int lane = int(threadIdx.x) % Lanes;
  const int64_t index = int64_t(blockIdx.x) * (kThreads<Lanes> / Lanes) + threadIdx.x / Lanes;
  const int64_t r = min(index, a.rows - 1);
  T* const out = static_cast<T*>(a.out) + r * a.out_stride;
  // Lanes past the end take part in the shuffles. They must not read, since the row may be replaced
  // in place, so for them it has no columns.
  const RowSlots<T> slots(out, index < a.rows ? int(a.cols) : 0);
  Pack<T> held[Packs];
  load_row(held, static_cast<const T*>(a.x) + r * a.x_stride, slots, lane, Lanes,
           from_float<T>(0));  // which no norm counts

  float sum = 0;
#pragma unroll
  for (int p = 0; p < Packs; ++p) reduction::fold(norm, sum, 0, held[p]);
  if constexpr (Lanes <= reduction::kWarpSize) sum = reduction::warp_combine<Lanes>(norm, sum);
  else sum = reduction::block_combine_for_all<Lanes>(norm, sum);

  const Divide scale(a, norm.finish(sum));
  store_row<T, Packs>(out, slots, lane, Lanes, [&](int p) { return scaled(scale, held[p]); });
}

// One block per row, which is read twice.
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
  constexpr int kRows = kThreads<Lanes> / Lanes;
  normalize_row_in_registers<Lanes, Packs, Norm, T>
      <<<unsigned((a.rows + kRows - 1) / kRows), kThreads<Lanes>, 0, stream>>>(norm, a);
}

static int64_t slots_of(const Args& a) {
  return most_slots(a.out, a.rows, a.cols, a.out_stride, int64_t(size_of(a.dtype)));
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.kind == Kind::clip) return "a vector is one row, and one block would have to read it all";
  return supports_all(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const int64_t slots = slots_of(a);
  return with_norm(a, [&](auto norm, auto t) {
    if (slots <= 8 * 4) launch_rows<8, 4>(norm, t, a, stream);
    else if (slots <= 32 * 4) launch_rows<32, 4>(norm, t, a, stream);
    else if (slots <= 32 * 8) launch_rows<32, 8>(norm, t, a, stream);
    else if (slots <= 128 * 4) launch_rows<128, 4>(norm, t, a, stream);
    else if (slots <= 256 * 4) launch_rows<256, 4>(norm, t, a, stream);
    else if (slots <= 256 * 8) launch_rows<256, 8>(norm, t, a, stream);
    else if (slots <= kMostSlots) launch_rows<1024, 8>(norm, t, a, stream);
    else
      normalize_long_rows<decltype(norm), decltype(t)>
          <<<unsigned(a.rows), kLongThreads, 0, stream>>>(norm, a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  double traffic = bytes(a);
  if (slots_of(a) > kMostSlots) {
    const double under_way = double(std::min<int64_t>(a.rows, 2 * device.sm_count)) *
                             double(a.cols) * double(size_of(a.dtype));
    traffic += bytes(a) / 2 * (under_way > double(device.l2_bytes) / 2 ? 1 : kSecondRead);
  }
  // A row of more than a warp's packs has an SM at most.
  const double busy = slots_of(a) <= 32 * 8 ? 1 : std::min(1.0, double(a.rows) / device.sm_count);
  return streaming_us(kTuned, traffic / busy, device);
}
constinit const Rung rung = {.idea = "a row is kept until its norm is known",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_loads_per_element = 0.25,
                                        .global_stores_per_element = 0.25,
                                        .conflict_free = true}};

}  // namespace ridge::normalize::row_in_registers
