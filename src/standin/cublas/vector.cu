// axpy, scal, copy, swap and rot: one thread per element, with any steps.
#include "standin/cublas/elements.cuh"

namespace ridge::cublas {

template <class T>
__global__ void axpy_kernel(int64_t n, Scalar alpha, const T* x, int64_t x_step, T* y,
                            int64_t y_step) {
  const auto a = value_of<Compute<T>>(alpha);
  if (a == 0) return;  // whatever x holds, y stays
  for (int64_t i = first_index(); i < n; i += index_step())
    y[i * y_step] = from_compute<T>(a * to_compute(x[i * x_step]) + to_compute(y[i * y_step]));
}

template <class T>
__global__ void scal_kernel(int64_t n, Scalar alpha, T* x, int64_t step) {
  const auto a = value_of<Compute<T>>(alpha);
  for (int64_t i = first_index(); i < n; i += index_step())
    x[i * step] = from_compute<T>(a * to_compute(x[i * step]));
}

template <class T>
__global__ void copy_kernel(int64_t n, const T* x, int64_t x_step, T* y, int64_t y_step) {
  for (int64_t i = first_index(); i < n; i += index_step()) y[i * y_step] = x[i * x_step];
}

template <class T>
__global__ void swap_kernel(int64_t n, T* x, int64_t x_step, T* y, int64_t y_step) {
  for (int64_t i = first_index(); i < n; i += index_step()) {
    const T held = x[i * x_step];
    x[i * x_step] = y[i * y_step];
    y[i * y_step] = held;
  }
}

template <class T>
__global__ void rot_kernel(int64_t n, T* x, int64_t x_step, T* y, int64_t y_step, Scalar cosine,
                           Scalar sine) {
  const auto c = value_of<Compute<T>>(cosine), s = value_of<Compute<T>>(sine);
  for (int64_t i = first_index(); i < n; i += index_step()) {
    const auto a = to_compute(x[i * x_step]), b = to_compute(y[i * y_step]);
    x[i * x_step] = from_compute<T>(c * a + s * b);
    y[i * y_step] = from_compute<T>(c * b - s * a);
  }
}

Status axpy(int64_t n, const Scalar& alpha, const Vector& x, const Vector& y, cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) {
    return launch(axpy_kernel<T>, blocks_for(n), kThreads, stream, n, alpha,
                  static_cast<const T*>(x.data), x.step, static_cast<T*>(y.data), y.step);
  });
}

Status scal(int64_t n, const Scalar& alpha, const Vector& x, cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) {
    return launch(scal_kernel<T>, blocks_for(n), kThreads, stream, n, alpha,
                  static_cast<T*>(x.data), x.step);
  });
}

Status copy(int64_t n, const Vector& x, const Vector& y, cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) {
    return launch(copy_kernel<T>, blocks_for(n), kThreads, stream, n, static_cast<const T*>(x.data),
                  x.step, static_cast<T*>(y.data), y.step);
  });
}

Status swap(int64_t n, const Vector& x, const Vector& y, cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) {
    return launch(swap_kernel<T>, blocks_for(n), kThreads, stream, n, static_cast<T*>(x.data),
                  x.step, static_cast<T*>(y.data), y.step);
  });
}

Status rot(int64_t n, const Vector& x, const Vector& y, const Scalar& c, const Scalar& s,
           cudaStream_t stream) {
  return with_type(x.dtype, [&]<class T>(T) {
    return launch(rot_kernel<T>, blocks_for(n), kThreads, stream, n, static_cast<T*>(x.data),
                  x.step, static_cast<T*>(y.data), y.step, c, s);
  });
}

}  // namespace ridge::cublas
