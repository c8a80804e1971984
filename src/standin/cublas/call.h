// What every exported function of the stand-in does around its work: it takes the handle apart,
// reports a failure, and writes the log.
//
// Inside, functions return ridge::Status, whose code is a cublasStatus_t.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "core/status.h"
#include "standin/cublas/status.h"

#pragma GCC visibility push(default)  // functions defined under these names are exported
#include "cublas_api.h"
#pragma GCC visibility pop

// What a handle points to.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
  // The program's own scratch memory; null: the stand-in allocates.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};

namespace ridge::cublas {

using Context = cublasContext;

inline Error invalid(std::string why) { return {CUBLAS_STATUS_INVALID_VALUE, std::move(why)}; }
inline Error unsupported(std::string why) { return {CUBLAS_STATUS_NOT_SUPPORTED, std::move(why)}; }

Status from_cuda(cudaError_t error);
// Of one of Ridge's operators, whose codes are those of CUDA.
Status from_operator(const Status& status);

// --- Handles ---

Expected<Context*> create_context();
bool destroy_context(Context* context);  // false: there is none at this address
Status check_context(const Context* context);

// --- The end of a call ---

// Reports the failure, if it is one, and writes the log. `function` is the exported name.
cublasStatus_t finish(const char* function, const Status& status);

template <class F>
cublasStatus_t call(const char* function, F&& body) {
  return finish(function, body());
}
template <class F>
cublasStatus_t call(const char* function, cublasHandle_t handle, F&& body) {
  if (const Status known = check_context(handle); !known) return finish(function, known);
  return finish(function, body(*handle));
}

// --- The log, which programs turn on ---

struct LogTargets {
  bool on = false, to_stdout = false, to_stderr = false;
  std::string file;  // empty: none
};
void configure_log(const LogTargets& targets);
void set_log_callback(cublasLogCallback callback);
cublasLogCallback log_callback();

}  // namespace ridge::cublas
