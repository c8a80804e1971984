// embedding rung 01, thread_per_element: each thread looks up the token of its element; backward it
// adds with an atomic.
//
// Stops at: bytes in flight: 4 (or 2) per lane, after waiting for a token. Backward, at one atomic
//   per lane, and at rows that many tokens share.
// Not for: anything but learning; backward, tokens that occur often.
#include "device/convert.cuh"
#include "kernels/embedding/embedding.h"

namespace ridge::embedding::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) embedding_thread_per_element(Args args) {
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= args.count * args.dim) return;
  const int64_t i = index / args.dim, c = index % args.dim;
  const int64_t entry = args.tokens[i] * args.table_stride + c, element = i * args.row_stride + c;
  if (args.backward)
    atomicAdd(args.dtable + entry, to_float(static_cast<const T*>(args.dy)[element]));
  else static_cast<T*>(args.out)[element] = static_cast<const T*>(args.table)[entry];
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.count * a.dim;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    embedding_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element; backward, one atomic",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2, .barriers = 0}};

}  // namespace ridge::embedding::thread_per_element
