// quantisation rung 03, vectors: each lane loads 16 bytes of x at once, two packs under way, and
// stores all codes of a pack as one word.
//
// Since 02_warp_per_block: a quarter to an eighth of the loads and stores. The formats are known to
//   the compiler, so conversions have no branches. A division by the scale takes six
//   multiplications and additions, because its reciprocal is made once per pack. Dequantise stores
//   16 bytes per lane.
// Stops at: the conversions of nf4, which take about thirty instructions per element; x is read
//   twice where one scale belongs to the whole tensor, which nothing can avoid.
// Not for: blocks of a row or a square: its maximum has to be known before the first element is.
#include "kernels/quantisation/levels.cuh"
#include "kernels/quantisation/packs.cuh"
#include "select/select.h"

namespace ridge::quantisation::vectors {

constexpr Tuned kTuned = {4.0, 0.80};  // not measured yet: as other streams of one read, one write

static Support supports(const Args& a, const DeviceInfo&) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.rows * a.cols >= int64_t(1) << 40) return "counts elements up to 2^40";
  if (!a.back && !a.is_whole && !packs::holds_blocks(a, packs::pack_size_of(a)))
    return "works on blocks of a row that a warp holds, or on one scale for all";
  return kSupported;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  const Status launched = with_codec(a.element, [&](auto codec) {
    return with_float_type(a.dtype, [&](auto t) {
      return a.back ? packs::launch_dequantise<decltype(t), decltype(codec)>(a, stream)
                    : packs::launch_quantise<decltype(t), decltype(codec)>(a, stream);
    });
  });
  if (launched && !a.back && a.rule == Rule::mean) launch_around_mean(a, stream);
  return launched ? launch_status() : launched;
}
static size_t workspace(const Args& a, const DeviceInfo&) { return levels_bytes(a); }
static double cost(const Args& a, const DeviceInfo& device) {
  const bool twice = !a.back && !a.is_given && (a.is_whole || a.rule == Rule::shared);
  const double again = twice ? double(a.rows) * double(a.cols) * double(size_of(a.dtype)) : 0;
  return streaming_us(kTuned, bytes(a) + again, device);
}
constinit const Rung rung = {.idea = "16 bytes per load, codes stored by the word",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::vectors
