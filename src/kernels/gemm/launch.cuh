// How rungs are launched: one block per tile of d, one row of blocks per product of the batch.
#pragma once

#include <algorithm>

#include "kernels/gemm/gemm.h"

namespace ridge::gemm {

__host__ __device__ constexpr int64_t tiles_of(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}

// Calls launch(args, grid) for as many products at a time as a grid has room for.
template <class F>
Status launch_tiles(Args args, int tile_rows, int tile_cols, F launch) {
  if (is_empty(args)) return Status::ok();
  constexpr int64_t kMostBlocks = 65535;  // along y
  const auto tiles = unsigned(tiles_of(args.m, tile_rows) * tiles_of(args.n, tile_cols));
  const auto advance = [](const void* data, int64_t step, Dtype dtype) -> const void* {
    return data ? static_cast<const char*>(data) + step * kMostBlocks * int64_t(size_of(dtype))
                : nullptr;
  };
  for (int64_t left = args.batch; left > 0; left -= kMostBlocks) {
    args.batch = std::min(left, kMostBlocks);
    launch(args, dim3(tiles, unsigned(args.batch)));
    if (const Status s = launch_status(); !s) return s;
    args.a.data = advance(args.a.data, args.a.batch_step, args.dtype);
    args.b.data = advance(args.b.data, args.b.batch_step, args.dtype);
    args.c.data = advance(args.c.data, args.c.batch_step, args.result);
    args.d = const_cast<void*>(advance(args.d, args.d_batch_step, args.result));
    for (Vectors* v : {&args.epilogue.row_scale, &args.epilogue.col_scale})
      v->data = advance(v->data, v->batch_step, Dtype::f32);
    args.epilogue.bias.data =
        advance(args.epilogue.bias.data, args.epilogue.bias.batch_step, args.result);
    if (args.epilogue.amax) args.epilogue.amax += args.epilogue.amax_step * kMostBlocks;
  }
  return Status::ok();
}

}  // namespace ridge::gemm
