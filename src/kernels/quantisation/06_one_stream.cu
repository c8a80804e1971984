// quantisation rung 06, one_stream: rows without gaps are one stream of packs, and the rule of the
// scale is known to the compiler.
//
// Since 05_table_by_shuffle: most instructions of 03 and 05 were not for elements. They found the
//   place of a pack, asked whether all of it is there, and chose among rules. Here the number of a
//   pack is its place. A block has one division: amax / largest takes three multiplications, as the
//   elements do, and one shuffle carries the maxima of two packs. e2m1 is the minimum of three
//   straight lines. Where x is read twice, the second pass begins at the end of x, which the L2
//   cache still has.
// Stops at: HBM; nf4 at the instructions of its table.
// Not for: rows with gaps, rows of other lengths, scales that are given: 03 and 05 do them.
#include "kernels/quantisation/e2m1_by_minimum.cuh"
#include "kernels/quantisation/levels.cuh"
#include "kernels/quantisation/nf4_shuffle.cuh"
#include "kernels/quantisation/stream.cuh"
#include "select/select.h"

namespace ridge::quantisation::one_stream {

constexpr Tuned kTuned = {4.0, 0.86};  // not measured yet: what the model says

static Support supports(const Args& a, const DeviceInfo&) {
  return a.back ? stream::supports(a) : stream::supports_quantise(a);
}
template <class Codec>
static Status launched(const Args& a, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return a.back ? stream::launch_dequantise<T, Codec>(a, stream)
                  : stream::launch_quantise<T, Codec>(a, stream);
  });
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  const Status done = [&] {
    switch (a.element) {
      case Dtype::i8: return launched<Direct<Dtype::i8>>(a, stream);
      case Dtype::e4m3: return launched<Direct<Dtype::e4m3>>(a, stream);
      case Dtype::e5m2: return launched<Direct<Dtype::e5m2>>(a, stream);
      case Dtype::e2m1: return launched<E2m1ByMinimum>(a, stream);
      default: return launched<Nf4ByShuffle>(a, stream);
    }
  }();
  if (done && !a.back && a.rule == Rule::mean) launch_around_mean(a, stream);
  return done ? launch_status() : done;
}
static size_t workspace(const Args& a, const DeviceInfo&) { return levels_bytes(a); }
static double cost(const Args& a, const DeviceInfo& device) {
  const bool twice = !a.back && (a.is_whole || a.rule == Rule::shared);
  const double again = twice ? double(a.rows) * double(a.cols) * double(size_of(a.dtype)) : 0;
  return streaming_us(kTuned, bytes(a) + again, device);
}
constinit const Rung rung = {.idea = "no places to find: one stream, one rule",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::one_stream
