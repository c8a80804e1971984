// Every function with sizes, once with int and once with int64_t, under a name that ends in _64.
#include "standin/cublas/level3.h"

using namespace ridge;
using namespace ridge::cublas;

namespace {

enum class Direction : uint8_t { to_device, to_host };

// A copy of `cols` pieces of `rows` elements each; between the beginnings of two pieces lie
// `from_step` and `to_step` elements. Without a stream the call waits for it.
struct Copy {
  int64_t rows, cols, element;
  const void* from;
  int64_t from_step;
  void* to;
  int64_t to_step;
};
Status run(const Copy& c, Direction direction, const cudaStream_t* stream) {
  const auto kind =
      direction == Direction::to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const auto bytes = [&](int64_t elements) { return size_t(elements * c.element); };
  const cudaError_t error =
      stream ? cudaMemcpy2DAsync(c.to, bytes(c.to_step), c.from, bytes(c.from_step), bytes(c.rows),
                                 size_t(c.cols), kind, *stream)
             : cudaMemcpy2D(c.to, bytes(c.to_step), c.from, bytes(c.from_step), bytes(c.rows),
                            size_t(c.cols), kind);
  if (error == cudaSuccess) return Status::ok();
  return Error{CUBLAS_STATUS_MAPPING_ERROR, std::string("the copy is not possible: ") +
                                                cudaGetErrorString(error) + ", " +
                                                cudaGetErrorName(error)};
}

Status need_positive(const char* name, int64_t value) {
  if (value > 0) return Status::ok();
  return invalid(std::string(name) + " is " + std::to_string(value) + "; it has to be at least 1");
}

// The rules of the real library: increments count even where there is nothing to copy, and a
// negative length is a copy that fails.
Status copy_vector(Direction direction, int64_t n, int64_t element, const void* x, int64_t incx,
                   void* y, int64_t incy, const cudaStream_t* stream = nullptr) {
  for (const auto& [name, value] : {std::pair("elemSize", element), {"incx", incx}, {"incy", incy}})
    if (const Status fine = need_positive(name, value); !fine) return fine;
  if (n < 0) return Error{CUBLAS_STATUS_MAPPING_ERROR, "n is " + std::to_string(n)};
  if (n == 0) return Status::ok();
  if (incx == 1 && incy == 1) return run({n, 1, element, x, n, y, n}, direction, stream);
  return run({1, n, element, x, incx, y, incy}, direction, stream);
}

Status copy_matrix(Direction direction, int64_t rows, int64_t cols, int64_t element, const void* a,
                   int64_t lda, void* b, int64_t ldb, const cudaStream_t* stream = nullptr) {
  for (const auto& [name, value] : {std::pair("elemSize", element), {"lda", lda}, {"ldb", ldb}})
    if (const Status fine = need_positive(name, value); !fine) return fine;
  if (rows < 0 || cols < 0)
    return invalid("the matrix has " + std::to_string(rows) + " rows and " + std::to_string(cols) +
                   " columns");
  if (rows == 0 || cols == 0) return Status::ok();
  if (lda < rows || ldb < rows)
    return Error{CUBLAS_STATUS_MAPPING_ERROR, "the matrix has " + std::to_string(rows) +
                                                  " rows, but lda is " + std::to_string(lda) +
                                                  " and ldb is " + std::to_string(ldb)};
  return run({rows, cols, element, a, lda, b, ldb}, direction, stream);
}

}  // namespace

extern "C" {

#define Int int
#define Index Dtype::i32
#define SIZED(name) name
#include "standin/cublas/abi/copies.inc"
#include "standin/cublas/abi/level1.inc"
#include "standin/cublas/abi/level2.inc"
#include "standin/cublas/abi/level3.inc"
#undef SIZED
#undef Index
#undef Int

#define Int int64_t
#define Index Dtype::i64
#define SIZED(name) name##_64
#include "standin/cublas/abi/copies.inc"
#include "standin/cublas/abi/level1.inc"
#include "standin/cublas/abi/level2.inc"
#include "standin/cublas/abi/level3.inc"
#undef SIZED
#undef Index
#undef Int

}  // extern "C"
