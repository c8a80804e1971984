// topk rung 01, sort: sort every row, and take its first k elements.
//
// Stops at: HBM. A row of 2^17 columns takes 153 steps of a bitonic sort, and each of them reads
//   and writes all keys.
// Not for: a k that is much smaller than the row: nearly all of the order is thrown away.
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk::sort {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) topk_make_keys(Args a, Key* keys, int64_t width) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * width) return;
  const int64_t row = i / width, col = i % width;
  keys[i] = col < a.cols ? key_of(to_float(static_cast<const T*>(a.x)[row * a.x_stride + col]), col,
                                  a.largest)
                         : 0;
}

// One step of a bitonic sort of all rows. `width` is a power of two, so pairs stay in their row.
static __global__ void __launch_bounds__(kThreads)
    topk_sort_step(Key* keys, int64_t pairs, int64_t width, int64_t run, int64_t distance) {
  const int64_t pair = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  const int64_t i = 2 * pair - (pair & (distance - 1)), j = i + distance;
  const Key first = keys[i], second = keys[j];
  if ((first < second) != ((i & (width - 1) & run) == 0)) return;
  keys[i] = second;
  keys[j] = first;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    topk_take_first(Args a, const Key* keys, int64_t width) {
  extern __shared__ Key first[];
  const int64_t row = blockIdx.x;
  for (int i = int(threadIdx.x); i < a.k; i += kThreads) first[i] = keys[row * width + i];
  __syncthreads();
  write_row<T>(a, row, first);
}

static int64_t width_of(const Args& a) {
  int64_t width = 1;
  while (width < a.cols) width *= 2;
  return width;
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(a.rows * width_of(a)) * sizeof(Key);
}
static unsigned blocks(int64_t n) { return unsigned((n + kThreads - 1) / kThreads); }

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t width = width_of(a), all = a.rows * width;
  Key* const keys = static_cast<Key*>(a.workspace);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    topk_make_keys<T><<<blocks(all), kThreads, 0, stream>>>(a, keys, width);
    for (int64_t run = 2; run <= width; run *= 2)
      for (int64_t distance = run / 2; distance > 0; distance /= 2)
        topk_sort_step<<<blocks(all / 2), kThreads, 0, stream>>>(keys, all / 2, width, run,
                                                                 distance);
    const size_t shared = size_t(power_of_two_from(a.k)) * sizeof(Key);
    topk_take_first<T><<<unsigned(a.rows), kThreads, shared, stream>>>(a, keys, width);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "sort the rows, take the first k",
                             .supports = takes_floats,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 92}};

}  // namespace ridge::topk::sort
