// An array on the device with its copy on the host, for tests of the API.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "ridge/tensor.h"

namespace ridge {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::vector<T> values) : size_(values.size()) {
    EXPECT_EQ(cudaMalloc(&data_, std::max<size_t>(size_, 1) * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  explicit DeviceArray(size_t size, T value = T()) : DeviceArray(std::vector<T>(size, value)) {}
  ~DeviceArray() { (void)cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> values() const {
    std::vector<T> out(size_);
    EXPECT_EQ(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return out;
  }

 private:
  void* data_ = nullptr;
  size_t size_;
};

}  // namespace ridge
