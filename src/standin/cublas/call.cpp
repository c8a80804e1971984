#include "standin/cublas/call.h"

#include <cstdio>
#include <mutex>
#include <new>
#include <set>
#include <string_view>

#include "standin/tell.h"

namespace ridge::cublas {
namespace {

// Never destroyed: a program may call cuBLAS in the destructors of its own static objects.
struct State {
  std::mutex mutex;
  std::set<const Context*> contexts;
  LogTargets log;
  std::FILE* log_file = nullptr;
  cublasLogCallback log_callback = nullptr;
};
State& state() {
  static State& made = *new State;
  return made;
}

// As programs spell it: cublas_v2.h hides the suffix.
std::string spelled(std::string_view function) {
  std::string name(function);
  if (const size_t at = name.find("_v2"); at != name.npos) name.erase(at, 3);
  return name;
}

void write_log(const std::string& text) {
  cublasLogCallback callback = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    const LogTargets& log = state().log;
    if (!log.on) return;
    if (log.to_stdout) std::fprintf(stdout, "%s\n", text.c_str());
    if (log.to_stderr) std::fprintf(stderr, "%s\n", text.c_str());
    if (state().log_file) {
      std::fprintf(state().log_file, "%s\n", text.c_str());
      std::fflush(state().log_file);
    }
    callback = state().log_callback;
  }
  if (callback) callback(text.c_str());  // which may call cuBLAS
}

}  // namespace

Status from_cuda(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  const std::string text = std::string(cudaGetErrorString(error)) + ", " + cudaGetErrorName(error);
  switch (error) {
    case cudaErrorMemoryAllocation: return Error{CUBLAS_STATUS_ALLOC_FAILED, text};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion: return Error{CUBLAS_STATUS_ARCH_MISMATCH, text};
    default: return Error{CUBLAS_STATUS_EXECUTION_FAILED, text};
  }
}

Status from_operator(const Status& status) {
  if (status) return status;
  switch (status.code()) {
    case cudaErrorInvalidValue: return Error{CUBLAS_STATUS_INVALID_VALUE, status.message()};
    case cudaErrorMemoryAllocation: return Error{CUBLAS_STATUS_ALLOC_FAILED, status.message()};
    case cudaErrorNoKernelImageForDevice:
      return Error{CUBLAS_STATUS_ARCH_MISMATCH, status.message()};
    default: return Error{CUBLAS_STATUS_EXECUTION_FAILED, status.message()};
  }
}

Expected<Context*> create_context() {
  if (const cudaError_t error = cudaFree(nullptr); error != cudaSuccess)
    return Error{CUBLAS_STATUS_NOT_INITIALIZED,
                 std::string("the CUDA runtime does not start: ") + cudaGetErrorString(error)};
  auto* const made = new (std::nothrow) Context;
  if (!made) return Error{CUBLAS_STATUS_ALLOC_FAILED, "there is no memory for a handle"};
  const std::lock_guard lock(state().mutex);
  state().contexts.insert(made);
  return made;
}

bool destroy_context(Context* context) {
  {
    const std::lock_guard lock(state().mutex);
    if (state().contexts.erase(context) == 0) return false;
  }
  delete context;
  return true;
}

Status check_context(const Context* context) {
  const std::lock_guard lock(state().mutex);
  if (state().contexts.contains(context)) return Status::ok();
  return Error{CUBLAS_STATUS_NOT_INITIALIZED,
               context ? "the handle is none that cublasCreate made, or was destroyed"
                       : "the handle is null; cublasCreate makes one"};
}

cublasStatus_t finish(const char* function, const Status& status) {
  const auto code = cublasStatus_t(status.code());
  const std::string name = spelled(function);
  if (!status)
    standin::tell(code == CUBLAS_STATUS_NOT_SUPPORTED ? "unsupported" : "failed-call",
                  name + " failed: " + status.message() + " (" + status_name(code) + ")");
  write_log("cuBLAS (Ridge): " + name + " gives " + status_name(code));
  return code;
}

void configure_log(const LogTargets& targets) {
  std::FILE* file = nullptr;
  if (targets.on && !targets.file.empty()) {
    file = std::fopen(targets.file.c_str(), "a");
    if (!file) standin::tell("failed-call", "the log cannot be written: " + targets.file);
  }
  const std::lock_guard lock(state().mutex);
  if (state().log_file) std::fclose(state().log_file);
  state().log_file = file;
  state().log = targets;
}

void set_log_callback(cublasLogCallback callback) {
  const std::lock_guard lock(state().mutex);
  state().log_callback = callback;
}

cublasLogCallback log_callback() {
  const std::lock_guard lock(state().mutex);
  return state().log_callback;
}

}  // namespace ridge::cublas
