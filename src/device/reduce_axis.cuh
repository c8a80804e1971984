// Reduces one axis of a tensor seen as (outer, axis, inner), with any operator (see reduce_op.cuh):
//
//   launch_reduce_axis(op, AxisView<float>{x, outer, axis, inner, axis * inner, inner},
//                      out, inner, {workspace, bytes}, device, stream);
//
// The plan is made of sizes and addresses alone: rows where the axis is the innermost, columns
// otherwise; as few threads per result as keep all of the device busy.
#pragma once

#include <bit>

#include "device/launch_reduce.cuh"
#include "device/reduce_columns.cuh"
#include "device/reduce_rows.cuh"

namespace ridge {

template <class T>
struct AxisView {
  const T* x;
  int64_t outer, axis, inner;
  int64_t outer_stride, axis_stride;  // elements; neighbours along `inner` lie side by side
};

namespace reduction {

// Estimates for an H200.
struct AxisTuning {
  // Packs of a row that 1, 4, 8 and 32 lanes still take; beyond, a block does.
  static constexpr int64_t kPacksOfOne = 4, kPacksOf4 = 16, kPacksOf8 = 64, kPacksOfWarp = 512;
  static constexpr int64_t kShortAxis = 32;   // of columns: a thread takes it all
  static constexpr int kWarpTilesPerSm = 32;  // as many tiles: a warp each is enough
  // Blocks per SM that make up for uneven ends, and the least that fill it; and how many packs of a
  // thread are enough to split further for the one or the other.
  static constexpr int kBlocksPerSm = 32, kLeastBlocksPerSm = 8;
  static constexpr int kPacksForMany = 32, kPacksForLeast = 4;
  static constexpr int kColumnBlocksPerSm = 4;  // that share the axis of columns
};

enum class AxisWay : uint8_t { row_lanes, row_blocks, column_threads, column_warps, column_blocks };
struct AxisPlan {
  AxisWay way;
  int lanes = 1;                  // of a row, or packs of a tile's columns
  int parts = 1;                  // blocks that share an axis
  int64_t tiles = 0;              // rows, or tiles of columns
  int64_t tiles_a_row = 1;        // of columns
  Packs packs = Packs::anywhere;  // of columns
  int64_t values = 0;             // that blocks leave, where there are parts
};

inline int parts_of(int64_t blocks, int64_t packs_a_thread, const DeviceInfo& device) {
  const auto wanted = [&](int blocks_per_sm, int packs) {
    const int64_t missing = (int64_t(device.sm_count) * blocks_per_sm + blocks - 1) / blocks;
    return std::clamp<int64_t>(packs_a_thread / packs, 1, missing);
  };
  return int(std::max(wanted(AxisTuning::kBlocksPerSm, AxisTuning::kPacksForMany),
                      wanted(AxisTuning::kLeastBlocksPerSm, AxisTuning::kPacksForLeast)));
}

// A block's warps take rows in turn: those of one warp must lie alike.
template <class T>
constexpr bool kCanShift = kColumnThreads / kWarpSize * sizeof(T) % kPackBytes == 0;

template <class T>
AxisPlan plan_axis(const AxisView<T>& v, const DeviceInfo& device) {
  constexpr int64_t kSize = kPackSize<T>;
  using Tuning = AxisTuning;
  AxisPlan plan = {.way = AxisWay::row_lanes};
  if (v.inner == 1 && (v.axis_stride == 1 || v.axis <= 1)) {
    const int64_t packs = v.axis / kSize;
    plan.tiles = v.outer;
    plan.lanes = packs <= Tuning::kPacksOfOne    ? 1
                 : packs <= Tuning::kPacksOf4    ? 4
                 : packs <= Tuning::kPacksOf8    ? 8
                 : packs <= Tuning::kPacksOfWarp ? kWarpSize
                                                 : kRowThreads;
    if (plan.lanes < kRowThreads) return plan;
    plan.way = AxisWay::row_blocks;
    plan.parts = parts_of(v.outer, packs / kRowThreads, device);
    plan.values = plan.tiles * plan.parts;
    return plan;
  }
  const int64_t packs = (v.inner + kSize - 1) / kSize;
  if (is_pack_aligned(v.x) && v.outer_stride % kSize == 0 && v.axis_stride % kSize == 0)
    plan.packs = Packs::aligned;
  if (v.axis < Tuning::kShortAxis) {
    plan.way = AxisWay::column_threads;
    plan.tiles = v.outer * packs;
    return plan;
  }
  plan.lanes = int(std::min<int64_t>(kWarpSize, int64_t(std::bit_ceil(uint64_t(packs)))));
  if (plan.packs == Packs::anywhere && plan.lanes == kWarpSize && kCanShift<T>)
    plan.packs = Packs::shifted;
  const int packs_a_tile = plan.packs == Packs::shifted ? plan.lanes - 1 : plan.lanes;
  plan.tiles_a_row = (packs + packs_a_tile - 1) / packs_a_tile;
  plan.tiles = v.outer * plan.tiles_a_row;
  if (plan.lanes < kWarpSize && plan.tiles >= int64_t(device.sm_count) * Tuning::kWarpTilesPerSm) {
    plan.way = AxisWay::column_warps;
    return plan;
  }
  plan.way = AxisWay::column_blocks;
  // What parts leave is little beside what they read, but one block reads it alone at the end: no
  // more parts than are under way together.
  const int64_t resident = int64_t(device.sm_count) * Tuning::kColumnBlocksPerSm;
  const int64_t steps = v.axis / (kColumnThreads / plan.lanes);  // of a thread
  plan.parts = int(std::clamp<int64_t>(resident / plan.tiles, 1,
                                       std::max<int64_t>(1, steps / Tuning::kPacksForLeast)));
  plan.values = plan.tiles * plan.parts * packs_a_tile * kSize;
  return plan;
}

template <Packs Lie, class Op, class T, class Out>
void launch_columns(const Op& op, const Columns<T>& m, const AxisPlan& plan, Out* out,
                    int64_t out_stride, Workspace workspace, cudaStream_t stream) {
  const auto meeting = meeting_at<AccOf<Op>>(workspace.data, plan.tiles);
  constexpr int kWarps = kColumnThreads / kWarpSize;
  if constexpr (Lie != Packs::shifted) {
    if (plan.way == AxisWay::column_threads)
      return reduce_columns_by_threads<Lie>
          <<<unsigned((plan.tiles + kColumnThreads - 1) / kColumnThreads), kColumnThreads, 0,
             stream>>>(op, m, out, out_stride);
    if (plan.way == AxisWay::column_warps)
      return reduce_columns_by_tiles<1, Lie>
          <<<unsigned((plan.tiles + kWarps - 1) / kWarps), kColumnThreads, 0, stream>>>(
              op, m, out, out_stride, plan.lanes, plan.tiles_a_row, 1, meeting);
  }
  reduce_columns_by_tiles<kWarps, Lie>
      <<<unsigned(plan.tiles * plan.parts), kColumnThreads, 0, stream>>>(
          op, m, out, out_stride, plan.lanes, plan.tiles_a_row, plan.parts, meeting);
}
template <int Lanes, class Op, class T, class Out>
void launch_row_lanes(const Op& op, const Rows<T>& m, Out* out, int64_t out_stride,
                      cudaStream_t stream) {
  constexpr int kRows = kRowThreads / Lanes;
  reduce_rows_by_lanes<Lanes>
      <<<unsigned((m.rows + kRows - 1) / kRows), kRowThreads, 0, stream>>>(op, m, out, out_stride);
}

}  // namespace reduction

template <class Op, class T>
size_t reduce_axis_workspace(const Op&, const AxisView<T>& v, const DeviceInfo& device) {
  if (v.outer * v.inner == 0) return 0;
  const reduction::AxisPlan plan = reduction::plan_axis(v, device);
  if (plan.parts == 1) return 0;
  return reduction::meeting_bytes<reduction::AccOf<Op>>(plan.tiles, plan.values);
}

// Result (o, i) goes to out[o * out_stride + i]. Of no elements: finish(identity).
template <class Op, class T, class Out>
Status launch_reduce_axis(const Op& op, const AxisView<T>& v, Out* out, int64_t out_stride,
                          Workspace workspace, const DeviceInfo& device, cudaStream_t stream) {
  using namespace reduction;
  if (v.outer * v.inner == 0) return Status::ok();
  if (workspace.bytes < reduce_axis_workspace(op, v, device))
    return Error{int(cudaErrorInvalidValue),
                 "the workspace is smaller than reduce_axis_workspace says"};
  const AxisPlan plan = plan_axis(v, device);
  const Rows<T> rows = {v.x, v.outer, v.axis, v.outer_stride};
  const Columns<T> columns = {v.x, v.outer, v.axis, v.inner, v.outer_stride, v.axis_stride};
  switch (plan.way) {
    case AxisWay::row_lanes:
      if (plan.lanes == 1) launch_row_lanes<1>(op, rows, out, out_stride, stream);
      else if (plan.lanes == 4) launch_row_lanes<4>(op, rows, out, out_stride, stream);
      else if (plan.lanes == 8) launch_row_lanes<8>(op, rows, out, out_stride, stream);
      else launch_row_lanes<kWarpSize>(op, rows, out, out_stride, stream);
      break;
    case AxisWay::row_blocks:
      reduce_rows_by_blocks<<<unsigned(plan.tiles * plan.parts), kRowThreads, 0, stream>>>(
          op, rows, out, out_stride, plan.parts, meeting_at<AccOf<Op>>(workspace.data, plan.tiles));
      break;
    default:
      if (plan.packs == Packs::aligned)
        launch_columns<Packs::aligned>(op, columns, plan, out, out_stride, workspace, stream);
      else if constexpr (kCanShift<T>) {
        if (plan.packs == Packs::shifted)
          launch_columns<Packs::shifted>(op, columns, plan, out, out_stride, workspace, stream);
        else launch_columns<Packs::anywhere>(op, columns, plan, out, out_stride, workspace, stream);
      } else {
        launch_columns<Packs::anywhere>(op, columns, plan, out, out_stride, workspace, stream);
      }
  }
  return launch_status();
}

}  // namespace ridge
