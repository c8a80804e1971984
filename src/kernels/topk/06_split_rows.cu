// topk rung 06, split_rows: several blocks share a row, and one more finds the best of their best.
//
// Since 05_one_pass: a row is cut into parts, so that few rows fill the device as well as many.
//   Each part leaves its k best keys in memory; a second launch takes the best of those.
// Stops at: HBM for long rows; two launches and the sorts of the buffer for short ones.
// Not for: rows that are many, or not much longer than k: the second launch has nothing to gain.
#include "kernels/topk/stream.cuh"
#include "select/select.h"

namespace ridge::topk::split_rows {

constexpr Tuned kTuned = {16.0, 0.75};  // modelled; to be replaced by a rate measured on an H200
constexpr int kThreads = 1024;
constexpr int kBlocksPerSm = 1;  // long parts, so that thresholds pay

static int64_t parts_of(const Args& a, const DeviceInfo& device) {
  const int64_t wanted = int64_t(kBlocksPerSm) * device.sm_count / a.rows;
  const int64_t most = a.cols / (2 * room_for(a.k));  // a part is worth its start
  return std::max<int64_t>(1, std::min(wanted, most));
}
// Keys that a part leaves: its best, and 0 up to a whole pack.
__host__ __device__ static int kept_of(const Args& a) { return (a.k + 1) / 2 * 2; }

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    topk_parts(Args a, int room, int parts, Key* results) {
  extern __shared__ Key keys[];
  __shared__ int count;
  const int64_t row = blockIdx.x / parts, part = blockIdx.x % parts;
  Candidates best = {keys, room, a.k, &count};
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;
  const int64_t begin = a.cols * part / parts, end = a.cols * (part + 1) / parts;
  stream_best<kThreads>(RowSource<T>{x, begin, end, a.largest}, best);
  best.keep_best();
  const int kept = kept_of(a);
  Key* const mine = results + int64_t(blockIdx.x) * kept;
  for (int i = int(threadIdx.x); i < kept; i += kThreads)
    mine[i] = i < count && i < a.k ? keys[i] : 0;
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    topk_best_of_parts(Args a, int room, int parts, const Key* results) {
  extern __shared__ Key keys[];
  __shared__ int count;
  const int64_t row = blockIdx.x, all = int64_t(parts) * kept_of(a);
  Candidates best = {keys, room, a.k, &count};
  stream_best<kThreads>(KeySource{results + row * all, all}, best);
  best.keep_best();
  write_row<T>(a, row, keys);
}

static size_t workspace(const Args& a, const DeviceInfo& device) {
  return size_t(a.rows * parts_of(a, device) * kept_of(a)) * sizeof(Key);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const int room = room_for(a.k), parts = int(parts_of(a, device));
    const size_t shared = size_t(room) * sizeof(Key);
    Key* const results = static_cast<Key*>(a.workspace);
    topk_parts<T><<<unsigned(a.rows * parts), kThreads, shared, stream>>>(a, room, parts, results);
    topk_best_of_parts<T><<<unsigned(a.rows), kThreads, shared, stream>>>(a, room, parts, results);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double blocks = double(a.rows * parts_of(a, device));
  const double part_us = 12.0 + bytes(a) / blocks / 20e3;  // modelled
  const double streamed = streaming_us(kTuned, bytes(a), device);
  const double waves = blocks / double(device.sm_count * kBlocksPerSm);
  const double alone = 12 + part_us * (waves < 1 ? 1 : waves);
  return alone > streamed ? alone : streamed;
}
constinit const Rung rung = {.idea = "several blocks per row, then the best of their best",
                             .supports = takes_floats,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {// of the tour: 32 of 8192
                                        .global_stores_per_element = (2 * 32.0 + 8 * 32) / 8192}};

}  // namespace ridge::topk::split_rows
