// rope rung 01, sincos: one thread, one pair; it computes its angle, cosine and sine itself.
//
// Stops at: instruction issue. Every head of a token computes the same dim / 2 angles again.
// Not for: heads that share their angles, as all heads do: a table is read faster than a sine is
//   computed.
#include "kernels/rope/rope.h"
#include "kernels/rope/turn.cuh"

namespace ridge::rope::sincos {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) rope_sincos(Args args, Heads heads, float log2_base) {
  const int64_t pairs = args.dim / 2;
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= args.batch * args.seq * heads.heads * pairs) return;
  const int64_t i = index % pairs;
  const int64_t h = index / pairs % heads.heads;
  const int64_t s = index / pairs / heads.heads % args.seq;
  const int64_t b = index / pairs / heads.heads / args.seq;
  const float speed = exp2f(-float(i) / float(pairs) * log2_base);
  float sine, cosine;
  sincosf(float(args.first_position + s) * speed, &sine, &cosine);
  const T* in = static_cast<const T*>(heads.in) + b * heads.in_stride.batch +
                s * heads.in_stride.seq + h * heads.in_stride.head;
  T* out = static_cast<T*>(heads.out) + b * heads.out_stride.batch + s * heads.out_stride.seq +
           h * heads.out_stride.head;
  turn_one(in, out, places_of(i, args.dim, args.interleaved), cosine, args.backward ? -sine : sine);
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    for (const Heads* heads : {&a.q, &a.k}) {
      const int64_t n = a.batch * a.seq * heads->heads * (a.dim / 2);
      if (n == 0) continue;
      rope_sincos<decltype(t)><<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
          a, *heads, float(std::log2(a.base)));
      if (const Status s = launch_status(); !s) return s;
    }
    return Status::ok();
  });
}
constinit const Rung rung = {.idea = "one thread, one pair; sincosf in the kernel",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::rope::sincos
