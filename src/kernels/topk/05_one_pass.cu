// topk rung 05, one_pass: read the row once, and keep only what is above the k-th best so far.
//
// Since 04_radix_select: no element is read twice, and nearly none meets an atomic: after a short
//   start, one comparison decides. Loads bring 16 bytes per lane, and those of the next step are
//   under way during this one (stream.cuh has the loop).
// Stops at: HBM, with many rows.
// Not for: few rows: each row has one block. Rows that rise, which fill the buffer again and again.
#include "kernels/topk/stream.cuh"
#include "select/select.h"

namespace ridge::topk::one_pass {

constexpr Tuned kTuned = {6.0, 0.75};  // modelled; to be replaced by a rate measured on an H200
constexpr double kRowStart_us = 6.0;   // two sorts of the buffer
constexpr int kBlocksPerSm = 6;

template <class T>
__global__ void __launch_bounds__(kStreamThreads, kBlocksPerSm) topk_one_pass(Args a, int room) {
  extern __shared__ Key keys[];
  __shared__ int count;
  const int64_t row = blockIdx.x;
  Candidates best = {keys, room, a.k, &count};
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;
  stream_best(RowSource<T>{x, 0, a.cols, a.largest}, best);
  best.keep_best();
  write_row<T>(a, row, keys);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    const int room = room_for(a.k);
    topk_one_pass<decltype(t)>
        <<<unsigned(a.rows), kStreamThreads, size_t(room) * sizeof(Key), stream>>>(a, room);
    return launch_status();
  });
}
// One block reads about 10 GB/s by itself; together they are as fast as the memory.
static double cost(const Args& a, const DeviceInfo& device) {
  const double row_us = kRowStart_us + bytes(a) / double(a.rows) / 10e3;
  const double waves = double(a.rows) / double(device.sm_count * kBlocksPerSm);
  const double alone = row_us * (waves < 1 ? 1 : waves);
  const double streamed = streaming_us(kTuned, bytes(a), device);
  return alone > streamed ? alone : streamed;
}
constinit const Rung rung = {
    .idea = "one pass: only what beats the k-th so far is kept",
    .supports = takes_floats,
    .launch = launch,
    .cost = cost,
    .claims = {// How often a candidate is loaded again depends on the numbers.
               .global_stores_per_element = 2 * 32.0 / 8192}};  // of the tour

}  // namespace ridge::topk::one_pass
