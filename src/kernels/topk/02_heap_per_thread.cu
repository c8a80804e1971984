// topk rung 02, heap_per_thread: each thread keeps the best k of its part of a row in a heap.
//
// Since 01_sort: every element is read once and compared with the worst of k. Only an element that
//   is better enters the heap, in log k steps. A warp serves one row; at the end it takes the best
//   of its 32 heaps k times.
// Stops at: latency. The lanes of a warp disagree about who has to repair a heap, and a repair is a
//   chain of dependent loads.
// Not for: large k: 32 heaps of k keys per row do not fit into any cache.
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk::heap_per_thread {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;

// A heap whose root is its worst key. The heaps of a warp lie interleaved.
struct Heap {
  Key* keys;  // of this lane
  int size;

  __device__ Key& at(int i) const { return keys[int64_t(i) * kWarpSize]; }
  // Puts a key in place of the root, and lets it sink among the first `length`.
  __device__ void replace_root(Key key, int length) const {
    int i = 0;
    while (true) {
      int child = 2 * i + 1;
      if (child >= length) break;
      if (child + 1 < length && at(child + 1) < at(child)) ++child;
      if (key <= at(child)) break;
      at(i) = at(child);
      i = child;
    }
    at(i) = key;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) topk_heap_per_thread(Args a, Key* memory) {
  const int lane = int(threadIdx.x) % kWarpSize;
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (row >= a.rows) return;                                         // whole warps
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;  // (cols)
  const Heap heap = {memory + row * (a.k + 1) * kWarpSize + lane, a.k};
  for (int i = 0; i < a.k; ++i) heap.at(i) = 0;
  for (int64_t c = lane; c < a.cols; c += kWarpSize) {
    const Key key = key_of(to_float(x[c]), c, a.largest);
    if (key > heap.at(0)) heap.replace_root(key, a.k);
  }
  // From a heap to a list, the best first: the worst goes to the end, again and again.
  for (int last = a.k - 1; last > 0; --last) {
    const Key worst = heap.at(0), end = heap.at(last);
    heap.replace_root(end, last);
    heap.at(last) = worst;
  }
  // The best of 32 lists. The k best columns come out in order; the place of one among them by
  // column is the number of better or worse ones with a lower column, so they are kept.
  int next = 0;
  for (int i = 0; i < a.k; ++i) {
    const Key mine = next < a.k ? heap.at(next) : 0;
    Key best = mine;
    for (int d = kWarpSize / 2; d > 0; d /= 2) {
      const Key other = __shfl_xor_sync(kAllLanes, best, d);
      best = other > best ? other : best;
    }
    if (mine == best) ++next;  // keys differ, so it is one lane
    if (lane == 0) write_result<T>(a, row, i, best);
  }
}

// In the order of columns: every result counts the results of its row with lower columns. A lesson,
// so it may take k * k comparisons.
template <class T>
__global__ void __launch_bounds__(kThreads) topk_order_by_column(Args a) {
  extern __shared__ Key keys[];
  const int64_t row = blockIdx.x;
  const int32_t* const indices = a.indices + row * a.indices_stride;
  for (int i = int(threadIdx.x); i < a.k; i += kThreads) keys[i] = uint32_t(~indices[i]);
  __syncthreads();
  write_row<T>(a, row, keys);
}

static Support supports(const Args& a, const DeviceInfo& device) { return takes_floats(a, device); }
static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(a.rows) * size_t(a.k + 1) * kWarpSize * sizeof(Key);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    topk_heap_per_thread<T><<<unsigned((a.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(
        a, static_cast<Key*>(a.workspace));
    const size_t shared = size_t(power_of_two_from(a.k)) * sizeof(Key);
    if (!a.sorted) topk_order_by_column<T><<<unsigned(a.rows), kThreads, shared, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "each thread keeps its best k in a heap",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 0}};

}  // namespace ridge::topk::heap_per_thread
