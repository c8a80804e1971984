// The kernel library and the CUDA runtime under it, loaded when they are first needed.
//
// On a GPU the runtime is NVIDIA's, the one that PyTorch has loaded if it is there. Without a GPU
// it is the software GPU. PyTorch's usual wheel brings NVIDIA's libcudart.so.13 along even then,
// and a process takes one library of a name for all. So the software GPU, and all that is linked
// with it, gets a linker namespace of its own (dlmopen): neither sees the other, in whatever order
// they come.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ridge/c.h"

namespace ridge::python {

// An exception of the Python package: `kind` is the name of its class in ridge._errors.
struct Failure : std::runtime_error {
  Failure(const char* kind, const std::string& message) : runtime_error(message), kind(kind) {}
  const char* kind;
};

// Functions of the runtime that are called here.
#define RIDGE_RUNTIME_FUNCTIONS(X) \
  X(cudaDeviceGetAttribute)        \
  X(cudaDeviceReset)               \
  X(cudaDeviceSynchronize)         \
  X(cudaFree)                      \
  X(cudaGetDevice)                 \
  X(cudaGetDeviceCount)            \
  X(cudaGetErrorName)              \
  X(cudaGetErrorString)            \
  X(cudaGetLastError)              \
  X(cudaHostRegister)              \
  X(cudaHostUnregister)            \
  X(cudaMemcpy)                    \
  X(cudaSetDevice)                 \
  X(cudaStreamSynchronize)

struct Library {
  bool software = false;  // the software GPU
  std::string device;     // its name

#define X(name) decltype(&::name) name = nullptr;
  RIDGE_RUNTIME_FUNCTIONS(X)
#undef X
  cudaError_t (*cudaMalloc)(void**, size_t) = nullptr;  // the header overloads it in C++
  // Since CUDA 12.9; null before.
  cudaError_t (*cudaLogsCurrent)(void** iterator, unsigned flags) = nullptr;
  cudaError_t (*cudaLogsDumpToMemory)(void** iterator, char* buffer, size_t* size,
                                      unsigned flags) = nullptr;

  decltype(&::ridge_error) error = nullptr;
  decltype(&::ridge_operator_count) operator_count = nullptr;
  decltype(&::ridge_operator_name) operator_name = nullptr;
  decltype(&::ridge_operator_json) operator_json = nullptr;
  decltype(&::ridge_outputs) outputs = nullptr;
  decltype(&::ridge_run) run = nullptr;

  // A library of the user's, beside ours; throws a Failure.
  void* open(const std::string& file) const;
  void* symbol(void* library, const char* name) const;  // or null

  // Has to come before the first call of each thread: the software GPU has a C library of its own,
  // which must be told of threads that it did not start.
  void enter_thread() const;
  void flush() const;  // what kernels have printed

 private:
  friend const Library& library();
  void load();
  void load_runtime();
  void load_software_gpu();
  void load_ridge();
  void* open_here(const std::string& file, std::string& why) const;
  void* runtime_ = nullptr;
  long name_space_ = 0;  // of the linker; 0: that of the process
  void (*ctype_init_)() = nullptr;
  int (*fflush_)(void*) = nullptr;
};

// What is wanted of the library, before it is first used.
struct Wishes {
  std::string libridge;               // the file
  std::string software_gpu;           // the folder with its libcudart.so.13
  std::vector<std::string> runtimes;  // where else NVIDIA's runtime may lie
  std::string device = "auto";        // or "gpu" or "vm"
};
Wishes& wishes();
bool is_loaded();

// Loads it at the first call. Throws a Failure: nothing there, or a process that forked since.
const Library& library();

}  // namespace ridge::python
