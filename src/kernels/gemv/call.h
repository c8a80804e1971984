// A call of gemv or gemv_t on a matrix that lies row by row, as their kernels want it.
#pragma once

#include "kernels/gemv/gemv.h"
#include "operator/call.h"

namespace ridge::gemv {

inline Args by_rows(const Call& call) {
  const Tensor& a = call["a"];
  return {.a = a.data,
          .x = call["x"].data,
          .y = call["y"].data,
          .rows = a.shape[0],
          .cols = a.shape[1],
          .a_stride = a.shape[0] > 1 ? a.strides[0] : a.shape[1],
          .alpha = float(call.number("alpha")),
          .beta = float(call.number("beta")),
          .dtype = a.dtype};
}
inline bool lies_by_rows(const Tensor& a) {
  return a.elements() == 0 || a.shape[1] == 1 || a.strides[1] == 1;
}
// Columns one after another are the rows of the transposed matrix.
inline Tensor transposed(Tensor a) {
  std::swap(a.shape[0], a.shape[1]);
  std::swap(a.strides[0], a.strides[1]);
  return a;
}

}  // namespace ridge::gemv
