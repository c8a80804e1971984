#include "standin/cublas/level1.h"

#include <cstring>

#include "ridge/reduce.h"

namespace ridge::cublas {
namespace {

// The one format of all vectors of a call. Sums are made in f64 for f64, in f32 for all else.
Dtype common_format(Arguments& a, GivenVector x, GivenVector y, cudaDataType execution) {
  const Dtype dtype = a.format("x", x.type);
  if (x.type != y.type)
    a.fail(unsupported("x is " + type_name(x.type) + " and y is " + type_name(y.type) +
                       "; Ridge's cuBLAS takes vectors of one format"));
  const cudaDataType wanted = dtype == Dtype::f64 ? CUDA_R_64F : CUDA_R_32F;
  if (execution != wanted)
    a.fail(unsupported("computing " + type_name(x.type) + " in " + type_name(execution) +
                       "; Ridge's cuBLAS computes it in " + type_name(wanted)));
  return dtype;
}
Dtype common_format(Arguments& a, GivenVector x, cudaDataType execution) {
  return common_format(a, x, x, execution);
}
constexpr cudaDataType usual_execution(cudaDataType type) {
  return type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
}

Vector vector(Arguments& a, const char* name, GivenVector v, int64_t n) {
  return a.vector(name, v.data, a.format(name, v.type), n, v.increment);
}
Scalar scalar(Arguments& a, const char* name, GivenScalar s) {
  return a.scalar(name, s.data, a.format(name, s.type));
}

// Runs `write(place)`, which writes `bytes` to device memory, so that they get to `result`. For a
// result on the host the call waits for them.
template <class F>
Status deliver(const Context& c, Scratch& scratch, void* result, size_t bytes, F write) {
  if (c.pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return write(result);
  const auto place = scratch.get(bytes);
  if (!place) return place.error();
  if (const Status written = write(*place); !written) return written;
  const Status copied =
      from_cuda(cudaMemcpyAsync(result, *place, bytes, cudaMemcpyDeviceToHost, c.stream));
  return copied ? from_cuda(cudaStreamSynchronize(c.stream)) : copied;
}

// What a vector without elements gives.
Status deliver_zero(const Context& c, void* result, size_t bytes) {
  if (c.pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
    return from_cuda(cudaMemsetAsync(result, 0, bytes, c.stream));
  std::memset(result, 0, bytes);
  return Status::ok();
}

// Ridge's own reductions are for contiguous vectors of f32, f16 and bf16.
bool for_family(const Vector& v) { return v.step == 1 && v.dtype != Dtype::f64; }
Tensor tensor(const Vector& v, int64_t n) { return {v.data, v.dtype, {n}}; }

Status run_reduction(Scratch& scratch, const Context& c, Reduction reduction, int64_t n,
                     const Vector& x, const Vector& y, void* result, Dtype result_type) {
  const Tensor out(result, result_type, {1});
  if (reduction == Reduction::dot && for_family(x) && for_family(y))
    return run_operator(scratch, [&](const Workspace& w) {
      return ridge::dot(tensor(x, n), tensor(y, n), out, w, c.stream);
    });
  if (reduction == Reduction::asum && for_family(x))
    return run_operator(scratch, [&](const Workspace& w) {
      return ridge::norm_l1(tensor(x, n), out, w, c.stream);
    });
  const auto parts = scratch.get(kPartsBytes);
  if (!parts) return parts.error();
  return reduce(reduction, n, x, y, result, result_type, *parts, c.stream);
}

Status reduction(const Context& c, Reduction which, int64_t n, const Vector& x, const Vector& y,
                 void* result, Dtype result_type) {
  Scratch scratch(c);
  return deliver(c, scratch, result, size_of(result_type), [&](void* place) {
    return run_reduction(scratch, c, which, n, x, y, place, result_type);
  });
}

}  // namespace

Status call_axpy(const Context& c, int64_t n, GivenScalar alpha, GivenVector x, GivenVector y,
                 cudaDataType execution) {
  Arguments a(c);
  common_format(a, x, y, execution);
  const Scalar factor = scalar(a, "alpha", alpha);
  const Vector vx = vector(a, "x", x, n), vy = vector(a, "y", y, n);
  if (!a || n <= 0 || factor.is(0)) return a.status();
  return axpy(n, factor, vx, vy, c.stream);
}

Status call_scal(const Context& c, int64_t n, GivenScalar alpha, GivenVector x,
                 cudaDataType execution) {
  Arguments a(c);
  common_format(a, x, execution);
  const Scalar factor = scalar(a, "alpha", alpha);
  const Vector vx = vector(a, "x", x, n);
  if (!a || n <= 0 || x.increment <= 0) return a.status();
  return scal(n, factor, vx, c.stream);
}

Status call_copy(const Context& c, int64_t n, GivenVector x, GivenVector y) {
  Arguments a(c);
  common_format(a, x, y, usual_execution(x.type));
  const Vector vx = vector(a, "x", x, n), vy = vector(a, "y", y, n);
  if (!a || n <= 0) return a.status();
  return copy(n, vx, vy, c.stream);
}

Status call_swap(const Context& c, int64_t n, GivenVector x, GivenVector y) {
  Arguments a(c);
  common_format(a, x, y, usual_execution(x.type));
  const Vector vx = vector(a, "x", x, n), vy = vector(a, "y", y, n);
  if (!a || n <= 0) return a.status();
  return swap(n, vx, vy, c.stream);
}

Status call_rot(const Context& c, int64_t n, GivenVector x, GivenVector y, GivenScalar cosine,
                GivenScalar sine, cudaDataType execution) {
  Arguments a(c);
  common_format(a, x, y, execution);
  const Scalar of_c = scalar(a, "c", cosine), of_s = scalar(a, "s", sine);
  const Vector vx = vector(a, "x", x, n), vy = vector(a, "y", y, n);
  if (!a || n <= 0) return a.status();
  return rot(n, vx, vy, of_c, of_s, c.stream);
}

Status call_dot(const Context& c, int64_t n, GivenVector x, GivenVector y, void* result,
                cudaDataType result_type, cudaDataType execution) {
  Arguments a(c);
  const Dtype dtype = common_format(a, x, y, execution);
  if (result_type != x.type)
    a.fail(unsupported("a result in " + type_name(result_type) + " of vectors in " +
                       type_name(x.type) + "; Ridge's cuBLAS gives it in their format"));
  a.result("result", result);
  const Vector vx = vector(a, "x", x, n), vy = vector(a, "y", y, n);
  if (!a) return a.status();
  if (n <= 0) return deliver_zero(c, result, size_of(dtype));
  return reduction(c, Reduction::dot, n, vx, vy, result, dtype);
}

Status call_norm(const Context& c, Reduction norm, int64_t n, GivenVector x, void* result,
                 cudaDataType result_type, cudaDataType execution) {
  Arguments a(c);
  const Dtype dtype = common_format(a, x, execution);
  if (result_type != x.type)
    a.fail(unsupported("a result in " + type_name(result_type) + " of a vector in " +
                       type_name(x.type) + "; Ridge's cuBLAS gives it in the vector's format"));
  a.result("result", result);
  const Vector vx = vector(a, "x", x, n);
  if (!a) return a.status();
  if (n <= 0 || x.increment <= 0) return deliver_zero(c, result, size_of(dtype));
  return reduction(c, norm, n, vx, {}, result, dtype);
}

Status call_extreme(const Context& c, Reduction extreme, int64_t n, GivenVector x, void* result,
                    Dtype result_type) {
  Arguments a(c);
  common_format(a, x, usual_execution(x.type));
  a.result("result", result);
  const Vector vx = vector(a, "x", x, n);
  if (!a) return a.status();
  if (n <= 0 || x.increment <= 0) return deliver_zero(c, result, size_of(result_type));
  return reduction(c, extreme, n, vx, {}, result, result_type);
}

}  // namespace ridge::cublas
