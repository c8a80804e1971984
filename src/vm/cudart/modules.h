// What the program's units register before main: fat binaries, kernels and variables; and libraries
// loaded later.
//
// Registering only writes things down. A fat binary is unpacked and its PTX loaded when the first
// kernel or variable of it is used, so that a program with a hundred units pays for those it needs,
// and damage is reported where it hurts.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

struct LoadedImage;  // a fat binary or a library

// One kernel, however it was named: by its host stub, by a cudaKernel_t, by a library and a name.
struct KernelHandle {
  LoadedImage* image = nullptr;
  std::string name;
  Kernel* kernel = nullptr;     // null until first use, and again after a device reset
  int max_dynamic_shared = -1;  // cudaFuncSetAttribute; -1: the default limit
  int shared_carveout = -1;
  bool large_clusters = false;  // of more than 8 blocks, the size every device with clusters has
  int cluster_policy = 0;
  std::array<int, 3> required_cluster =
      {};  // set at run time; 0: what the compiler has said, if any
};

struct DeviceVariable {
  LoadedImage* image = nullptr;
  std::string name;
  size_t size = 0;
  bool constant = false;
  void** managed_pointer = nullptr;  // where the program reads a __managed__ variable's address
};

struct LoadedImage {
  const void* source = nullptr;  // wrapper, container or PTX text
  bool library = false;  // loaded by the program itself; unloaded for good by a device reset
  bool optimise = true;  // cudaJitOptimizationLevel is not 0
  Program* program = nullptr;
  std::string* log = nullptr;  // where loading says what is wrong, too
  std::string why;             // the same
  bool tried = false;          // loading was tried; `error` is its outcome
  cudaError_t error = cudaSuccess;
  std::vector<std::unique_ptr<KernelHandle>> functions;
  std::vector<std::unique_ptr<DeviceVariable>> variables;
};

class Modules {
 public:
  LoadedImage* add_fat_binary(const void* wrapper);
  void remove(LoadedImage* image);
  void add_function(LoadedImage* image, const void* host, std::string name);
  void add_variable(LoadedImage* image, const void* host, DeviceVariable variable);

  // cudaLibrary_t (libraries.cpp). The code may be PTX text, a container, or a wrapper.
  // What is wrong with it goes into `log`, or to stderr.
  cudaError_t load_library(const void* code, bool optimise, LoadedImage** library,
                           std::string* log = nullptr);
  cudaError_t unload_library(LoadedImage* library);
  bool is_library(const LoadedImage* image);
  cudaError_t library_kernel(LoadedImage* library, std::string_view name, KernelHandle** function);
  cudaError_t library_kernels(LoadedImage* library, std::vector<KernelHandle*>* functions);
  cudaError_t library_variable(LoadedImage* library, std::string_view name, Engine::Symbol* symbol);

  // A host stub or a handle; null when it is neither.
  KernelHandle* find_function(const void* host_or_handle);
  // The function's kernel, loading its image first where needed.
  cudaError_t resolve(KernelHandle* function, Kernel** kernel);
  cudaError_t find_symbol(const void* host, Engine::Symbol* symbol);
  cudaError_t load(LoadedImage* image);  // once; later calls answer the first outcome

  void reset();  // forget everything loaded; registrations stay

 private:
  cudaError_t load_now(LoadedImage* image);
  cudaError_t load_text(LoadedImage* image, std::string ptx, const std::string& name);
  const DeviceVariable* find_variable(const void* host) const;
  KernelHandle* library_function(LoadedImage* library, Kernel* kernel);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<LoadedImage>> images_;
  // By host stub, and by handle (its own address).
  std::unordered_map<const void*, KernelHandle*> functions_;
  std::unordered_map<const void*, DeviceVariable*> variables_;  // by host address
};

}  // namespace ridge::vm::cudart
