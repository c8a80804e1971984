// One block walks along the vector, a chunk at a time, and carries the value of all it has seen.
// The first three rungs differ only in how the block scans a chunk.
#pragma once

#include "kernels/scan/operators.cuh"

namespace ridge::scan {

constexpr int kThreads = 1024;  // and the elements of a chunk

// What a block knows of its chunk after scanning it.
template <class A>
struct Scanned {
  A before;   // of this thread's element, in the chunk
  A through;  // and including it
  A total;    // of the chunk
};

// Elements [begin, end); scan(x) is the block's scan of one element per thread. Returns the value
// of everything to `end`.
template <class T, class A, class Op, class BlockScan>
__device__ A walk(const Args& args, int64_t begin, int64_t end, A carry, const Op& op,
                  BlockScan scan) {
  for (int64_t first = begin; first < end; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const A x = i < end ? static_cast<A>(static_cast<const T*>(args.in)[i]) : op.identity();
    const Scanned<A> chunk = scan(x);
    if (i < end)
      static_cast<T*>(args.out)[i] =
          static_cast<T>(op(carry, args.inclusive ? chunk.through : chunk.before));
    carry = op(carry, chunk.total);
  }
  return carry;
}

}  // namespace ridge::scan
