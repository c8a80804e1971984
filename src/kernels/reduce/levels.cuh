// Reducing level by level: every launch leaves one value per block, until there is one value.
#pragma once

#include "kernels/reduce/operators.cuh"

namespace ridge::reduce {

// One level. The first level reads the input, the others read what the previous level has written;
// the last writes the result.
template <class Op, class T, class Out>
struct Level {
  using Acc = reduction::AccOf<Op>;
  const T* x;
  const T* y;
  const Acc* values;  // none: the input
  int64_t count;      // of what is read
  Acc* left;          // (blocks); none: the result
  Out* out;
  int64_t n;  // of the input

  __device__ __forceinline__ Acc read(const Op& op, int64_t i) const {
    if (i >= count) return op.identity();
    return values ? values[i] : read_one(op, x, y, i);
  }
  __device__ __forceinline__ void write(const Op& op, Acc acc) const {
    if (left) left[blockIdx.x] = acc;
    else *out = reduction::finished<Out>(op, acc, n);
  }
};

template <int kElementsPerBlock>
size_t levels_workspace(const Args& a, const DeviceInfo&) {
  const int64_t first = (a.n + kElementsPerBlock - 1) / kElementsPerBlock;
  const int64_t second = (first + kElementsPerBlock - 1) / kElementsPerBlock;
  if (first <= 1) return 0;
  return with_operator(a, [&](auto op, auto, auto) {
    return size_t(first + second) * sizeof(reduction::AccOf<decltype(op)>);
  });
}

// `kernel(op, level, blocks)` launches one level.
template <int kElementsPerBlock, class Op, class T, class Out, class Launch>
Status launch_levels(const Args& a, Op, T, Out, Launch launch) {
  using Acc = reduction::AccOf<Op>;
  Level<Op, T, Out> level = {.x = static_cast<const T*>(a.x),
                             .y = static_cast<const T*>(a.y),
                             .values = nullptr,
                             .count = a.n,
                             .left = nullptr,
                             .out = static_cast<Out*>(a.out),
                             .n = a.n};
  int64_t blocks = std::max<int64_t>(1, (a.n + kElementsPerBlock - 1) / kElementsPerBlock);
  Acc* const buffers[2] = {static_cast<Acc*>(a.workspace), static_cast<Acc*>(a.workspace) + blocks};
  for (int depth = 0;; ++depth) {
    level.left = blocks > 1 ? buffers[depth % 2] : nullptr;
    launch(level, unsigned(blocks));
    if (const Status s = launch_status(); !s) return s;
    if (blocks == 1) return Status::ok();
    level.values = level.left;
    level.count = blocks;
    blocks = (blocks + kElementsPerBlock - 1) / kElementsPerBlock;
  }
}

}  // namespace ridge::reduce
