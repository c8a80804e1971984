// quantisation rung 05, table_by_shuffle: for nf4, each lane holds one entry of the tables, and
// shuffles look them up.
//
// Since 04_block_in_registers: 03 compares a number with 15 thresholds, and finds a value by
//   15 selections. Here a number is scaled to one of 31 cells with one threshold each: two shuffles
//   and one comparison. Back, one shuffle per code.
// Stops at: one shuffle per cycle and SM, of which quantising takes two per element.
// Not for: formats that are arithmetic: e2m1 takes fewer instructions without a table.
#include "kernels/quantisation/levels.cuh"
#include "kernels/quantisation/nf4_shuffle.cuh"
#include "kernels/quantisation/packs.cuh"
#include "select/select.h"

namespace ridge::quantisation::table_by_shuffle {

constexpr Tuned kTuned = {4.0, 0.85};  // not measured yet: as other streams of one read, one write

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.element != Dtype::nf4) return "quantises to nf4, and back";
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (!a.back && !packs::holds_blocks(a, packs::pack_size_of(a))) return "works on blocks of a row";
  return a.rows * a.cols < int64_t(1) << 40 ? kSupported : "counts elements up to 2^40";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  const Status launched = with_float_type(a.dtype, [&](auto t) {
    return a.back ? packs::launch_dequantise<decltype(t), Nf4ByShuffle>(a, stream)
                  : packs::launch_quantise<decltype(t), Nf4ByShuffle>(a, stream);
  });
  if (launched && !a.back && a.rule == Rule::mean) launch_around_mean(a, stream);
  return launched ? launch_status() : launched;
}
static size_t workspace(const Args& a, const DeviceInfo&) { return levels_bytes(a); }
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "nf4 by tables that the lanes of a warp hold",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::table_by_shuffle
