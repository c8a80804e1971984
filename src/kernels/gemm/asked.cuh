// What a call asks for beside alpha and beta, applied to some values of a thread at once, so that
// the choices of a call are branches around the values, not inside of each.
//
// A rung with epilogues has two kernels, one of which only knows alpha and beta (with_asked): an
// epilogue takes registers, also where a call does not ask for it. All choices are in one kernel,
// which makes a loop of them, each time around with a few of its sums, so that there is not a copy
// of them for each sum.
#pragma once

#include <algorithm>

#include "device/epilogue.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm {

// A template, so that several units may have it.
template <class Value>
__global__ void gemm_clear_amax(Value* amax, int64_t step, int64_t rows, int64_t batch) {
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * batch; i += threads)
    amax[i / rows * step + i % rows] = 0;
}

// Kernels raise amax, so it begins with 0.
inline Status clear_amax(const Args& args, cudaStream_t stream) {
  const Epilogue& asked = args.epilogue;
  if (!asked.amax || args.m == 0 || args.batch == 0) return Status::ok();
  constexpr int64_t kThreads = 256, kMostBlocks = 1024;
  const int64_t blocks = std::min((args.m * args.batch + kThreads - 1) / kThreads, kMostBlocks);
  gemm_clear_amax<<<unsigned(blocks), unsigned(kThreads), 0, stream>>>(asked.amax, asked.amax_step,
                                                                       args.m, args.batch);
  return launch_status();
}

// Calls f(is anything asked for) as a constant.
template <class F>
Status with_asked(const Args& args, cudaStream_t stream, F f) {
  if (args.epilogue.is_plain()) return f(std::false_type());
  const Status cleared = clear_amax(args, stream);
  return cleared ? f(std::true_type()) : cleared;
}

template <class V>
__device__ __forceinline__ const V* vector_of(const Vectors& all, int64_t batch) {
  return static_cast<const V*>(all.data) + batch * all.batch_step;
}

template <int N, class F>
__device__ __forceinline__ void change_each(float (&values)[N], F f) {
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = f(values[i], i);
}
template <class F, int N>
__device__ __forceinline__ void activate(float (&values)[N]) {
  change_each(values, [](float x, int) { return F::value(x); });
}

// From sums times alpha to what beta c is added to. T is the format of d; where d may also be f32,
// as `is_wide` says, it is the other format. `Places` says where the values are: places.rows(data)
// and places.columns(data) are functions of i, which give the element of a vector along the rows or
// the columns that belongs to value i. Of a pair, the first value becomes the result.
template <class T, int N, class Places>
__device__ __forceinline__ void apply_before_c(const Epilogue& asked, int64_t batch, bool is_wide,
                                               const Places& places, float (&values)[N]) {
  if (asked.row_scale.data) {
    const auto scale = places.rows(vector_of<float>(asked.row_scale, batch));
    change_each(values, [&](float x, int i) { return x * scale(i); });
  }
  if (asked.col_scale.data) {
    const auto scale = places.columns(vector_of<float>(asked.col_scale, batch));
    change_each(values, [&](float x, int i) { return x * scale(i); });
  }
  const auto add = [&](const auto* vector) {
    const auto bias = places.columns(vector);
    change_each(values, [&](float x, int i) { return x + bias(i); });
  };
  if (asked.bias.data) {
    if (is_wide) add(vector_of<float>(asked.bias, batch));
    else add(vector_of<T>(asked.bias, batch));
  }
  switch (asked.activation) {
    case Activation::none: break;
    case Activation::relu: activate<activations::Relu<T>>(values); break;
    case Activation::gelu:
      if (is_wide) activate<activations::Gelu<float>>(values);
      else activate<activations::Gelu<T>>(values);
      break;
    case Activation::gelu_tanh: activate<activations::GeluTanh<T>>(values); break;
    case Activation::silu: activate<activations::Silu<T>>(values); break;
  }
  if constexpr (N % 2 == 0)
    if (asked.swiglu)
#pragma unroll
      for (int i = 0; i < N; i += 2)
        values[i] = activations::Silu<T>::value(values[i]) * values[i + 1];
}

// Calls f(i) with a constant of the value `index`: registers have constant indices only.
template <int kEnd, class F>
__device__ __forceinline__ void with_constant(int index, F f) {
  static_assert(kEnd <= 8);
  const auto call = [&](auto constant) {
    if constexpr (kEnd > decltype(constant)::value) f(constant);
  };
  switch (index) {
    case 0: call(std::integral_constant<int, 0>()); break;
    case 1: call(std::integral_constant<int, 1>()); break;
    case 2: call(std::integral_constant<int, 2>()); break;
    case 3: call(std::integral_constant<int, 3>()); break;
    case 4: call(std::integral_constant<int, 4>()); break;
    case 5: call(std::integral_constant<int, 5>()); break;
    case 6: call(std::integral_constant<int, 6>()); break;
    default: call(std::integral_constant<int, 7>());
  }
}

// Places of neighbours in a row. Columns behind the last one are taken for the last one: what is
// made of their values is not stored.
struct Neighbours {
  int64_t row, col, last;

  __device__ __forceinline__ auto rows(const float* vector) const {
    return [element = vector[row]](int) { return element; };
  }
  template <class V>
  __device__ __forceinline__ auto columns(const V* vector) const {
    return [*this, vector](int i) { return to_float(vector[min(col + i, last)]); };
  }
};

// From the sums of N neighbours in a row to elements of d. Where pairs are made, the first one is
// at an even column.
template <class T, int N>
__device__ __forceinline__ void put_asked(const Args& args, int64_t row, int64_t col,
                                          const float (&sums)[N], int64_t batch = blockIdx.y) {
  if (row >= args.m || col >= args.n) return;
  const Epilogue& asked = args.epilogue;
  float values[N];
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = args.alpha * sums[i];
  apply_before_c<T>(asked, batch, sizeof(T) == 4, Neighbours{row, col, args.n - 1}, values);
  const auto c = matrix<T>(args.c, args.m, args.n, batch);
  T* const d = static_cast<T*>(args.d) + batch * args.d_batch_step + row * args.d_step;
  const int step = asked.swiglu ? 2 : 1;  // of a pair, the first one is the result
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (col + i >= args.n || i % step != 0) continue;
    float value = values[i];
    if (args.beta != 0) value += args.beta * to_float(*c.at(row, col + i));
    const T stored = from_float<T>(value);
    d[(col + i) / step] = stored;
    most = max(most, epilogues::magnitude_bits(to_float(stored)));
  }
  if (asked.amax) epilogues::raise(asked.amax + batch * asked.amax_step + row, most);
}

}  // namespace ridge::gemm
