#include "standin/cublas/arguments.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

namespace ridge::cublas {
namespace {

enum class Lies : uint8_t { host, device, both };

Lies where(const void* pointer) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return Lies::host;
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice: return Lies::device;
    case cudaMemoryTypeUnregistered: return Lies::host;
    default: return Lies::both;  // pinned or managed
  }
}

double read(const void* pointer, Dtype dtype) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, pointer, sizeof value);
    return value;
  };
  switch (dtype) {
    case Dtype::f16: return float(as(__half()));
    case Dtype::bf16: return float(as(__nv_bfloat16()));
    case Dtype::f64: return as(double());
    default: return as(float());
  }
}

constexpr const char* kSetHost =
    "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST) lets it lie in host memory";
constexpr const char* kSetDevice =
    "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) lets it lie in device memory";

}  // namespace

std::string type_name(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return "CUDA_R_16F";
    case CUDA_R_16BF: return "CUDA_R_16BF";
    case CUDA_R_32F: return "CUDA_R_32F";
    case CUDA_R_64F: return "CUDA_R_64F";
    case CUDA_C_32F: return "CUDA_C_32F";
    case CUDA_C_64F: return "CUDA_C_64F";
    case CUDA_R_8I: return "CUDA_R_8I";
    case CUDA_R_32I: return "CUDA_R_32I";
    default: return "cudaDataType " + std::to_string(int(type));
  }
}

void Arguments::leading(const char* name, int64_t value, int64_t rows) {
  const int64_t least = std::max<int64_t>(rows, 1);
  if (value < least)
    fail(invalid(std::string(name) + " is " + std::to_string(value) +
                 ", but the matrix has columns of " + std::to_string(rows) +
                 " elements; it has to be at least " + std::to_string(least)));
}

Dtype Arguments::format(const char* name, cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return Dtype::f16;
    case CUDA_R_16BF: return Dtype::bf16;
    case CUDA_R_32F: return Dtype::f32;
    case CUDA_R_64F: return Dtype::f64;
    default:
      fail(unsupported(std::string(name) + " is " + type_name(type) +
                       "; Ridge's cuBLAS has CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F and CUDA_R_64F"));
      return Dtype::f32;
  }
}

bool Arguments::transposed(const char* name, cublasOperation_t op) {
  require(op >= CUBLAS_OP_N && op <= CUBLAS_OP_C, name, op,
          "CUBLAS_OP_N (0), CUBLAS_OP_T (1) or CUBLAS_OP_C (2)");
  return op != CUBLAS_OP_N;
}

Scalar Arguments::scalar(const char* name, const void* pointer, Dtype dtype) {
  result(name, pointer);
  if (!status_) return {};
  if (context_.pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
    return {.value = 0, .device = pointer, .dtype = dtype};
  return {.value = read(pointer, dtype), .device = nullptr, .dtype = dtype};
}

void Arguments::result(const char* name, const void* pointer) {
  if (!pointer) fail(invalid(std::string(name) + " is null"));
  if (!status_) return;
  const Lies lies = where(pointer);
  const bool on_device = context_.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  if (on_device && lies == Lies::host)
    fail(invalid(std::string(name) +
                 " lies in host memory, but the pointer mode is that of the device; " + kSetHost));
  if (!on_device && lies == Lies::device)
    fail(invalid(std::string(name) +
                 " lies in device memory, but the pointer mode is that of the host; " +
                 kSetDevice));
}

void Arguments::device(const char* name, const void* pointer, int64_t elements) {
  if (!status_ || elements <= 0) return;
  if (!pointer) {
    fail(invalid(std::string(name) + " is null"));
  } else if (where(pointer) == Lies::host) {
    // A GPU would fail in the middle of a kernel.
    fail({CUBLAS_STATUS_EXECUTION_FAILED,
          std::string(name) + " lies in host memory, which kernels cannot reach; allocate it with "
                              "cudaMalloc and copy it there"});
  }
}

Vector Arguments::vector(const char* name, const void* data, Dtype dtype, int64_t n,
                         int64_t increment) {
  device(name, data, n);
  if (!status_ || n <= 0) return {.data = nullptr, .dtype = dtype, .step = increment};
  const int64_t first = increment < 0 ? (1 - n) * increment : 0;
  return {.data = static_cast<char*>(const_cast<void*>(data)) + first * int64_t(size_of(dtype)),
          .dtype = dtype,
          .step = increment};
}

Scratch::~Scratch() {
  for (int i = 0; i < count_; ++i) (void)cudaFreeAsync(allocated_[i], context_.stream);
}

Expected<void*> Scratch::get(size_t bytes) {
  constexpr size_t kAlignment = 256;
  const size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (context_.workspace && whole <= context_.workspace_bytes - used_) {
    void* const place = static_cast<char*>(context_.workspace) + used_;
    used_ += whole;
    return place;
  }
  if (count_ == kMost) return Error{CUBLAS_STATUS_INTERNAL_ERROR, "too many pieces of scratch"};
  void* memory = nullptr;
  if (const Status made = from_cuda(cudaMallocAsync(&memory, whole, context_.stream)); !made)
    return Error{made.code(),
                 std::to_string(whole) + " bytes of scratch memory: " + made.message()};
  return allocated_[count_++] = memory;
}

}  // namespace ridge::cublas
