// softmax rung 06, row_in_registers: each row is read once, and stays where it arrived.
//
// Since 05_online: a thread keeps its packs of the row between the sum and the results, so there is
//   no second read. As many threads share a row as it has packs for, from 4 lanes to a block of
//   1024, so that an SM has up to 128 KB of rows under way at any width (1024 threads of 64
//   registers, 8 packs each); warps exchange one (maximum, sum) each, at one barrier.
// Stops at: HBM, up to 4096 packs a row. Wider, a block of 1024 threads has the SM to itself, and
//   nothing is loaded while it exchanges and stores.
// Not for: rows wider than the registers of an SM; and rows of some packs over a power of two times
//   8 leave up to half of the registers empty.
#include "kernels/softmax/held.cuh"
#include "select/select.h"

namespace ridge::softmax::row_in_registers {

constexpr int kPacks = 8;        // a thread; of two tensors, half as many of each
constexpr int kPacksNarrow = 4;  // where lanes of a warp share a row
constexpr int kMostLanes = 1024;
constexpr int kThreadsNarrow = 128;  // a block of narrow rows
constexpr Tuned kTuned = {3.0, 0.86};
constexpr Tuned kTunedWide = {4.0, 0.84};  // one block an SM

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(kThreadsNarrow, 1024 / kThreadsNarrow)  // 64 registers
    softmax_narrow_rows(Args args, int lanes) {
  const int first = int(threadIdx.x) & (lanes - 1);
  const int64_t thread = int64_t(blockIdx.x) * kThreadsNarrow + threadIdx.x;
  const int64_t r = thread >> (__ffs(lanes) - 1);
  // Past the end, the last row once more, so that shuffles have all lanes; it is not stored.
  const Rows<T> row(args, min(r, args.rows - 1));
  hold_row<T, op, Packs>(row, int(args.cols), first, lanes, lanes, r < args.rows,
                         [](const MaxSum& whole) { return whole; });
}

template <class T, Op op, int Packs>
__global__ void __launch_bounds__(kMostLanes) softmax_row_a_block(Args args) {
  constexpr bool kForward = RowOp<op, Fast>::kForward;
  __shared__ float2 partials[kWarpSize];
  const Rows<T> row(args, blockIdx.x);
  hold_row<T, op, Packs>(row, int(args.cols), int(threadIdx.x), int(blockDim.x), kWarpSize, true,
                         [&](const MaxSum& warp) { return warps_merge<kForward>(warp, partials); });
}

static int64_t slots_of(const Args& a) {
  return most_slots(a.out, a.rows, a.cols, a.out_stride, int64_t(size_of(a.dtype)));
}
static int64_t most_packs(const Args& a) {
  return int64_t(kMostLanes) * (is_backward(a.op) ? kPacks / 2 : kPacks);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  return slots_of(a) <= most_packs(a) ? kSupported
                                      : "the row does not fit the registers of a block";
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  const int64_t slots = slots_of(a);
  return with_type_and_op(a, [&](auto t, auto op_constant) {
    using T = decltype(t);
    constexpr Op op = op_constant.value;
    constexpr int kMost = is_backward(op) ? kPacks / 2 : kPacks;
    const auto narrow = [&](auto kernel, int lanes) {
      const int64_t blocks = (a.rows * lanes + kThreadsNarrow - 1) / kThreadsNarrow;
      kernel<<<unsigned(blocks), kThreadsNarrow, 0, stream>>>(a, lanes);
      return launch_status();
    };
    for (int lanes = 4; lanes <= kWarpSize; lanes *= 2)
      if (slots <= lanes * kPacksNarrow)
        return narrow(softmax_narrow_rows<T, op, kPacksNarrow>, lanes);
    if (slots <= kWarpSize * kMost) return narrow(softmax_narrow_rows<T, op, kMost>, kWarpSize);
    int lanes = 2 * kWarpSize;
    while (slots > lanes * kMost) lanes *= 2;
    softmax_row_a_block<T, op, kMost><<<unsigned(a.rows), unsigned(lanes), 0, stream>>>(a);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const bool is_wide = slots_of(a) > most_packs(a) / 2;
  return streaming_us(is_wide ? kTunedWide : kTuned, bytes_read(a) + bytes_written(a), device);
}
constinit const Rung rung = {.name = "row_in_registers",
                             .idea = "one read: the row stays in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::softmax::row_in_registers
