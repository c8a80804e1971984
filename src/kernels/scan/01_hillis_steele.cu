// scan rung 01, hillis_steele: in step d every element adds the one 2^d places before it.
//
// Stops at: work and barriers. A chunk of 1024 elements takes 10 steps with 1024 additions and two
//   barriers each, where a serial loop makes 1023 additions in all; and a single SM does
//   everything.
// Not for: more elements than a warp has lanes: it makes ten additions per element where one would
//   do.
#include "kernels/scan/walk.cuh"

namespace ridge::scan::hillis_steele {

template <class A, class Op>
__device__ Scanned<A> block_scan(A x, const Op& op, A (&values)[kThreads]) {
  const int t = int(threadIdx.x);
  __syncthreads();  // the chunk before has been read
  values[t] = x;
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    if (t >= d) x = op(values[t - d], x);
    __syncthreads();  // all have read before anyone writes
    values[t] = x;
    __syncthreads();
  }
  return {t == 0 ? op.identity() : values[t - 1], x, values[kThreads - 1]};
}

template <class T, class Op>
__global__ void __launch_bounds__(kThreads) scan_hillis_steele(Args args, Op op) {
  using A = Accumulator<T>;
  __shared__ A values[kThreads];
  walk<T>(args, 0, args.n, op.identity(), op, [&](A x) { return block_scan(x, op, values); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_operator(a, [&](auto t, auto op) {
    scan_hillis_steele<decltype(t)><<<1, kThreads, 0, stream>>>(a, op);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "each element adds the one 1, 2, 4, … places before",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 1, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::scan::hillis_steele
