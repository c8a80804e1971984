// scan rung 02, blelloch: sums go up a tree, and prefixes come down the same tree.
//
// Since 01_hillis_steele: about 2 additions per element instead of 10. The nodes of a level are a
//   power of two apart, which would put them all into a few banks of shared memory; a gap after
//   every 32 four-byte words avoids this.
// Stops at: 20 barriers per chunk, with fewer and fewer threads at work between them; and a single
//   SM does everything.
// Not for: any GPU with shuffles (03): it saves additions, which are cheap, and pays with barriers.
#include "kernels/scan/walk.cuh"

namespace ridge::scan::blelloch {

constexpr int kBankBytes = 128;  // that shared memory serves at once

template <class A>
struct Tree {
  static constexpr int kRow = kBankBytes / int(sizeof(A));
  A node[kThreads + kThreads / kRow];
  __device__ A& operator[](int i) { return node[i + i / kRow]; }
};

template <class A, class Op>
__device__ Scanned<A> block_scan(A x, const Op& op, Tree<A>& tree) {
  const int t = int(threadIdx.x);
  __syncthreads();  // the chunk before has been read
  tree[t] = x;
  // Up: the last element of each half-open run of 2d becomes the run's total.
  for (int d = 1; d < kThreads; d *= 2) {
    __syncthreads();
    if (t < kThreads / (2 * d)) {
      const int left = d * (2 * t + 1) - 1, right = left + d;
      tree[right] = op(tree[left], tree[right]);
    }
  }
  __syncthreads();
  const A total = tree[kThreads - 1];
  __syncthreads();
  if (t == 0) tree[kThreads - 1] = op.identity();
  // Down: a node holds the value before its run; so does its left half, and its right half that and
  // the total of the left.
  for (int d = kThreads / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < kThreads / (2 * d)) {
      const int left = d * (2 * t + 1) - 1, right = left + d;
      const A left_total = tree[left];
      tree[left] = tree[right];
      tree[right] = op(tree[right], left_total);
    }
  }
  __syncthreads();
  const A before = tree[t];
  return {before, op(before, x), total};
}

template <class T, class Op>
__global__ void __launch_bounds__(kThreads) scan_blelloch(Args args, Op op) {
  using A = Accumulator<T>;
  __shared__ Tree<A> tree;
  walk<T>(args, 0, args.n, op.identity(), op, [&](A x) { return block_scan(x, op, tree); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_operator(a, [&](auto t, auto op) {
    scan_blelloch<decltype(t)><<<1, kThreads, 0, stream>>>(a, op);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "sums up a tree, prefixes down it, no bank conflicts",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 1, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::scan::blelloch
