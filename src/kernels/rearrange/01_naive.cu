// rearrange rung 01, naive: one thread per element, or per pair that changes places.
//
// Stops at: bytes in flight, one or two elements per thread. interleave stops at sectors: the
//   stores of a warp leave every other element to the next instruction.
// Not for: small elements: a warp then has only 32 or 64 bytes under way.
#include "kernels/rearrange/with_op.cuh"

namespace ridge::rearrange::naive {

constexpr int kThreads = 256;

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) rearrange_naive(Args args, int64_t items) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= items) return;
  const T* a = static_cast<const T*>(args.a);
  const T* b = static_cast<const T*>(args.b);
  T* x = static_cast<T*>(args.x);
  T* y = static_cast<T*>(args.y);
  if constexpr (op == Op::reverse) {
    x[i] = a[args.n - 1 - i];
  } else if constexpr (op == Op::reverse_in_place) {
    const T front = x[i], back = x[args.n - 1 - i];
    x[i] = back;
    x[args.n - 1 - i] = front;
  } else if constexpr (op == Op::swap) {
    const T from_x = x[i], from_y = y[i];
    x[i] = from_y;
    y[i] = from_x;
  } else {
    x[2 * i] = a[i];
    x[2 * i + 1] = b[i];
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t items = a.op == Op::reverse_in_place ? a.n / 2 : a.n;
  if (items == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) {
    return with_op(a.op, [&](auto op) {
      rearrange_naive<decltype(t), decltype(op)::value>
          <<<unsigned((items + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, items);
      return launch_status();
    });
  });
}
constinit const Rung rung = {.idea = "one thread, one element or one pair",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::rearrange::naive
