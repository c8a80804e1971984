// softmax rung 07, row_in_shared: wider rows are kept in shared memory.
//
// Since 06_row_in_registers: a block can have 227 KB of shared memory, more than the registers have
//   left for a row. Packs go there as they arrive and enter the online sum. Each thread takes back
//   its own packs, so only the (maximum, sum) pairs need a barrier.
// Stops at: one block per SM, if the row takes more than half of its shared memory: nothing is
//   loaded while the block exchanges and stores.
// Not for: rows that fit into registers, which are faster to reach; Hopper, where the blocks of a
//   cluster hold any row in registers (08).
#include "kernels/softmax/max_sum.cuh"
#include "kernels/softmax/row_packs.cuh"
#include "select/select.h"

namespace ridge::softmax::row_in_shared {

constexpr int kThreads = 512, kThreadsAlone = 1024;  // where two blocks fit an SM, and where one
constexpr int kPacks = 4;                            // under way, of each tensor
constexpr int kReserved = 2048;                      // bytes of an SM's shared memory, two blocks
constexpr Tuned kTuned = {4.0, 0.74};
constexpr Tuned kTunedAlone = {5.0, 0.62};

template <class T, Op op>
__global__ void __launch_bounds__(kThreadsAlone) softmax_row_in_shared(Args args) {
  using Operator = RowOp<op, Fast>;
  constexpr bool kForward = Operator::kForward;
  extern __shared__ int4 kept[];  // (1 or 2 tensors, slots)
  __shared__ float2 partials[kWarpSize];
  const int threads = int(blockDim.x);
  const Rows<T> row(args, blockIdx.x);
  const RowSlots<T> slots(row.out, int(args.cols));
  Pack<T>* const kept_a = reinterpret_cast<Pack<T>*>(kept);
  Pack<T>* const kept_b = kept_a + slots.slots;

  MaxSum mine = empty<kForward>();
  for (int first = threadIdx.x; first < slots.slots; first += threads * kPacks) {
    Pack<T> a[kPacks], b[kForward ? 1 : kPacks] = {};
    load_packs<kForward>(a, b, row, slots, first, threads);
    add_packs<T, op>(mine, a, b);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (first + p * threads >= slots.slots) continue;
      kept_a[first + p * threads] = a[p];
      if constexpr (!kForward) {
        kept_b[first + p * threads] = b[p];
      }
    }
  }
  const MaxSum whole = warps_merge<kForward>(lanes_merge<kForward>(mine), partials);
  const float finished = Operator::finish(whole.sum);
  for (int first = threadIdx.x; first < slots.slots; first += threads * kPacks)
    store_row<T, kPacks>(row.out, slots, first, threads, [&](int p) {
      const Pack<T> a = kept_a[first + p * threads];
      const Pack<T> b = kForward ? a : kept_b[first + p * threads];
      float y[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i)
        y[i] = Operator::result(to_float(a[i]), to_float(b[i]), whole.max, finished);
      return from_floats<T>(y);
    });
}

static int64_t shared_bytes(const Args& a) {
  return most_slots(a.out, a.rows, a.cols, a.out_stride, int64_t(size_of(a.dtype))) * kPackBytes *
         (is_backward(a.op) ? 2 : 1);
}
static bool fits_twice(const Args& a, const DeviceInfo& device) {
  return 2 * shared_bytes(a) + kReserved <= device.shared_per_block_optin;
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  return shared_bytes(a) + kReserved <= device.shared_per_block_optin
             ? kSupported
             : "the row does not fit a block's shared memory";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) -> Status {
    const auto kernel = softmax_row_in_shared<decltype(t), op.value>;
    const int bytes = int(shared_bytes(a));
    if (const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        error != cudaSuccess)
      return Error{int(error), "no shared memory for a row"};
    const unsigned threads = fits_twice(a, device) ? kThreads : kThreadsAlone;
    kernel<<<unsigned(a.rows), threads, size_t(bytes), stream>>>(a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const bool twice = fits_twice(a, device);
  return rows_us(twice ? kTuned : kTunedAlone, a, twice ? 2 : 1, device);
}
constinit const Rung rung = {.idea = "one read of wider rows: kept in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::softmax::row_in_shared
