// rope rung 02, table: cosines and sines come from a table that is made once per model.
//
// Since 01_sincos: two loads, which hit in L2 for all heads but the first, replace an exp2 and a
//   sincos. The angles are as exact as those of the table.
// Stops at: bytes in flight: each load brings 2 or 4 bytes per lane. q and k are two launches.
// Not for: q and k of one token: two launches read the table twice (03).
#include "kernels/rope/rope.h"
#include "kernels/rope/turn.cuh"

namespace ridge::rope::table {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) rope_table(Args args, Heads heads) {
  const int64_t pairs = args.dim / 2;
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= args.batch * args.seq * heads.heads * pairs) return;
  const int64_t i = index % pairs;
  const int64_t h = index / pairs % heads.heads;
  const int64_t s = index / pairs / heads.heads % args.seq;
  const int64_t b = index / pairs / heads.heads / args.seq;
  const int64_t entry = (args.first_position + s) * args.table_stride + i;
  const float cosine = args.cos[entry], sine = args.sin[entry];
  const T* in = static_cast<const T*>(heads.in) + b * heads.in_stride.batch +
                s * heads.in_stride.seq + h * heads.in_stride.head;
  T* out = static_cast<T*>(heads.out) + b * heads.out_stride.batch + s * heads.out_stride.seq +
           h * heads.out_stride.head;
  turn_one(in, out, places_of(i, args.dim, args.interleaved), cosine, args.backward ? -sine : sine);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.cos && a.sin ? supported(a) : "no table";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    for (const Heads* heads : {&a.q, &a.k}) {
      const int64_t n = a.batch * a.seq * heads->heads * (a.dim / 2);
      if (n == 0) continue;
      rope_table<decltype(t)>
          <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, *heads);
      if (const Status s = launch_status(); !s) return s;
    }
    return Status::ok();
  });
}
constinit const Rung rung = {.idea = "cosines and sines from a table",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::rope::table
