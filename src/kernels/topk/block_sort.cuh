// The end of a row: its best keys are sorted, and become its result.
#pragma once

#include "device/bitonic.cuh"
#include "kernels/topk/keys.cuh"

namespace ridge::topk {

// The k best of a row, sorted, become its result. There is room for the power of two after k.
template <class T>
__device__ void write_row(const Args& a, int64_t row, Key* keys) {
  if (!a.sorted) {  // in the order of columns: the lower halves alone, which fall as columns rise
    for (int i = int(threadIdx.x); i < a.k; i += int(blockDim.x)) keys[i] = uint32_t(keys[i]);
    block_sort(keys, a.k);
  }
  for (int i = int(threadIdx.x); i < a.k; i += int(blockDim.x)) write_result<T>(a, row, i, keys[i]);
}

}  // namespace ridge::topk
