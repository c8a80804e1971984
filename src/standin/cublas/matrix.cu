// ger, geam, dgmm; gathering matrices behind pointers, scaling products, and the product of f64
// matrices, for which there is no family.
#include "standin/cublas/elements.cuh"

namespace ridge::cublas {

__device__ __forceinline__ int64_t count(const Size& size) {
  return size.rows * size.cols * size.batch;
}

// Which element of which matrix the i-th one is: rows first, then columns, then matrices.
struct Place {
  int64_t row, col, batch;
};
__device__ __forceinline__ Place place_of(int64_t i, const Size& size) {
  return {i % size.rows, i / size.rows % size.cols, i / (size.rows * size.cols)};
}

template <class T>
__device__ __forceinline__ T* matrix(const Matrices& m, int64_t batch) {
  return (m.pointers ? static_cast<T*>(m.pointers[batch])
                     : static_cast<T*>(m.data) + batch * m.batch_step) +
         m.offset;
}
template <class T>
__device__ __forceinline__ T& element(const Matrices& m, const Place& p) {
  return matrix<T>(m, p.batch)[p.row * m.row_step + p.col * m.col_step];
}

template <class T>
__global__ void ger_kernel(Size size, Scalar alpha, const T* x, int64_t x_step, const T* y,
                           int64_t y_step, Matrices a) {
  const T factor = value_of<T>(alpha);
  if (factor == 0) return;
  for (int64_t i = first_index(); i < count(size); i += index_step()) {
    const Place p = place_of(i, size);
    element<T>(a, p) += factor * x[p.row * x_step] * y[p.col * y_step];
  }
}

template <class T>
__global__ void geam_kernel(Size size, Scalar alpha, Matrices a, Scalar beta, Matrices b,
                            Matrices c) {
  const T of_a = value_of<T>(alpha), of_b = value_of<T>(beta);
  for (int64_t i = first_index(); i < count(size); i += index_step()) {
    const Place p = place_of(i, size);
    T sum = 0;
    if (of_a != 0) sum = of_a * element<T>(a, p);
    if (of_b != 0) sum += of_b * element<T>(b, p);
    element<T>(c, p) = sum;
  }
}

template <class T>
__global__ void dgmm_kernel(Size size, bool left, Matrices a, const T* x, int64_t step,
                            Matrices c) {
  for (int64_t i = first_index(); i < count(size); i += index_step()) {
    const Place p = place_of(i, size);
    element<T>(c, p) = element<T>(a, p) * x[(left ? p.row : p.col) * step];
  }
}

template <class T>
__global__ void gather_kernel(Size size, Matrices from, T* to) {
  for (int64_t i = first_index(); i < count(size); i += index_step())
    to[i] = element<T>(from, place_of(i, size));
}

template <class T>
__global__ void combine_kernel(Size size, Scalar alpha, const Compute<T>* product, Scalar beta,
                               Matrices c) {
  const auto of_product = value_of<Compute<T>>(alpha), of_c = value_of<Compute<T>>(beta);
  for (int64_t i = first_index(); i < count(size); i += index_step()) {
    T& out = element<T>(c, place_of(i, size));
    Compute<T> sum = 0;
    if (of_product != 0) sum = of_product * product[i];
    if (of_c != 0) sum += of_c * to_compute(out);
    out = from_compute<T>(sum);
  }
}

// A tile of 16 x 16 results per block, with tiles of A and B in shared memory.
constexpr int kTile = 16;
__global__ void multiply_f64_kernel(Size size, int64_t inner, Matrices a, Matrices b,
                                    double* product) {
  __shared__ double tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];  // (row, k), (k, col)
  const int x = threadIdx.x, y = threadIdx.y;
  const int64_t row0 = int64_t(blockIdx.x) * kTile;
  const int64_t col_tiles = (size.cols + kTile - 1) / kTile;
  for (int64_t tile = blockIdx.y; tile < col_tiles * size.batch; tile += gridDim.y) {
    const int64_t col0 = tile % col_tiles * kTile, batch = tile / col_tiles;
    const double *of_a = matrix<double>(a, batch), *of_b = matrix<double>(b, batch);
    double sum = 0;
    for (int64_t k0 = 0; k0 < inner; k0 += kTile) {
      const bool in_a = row0 + x < size.rows && k0 + y < inner;
      const bool in_b = k0 + x < inner && col0 + y < size.cols;
      tile_a[x][y] = in_a ? of_a[(row0 + x) * a.row_step + (k0 + y) * a.col_step] : 0;
      tile_b[x][y] = in_b ? of_b[(k0 + x) * b.row_step + (col0 + y) * b.col_step] : 0;
      __syncthreads();
      for (int k = 0; k < kTile; ++k) sum += tile_a[x][k] * tile_b[k][y];
      __syncthreads();
    }
    if (row0 + x < size.rows && col0 + y < size.cols)
      product[(batch * size.cols + col0 + y) * size.rows + row0 + x] = sum;
  }
}

Status ger(const Size& size, const Scalar& alpha, const Vector& x, const Vector& y,
           const Matrices& a, cudaStream_t stream) {
  const auto run = [&]<class T>(T) {
    return launch(ger_kernel<T>, blocks_for(size.elements()), kThreads, stream, size, alpha,
                  static_cast<const T*>(x.data), x.step, static_cast<const T*>(y.data), y.step, a);
  };
  return a.dtype == Dtype::f64 ? run(double()) : run(float());
}

Status geam(const Size& size, const Scalar& alpha, const Matrices& a, const Scalar& beta,
            const Matrices& b, const Matrices& c, cudaStream_t stream) {
  return launch(c.dtype == Dtype::f64 ? geam_kernel<double> : geam_kernel<float>,
                blocks_for(size.elements()), kThreads, stream, size, alpha, a, beta, b, c);
}

Status dgmm(const Size& size, bool left, const Matrices& a, const Vector& x, const Matrices& c,
            cudaStream_t stream) {
  const auto run = [&]<class T>(T) {
    return launch(dgmm_kernel<T>, blocks_for(size.elements()), kThreads, stream, size, left, a,
                  static_cast<const T*>(x.data), x.step, c);
  };
  return c.dtype == Dtype::f64 ? run(double()) : run(float());
}

Status gather(const Size& size, const Matrices& from, void* to, cudaStream_t stream) {
  return with_type(from.dtype, [&]<class T>(T) {
    return launch(gather_kernel<T>, blocks_for(size.elements()), kThreads, stream, size, from,
                  static_cast<T*>(to));
  });
}

Status combine(const Size& size, const Scalar& alpha, const void* product, const Scalar& beta,
               const Matrices& c, cudaStream_t stream) {
  return with_type(c.dtype, [&]<class T>(T) {
    return launch(combine_kernel<T>, blocks_for(size.elements()), kThreads, stream, size, alpha,
                  static_cast<const Compute<T>*>(product), beta, c);
  });
}

Status multiply_f64(const Size& size, int64_t inner, const Matrices& a, const Matrices& b,
                    double* product, cudaStream_t stream) {
  const auto tiles = [](int64_t n) { return (n + kTile - 1) / kTile; };
  constexpr int64_t kHighest = 65535;  // of a grid's y
  const dim3 grid(unsigned(tiles(size.rows)),
                  unsigned(std::min(tiles(size.cols) * size.batch, kHighest)));
  return launch(multiply_f64_kernel, grid, dim3(kTile, kTile), stream, size, inner, a, b, product);
}

}  // namespace ridge::cublas
