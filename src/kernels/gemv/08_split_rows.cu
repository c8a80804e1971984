// gemv rung 08, split_rows: several blocks share a row where there are too few rows.
//
// Since 07_shifted_x: if rows make less than two waves of blocks, each row is cut into parts, one
//   part per block. The last block of a row to finish adds the sums of all parts, always in the
//   same order, so that results are the same in every run.
// Stops at: HBM. Every byte of A is read once; x comes from L1.
// Not for: several vectors x at once. That is a matrix product, whose A serves all of them.
#include <algorithm>

#include "device/sum_min_max.cuh"
#include "kernels/gemv/shifted_x.cuh"
#include "kernels/gemv/totals.cuh"
#include "ridge/detail/reduce_block.cuh"
#include "select/select.h"

namespace ridge::gemv::split_rows {

constexpr double kEnoughWaves = 2;        // of blocks; with fewer, rows are shared
constexpr double kWaves = 4;              // of blocks, where rows are shared
constexpr double kLargeBytes = 64 << 20;  // of A: from here on several waves are worth a meeting
constexpr Tuned kTuned = {3.0, 0.92};

// Where blocks share rows: one counter for all blocks of the same rows, and (rows, splits) sums.
using Meeting = reduction::Meeting<float>;

// The last block of its rows adds what all have left: one warp per row.
template <class T, Shape kShape>
__device__ __forceinline__ void combine_splits(const Args& args, const Meeting& meeting,
                                               unsigned long long arrivals) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = reduction::is_last_arrival(meeting.arrivals + blockIdx.x, gridDim.y, arrivals);
  __syncthreads();
  if (!is_last) return;
  for (int r = threadIdx.x / kWarpSize; r < kShape.rows_per_block();
       r += kShape.threads() / kWarpSize) {
    const int64_t row = int64_t(blockIdx.x) * kShape.rows_per_block() + r;
    if (row >= args.rows) return;                                  // the whole warp
    const float* const sums = meeting.partials + row * gridDim.y;  // (splits)
    const float total =
        reduction::warp_combine_fresh(reduction::Sum<float>(), sums, int(gridDim.y));
    if (threadIdx.x % kWarpSize == 0) finish<T>(args, row, total);
  }
}

template <class T, int Lanes, int Unroll, int Rows, bool Congruent>
__global__ void __launch_bounds__(Shape{Lanes, Unroll, Rows}.threads(),
                                  Shape{Lanes, Unroll, Rows}.blocks_per_sm(sizeof(T)))
    gemv_split_rows(Args args, int64_t packs_per_split, Meeting meeting) {
  __shared__ float of_warps[Rows][kWarpsOf<Lanes>];
  constexpr Shape kShape = {Lanes, Unroll, Rows};  // which a kernel's template cannot take
  const int lane = threadIdx.x % Lanes;
  const int64_t first_row =
      int64_t(blockIdx.x) * kShape.rows_per_block() + threadIdx.x / Lanes * Rows;
  unsigned long long arrivals = 0;
  if (!kShape.is_short() && gridDim.y > 1 && threadIdx.x == 0)
    arrivals = reduction::before_arrival(meeting.arrivals + blockIdx.x);

  float sum[Rows];
  sum_rows<T, kShape, Congruent>(args, first_row, lane, packs_per_split, sum);
  put_totals<Lanes>(sum, lane, first_row, of_warps, [&](int64_t row, float total) {
    if (row >= args.rows) return;
    if (gridDim.y == 1) finish<T>(args, row, total);
    else meeting.partials[row * gridDim.y + blockIdx.y] = total;
  });
  if constexpr (!kShape.is_short())
    if (gridDim.y > 1) combine_splits<T, kShape>(args, meeting, arrivals);
}

// How the work is cut; the same for `workspace` and `launch`.
struct Plan {
  bool congruent;
  Shape shape;
  int64_t blocks;
  int64_t splits, packs_per_split;
};
static Plan plan_for(const Args& a, const DeviceInfo& device) {
  const auto size = int64_t(size_of(a.dtype));
  const int64_t packs = a.cols * size / kPackBytes;
  Plan plan;
  plan.congruent = is_congruent(a);
  plan.shape = shape_for(a, plan.congruent);
  plan.blocks = (a.rows + plan.shape.rows_per_block() - 1) / plan.shape.rows_per_block();
  plan.splits = 1;
  plan.packs_per_split = std::max<int64_t>(packs, 1);
  const int64_t resident = int64_t(device.sm_count) * plan.shape.blocks_per_sm(size_t(size));
  const double waves = double(plan.blocks) / double(resident);
  if (plan.shape.is_short() || waves >= kEnoughWaves) return plan;
  // A split is whole turns of all lanes: what is left over is a turn with idle lanes.
  const bool is_large = double(a.rows) * double(a.cols) * double(size) >= kLargeBytes;
  const int64_t turn = plan.shape.turn(), turns = std::max<int64_t>(packs / turn, 1);
  const auto wanted = int64_t((is_large ? kWaves : 1) / waves + 0.999);
  const auto splits = std::clamp<int64_t>(wanted, 1, std::min<int64_t>(turns, 65535));
  if (splits == 1) return plan;
  plan.packs_per_split = turns / splits * turn;
  plan.splits = (packs + plan.packs_per_split - 1) / plan.packs_per_split;
  return plan;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  if (a.rows == 0) return 0;
  const Plan plan = plan_for(a, device);
  return plan.splits == 1 ? 0 : reduction::meeting_bytes<float>(plan.blocks, a.rows * plan.splits);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  const Plan plan = plan_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    with_shape(plan.shape, plan.congruent, [&](auto at, auto is_congruent) {
      constexpr Shape kShape = decltype(at)::value;
      const dim3 grid(unsigned(plan.blocks), unsigned(plan.splits));
      gemv_split_rows<decltype(t), kShape.lanes, kShape.unroll, kShape.rows, is_congruent.value>
          <<<grid, kShape.threads(), 0, stream>>>(
              a, plan.packs_per_split, reduction::meeting_at<float>(a.workspace, plan.blocks));
    });
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes_read(a) + bytes_written(a), device);
}
constinit const Rung rung = {.idea = "blocks share a row where there are too few rows",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::gemv::split_rows
