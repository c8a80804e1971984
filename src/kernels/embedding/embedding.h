// embedding: out[i] = table[tokens[i]]; backward: dtable[tokens[i]] += dy[i].
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::embedding {

struct Args {
  bool backward = false;
  const int32_t* tokens = nullptr;  // (count), each 0 … vocab - 1
  const void* table = nullptr;      // (vocab, dim), forward only
  void* out = nullptr;              // (count, dim), forward only
  const void* dy = nullptr;         // (count, dim), backward only
  // (vocab, dim), backward only: added to. f32, since sums of many gradients are; a bf16 sum stops
  // growing at 256 times its terms.
  float* dtable = nullptr;
  int64_t count = 0, vocab = 0, dim = 0;
  int64_t table_stride = 0;  // elements from row to row, of table or dtable
  int64_t row_stride = 0;    // of out or dy
  Dtype dtype = Dtype::f32;  // of table, out and dy
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// Backward every row is counted as a word of its own.
constexpr double bytes(const Args& a) {
  const double size = double(size_of(a.dtype)), n = double(a.count) * double(a.dim);
  return 4 * double(a.count) + (a.backward ? (size + 8) * n : 2 * size * n);
}

inline Support supported(const Args& a) {
  if (a.dtype != Dtype::f32 && a.dtype != Dtype::f16 && a.dtype != Dtype::bf16)
    return "embeddings are f32, f16 or bf16";
  return a.count < int64_t(1) << 31 ? kSupported : "more than 2^31 tokens";
}

}  // namespace ridge::embedding
