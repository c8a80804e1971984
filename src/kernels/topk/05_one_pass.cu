// topk rung 05, one_pass: read the row once, and keep only what is above the k-th best so far.
//
// Since 04_radix_select: no element is read twice, and nearly none meets an atomic: after a short
//   start, one comparison decides for 16 bytes. Loads bring 16 bytes per lane, and those of the
//   next step are under way during this one (stream.cuh has the loop). Where rows are few and long,
//   blocks are larger: each SM then has one or two rows, whose loads have to fill the memory.
// Stops at: HBM, with many rows.
// Not for: few rows: each row has one block. Rows that rise, which fill the buffer again and again.
#include "kernels/topk/stream.cuh"
#include "select/select.h"

namespace ridge::topk::one_pass {

constexpr Tuned kTuned = {6.0, 0.75};  // modelled; to be replaced by a rate measured on an H200
constexpr double kRowStart_us = 10.0;  // modelled: the launch, and sorts of the buffer
constexpr int kThreadsOfSm = 1024;     // that leaves them 64 registers

template <class T, int Threads>
__global__ void __launch_bounds__(Threads, kThreadsOfSm / Threads) topk_one_pass(Args a, int room) {
  extern __shared__ Key keys[];
  __shared__ int count;
  const int64_t row = blockIdx.x;
  Candidates best = {keys, room, a.k, &count};
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;
  stream_best<Threads>(RowSource<T>{x, 0, a.cols, a.largest}, best);
  best.keep_best();
  write_row<T>(a, row, keys);
}

// Modelled: 1024 threads for one row take no less time than 512, because more warps have
// candidates.
static int threads_of(const Args& a, const DeviceInfo& device) {
  const bool are_few = a.rows <= 2 * device.sm_count;
  const bool are_long = a.cols * int64_t(size_of(a.dtype)) >= 2 * kUnroll * kPackBytes * 512;
  return are_few && are_long ? 512 : 256;
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    const auto with = [&](auto threads) {
      const int room = room_for(a.k);
      topk_one_pass<decltype(t), threads.value>
          <<<unsigned(a.rows), threads.value, size_t(room) * sizeof(Key), stream>>>(a, room);
      return launch_status();
    };
    return threads_of(a, device) == 512 ? with(std::integral_constant<int, 512>())
                                        : with(std::integral_constant<int, 256>());
  });
}
// Modelled: a block of 256 threads reads about 7.5 GB/s by itself; together they are as fast as the
// memory.
static double cost(const Args& a, const DeviceInfo& device) {
  const int threads = threads_of(a, device);
  const double row_us = kRowStart_us + bytes(a) / double(a.rows) / (7.5e3 * threads / 256);
  const double waves = double(a.rows) / double(device.sm_count * (kThreadsOfSm / threads));
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
