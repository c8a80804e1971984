// The kernels that no family of Ridge's has: vectors with increments, numbers that lie in device
// memory, f64. Each function puts its kernels on the stream and does not wait for them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/status.h"
#include "ridge/dtype.h"

namespace ridge::cublas {

// A factor: known when the call is made, or in device memory, where the kernel reads it.
struct Scalar {
  double value = 0;
  const void* device = nullptr;  // null: `value` counts
  Dtype dtype = Dtype::f32;      // of *device

  bool is(double x) const { return !device && value == x; }
};

// Element i lies at data[i * step], i from 0; the step may be negative.
struct Vector {
  void* data = nullptr;
  Dtype dtype = Dtype::f32;
  int64_t step = 1;
};

// A batch of matrices. Element (row, col) of matrix i lies at data[i * batch_step + offset +
// row * row_step + col * col_step], or at pointers[i][offset + row * row_step + col * col_step].
struct Matrices {
  void* data = nullptr;
  void* const* pointers = nullptr;  // in device memory; null: `data` counts
  Dtype dtype = Dtype::f32;
  int64_t row_step = 1, col_step = 0, batch_step = 0;
  int64_t offset = 0;
};
struct Size {
  int64_t rows = 0, cols = 0, batch = 1;
  int64_t elements() const { return rows * cols * batch; }
};

// f64 is computed in f64, all else in f32.
constexpr Dtype compute_type(Dtype dtype) { return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

// --- vector.cu: both vectors have one format ---

Status axpy(int64_t n, const Scalar& alpha, const Vector& x, const Vector& y, cudaStream_t stream);
Status scal(int64_t n, const Scalar& alpha, const Vector& x, cudaStream_t stream);
Status copy(int64_t n, const Vector& x, const Vector& y, cudaStream_t stream);
Status swap(int64_t n, const Vector& x, const Vector& y, cudaStream_t stream);
Status rot(int64_t n, const Vector& x, const Vector& y, const Scalar& c, const Scalar& s,
           cudaStream_t stream);

// --- reduce.cu ---

enum class Reduction : uint8_t { dot, asum, nrm2, iamax, iamin };
// `result`, in device memory, has the format of x; iamax and iamin write an i32 or i64. `parts` is
// scratch memory of kPartsBytes. y counts for dot only.
constexpr size_t kPartsBytes = 64 * 24;
Status reduce(Reduction reduction, int64_t n, const Vector& x, const Vector& y, void* result,
              Dtype result_type, void* parts, cudaStream_t stream);

// --- matrix.cu ---

// A += alpha x transpose(y)
Status ger(const Size& size, const Scalar& alpha, const Vector& x, const Vector& y,
           const Matrices& a, cudaStream_t stream);
// C = alpha A + beta B, f32 or f64. A with alpha = 0 is not read, and so is B.
Status geam(const Size& size, const Scalar& alpha, const Matrices& a, const Scalar& beta,
            const Matrices& b, const Matrices& c, cudaStream_t stream);
// C = A diag(x) or, if `left`, diag(x) A
Status dgmm(const Size& size, bool left, const Matrices& a, const Vector& x, const Matrices& c,
            cudaStream_t stream);
// to = from; `to` is one array, column by column, matrix by matrix.
Status gather(const Size& size, const Matrices& from, void* to, cudaStream_t stream);
// C = alpha * product + beta C, where `product` lies as `gather` writes it, in compute_type(C). It
// is not read where alpha is 0, and C is not where beta is.
Status combine(const Size& size, const Scalar& alpha, const void* product, const Scalar& beta,
               const Matrices& c, cudaStream_t stream);
// product = A B in f64, with `product` as above. A is (rows, inner), B is (inner, cols).
Status multiply_f64(const Size& size, int64_t inner, const Matrices& a, const Matrices& b,
                    double* product, cudaStream_t stream);

}  // namespace ridge::cublas
