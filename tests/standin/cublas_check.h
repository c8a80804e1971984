// What the tests of cuBLAS share: arrays in device memory, four number formats, and comparison with
// float64. Nothing here knows which library runs: Ridge's on the software GPU, NVIDIA's on a GPU.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace ridge::standin {

inline bool is_standin() { return dlsym(RTLD_DEFAULT, "ridge_vm_tell") != nullptr; }

// --- Formats ---

template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr cudaDataType type = CUDA_R_32F;
  static constexpr double epsilon = 0x1p-24;  // of one rounding
  using Compute = float;
};
template <>
struct Format<double> {
  static constexpr cudaDataType type = CUDA_R_64F;
  static constexpr double epsilon = 0x1p-53;
  using Compute = double;
};
template <>
struct Format<__half> {
  static constexpr cudaDataType type = CUDA_R_16F;
  static constexpr double epsilon = 0x1p-11;
  using Compute = float;
};
template <>
struct Format<__nv_bfloat16> {
  static constexpr cudaDataType type = CUDA_R_16BF;
  static constexpr double epsilon = 0x1p-8;
  using Compute = float;
};
template <class T>
double to_double(T x) {
  if constexpr (std::is_same_v<T, double>) return x;
  else return double(float(x));
}
template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, double>) return x;
  else return T(float(x));
}

// Numbers with few bits, so that they are the same in every format; `seed` gives others.
inline double number(uint64_t i, uint64_t seed) {
  uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1B54A32D192ED03u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 32;
  return (double(x % 255) - 127) / 64;
}
template <class T>
std::vector<T> numbers(size_t n, uint64_t seed) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = from_double<T>(number(i, seed));
  return values;
}

// --- Device memory ---

template <class T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : size_(values.size()) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, std::max<size_t>(size_, 1) * sizeof(T)), cudaSuccess);
    data_ = static_cast<T*>(memory);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~Device() { (void)cudaFree(data_); }
  Device(const Device&) = delete;
  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> values(size_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// --- A handle, and factors where its pointer mode wants them ---

class Handle {
 public:
  explicit Handle(cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST) : mode_(mode) {
    EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSetPointerMode(handle_, mode), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaMalloc(&memory_, kBytes), cudaSuccess);
  }
  ~Handle() {
    EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS);
    (void)cudaFree(memory_);
  }
  Handle(const Handle&) = delete;
  operator cublasHandle_t() const { return handle_; }

  // Pointers stay valid until kBytes are used up and the first is written again.
  template <class T>
  const T* scalar(T value) {
    used_ = (used_ + 16) % kBytes;
    char* const place = static_cast<char*>(memory_) + used_;
    if (mode_ == CUBLAS_POINTER_MODE_HOST) {
      std::memcpy(host_ + used_, &value, sizeof value);
      return reinterpret_cast<const T*>(host_ + used_);
    }
    EXPECT_EQ(cudaMemcpy(place, &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
    return reinterpret_cast<const T*>(place);
  }
  // What `call(result)` has written.
  template <class T, class F>
  T result(F call) {
    T value = T();
    if (mode_ == CUBLAS_POINTER_MODE_HOST) {
      EXPECT_EQ(call(&value), CUBLAS_STATUS_SUCCESS);
      return value;
    }
    EXPECT_EQ(call(static_cast<T*>(memory_)), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaMemcpy(&value, memory_, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }

 private:
  static constexpr size_t kBytes = 4096;
  cublasPointerMode_t mode_;
  cublasHandle_t handle_ = nullptr;
  void* memory_ = nullptr;
  alignas(16) char host_[kBytes];
  size_t used_ = 0;
};

inline constexpr cublasPointerMode_t kPointerModes[] = {CUBLAS_POINTER_MODE_HOST,
                                                        CUBLAS_POINTER_MODE_DEVICE};

// --- Vectors as BLAS has them ---

// How many elements of memory a vector takes.
inline size_t reach(int64_t n, int64_t increment) {
  return n <= 0 ? 0 : size_t((n - 1) * std::abs(increment) + 1);
}
// Where element i lies.
inline size_t place(int64_t i, int64_t n, int64_t increment) {
  return size_t(increment < 0 ? (i - (n - 1)) * increment : i * increment);
}

// --- Comparison: in positive form, so that a NaN never passes ---

inline void expect_near(double got, double wanted, double tolerance, const std::string& where) {
  EXPECT_TRUE(std::abs(got - wanted) <= tolerance)
      << where << ": " << got << " instead of " << wanted << ", tolerance " << tolerance;
}

}  // namespace ridge::standin
