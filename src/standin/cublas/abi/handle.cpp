// Handles and their settings, names of errors, versions, the log.
#include "standin/cublas/call.h"
#include "standin/tell.h"

using namespace ridge;
using namespace ridge::cublas;

namespace {

// An answer behind a pointer that the program gave.
template <class T>
Status answer(T* place, T value) {
  if (!place) return invalid("the pointer for the answer is null");
  *place = value;
  return Status::ok();
}

Status unknown_mode(int mode) { return invalid("there is no mode " + std::to_string(mode)); }

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return call(__func__, [&]() -> Status {
    if (!handle) return invalid("the pointer for the handle is null");
    const auto made = create_context();
    if (!made) return made.error();
    return answer(handle, *made);
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return call(__func__, [&] {
    const Status known = check_context(handle);
    if (known) destroy_context(handle);
    return known;
  });
}

// Answers without a handle, too.
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return call(__func__, [&] { return answer(version, CUBLAS_VERSION); });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return call(__func__, [&]() -> Status {
    switch (type) {
      case MAJOR_VERSION: return answer(value, CUBLAS_VER_MAJOR);
      case MINOR_VERSION: return answer(value, CUBLAS_VER_MINOR);
      case PATCH_LEVEL: return answer(value, CUBLAS_VER_PATCH);
    }
    return invalid("there is no property " + std::to_string(int(type)));
  });
}

size_t cublasGetCudartVersion() {
  int version = 0;
  (void)cudaRuntimeGetVersion(&version);
  return size_t(version);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  return call(__func__, handle, [&](Context& c) -> Status {
    if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
      return invalid("the workspace has to be aligned to 256 bytes");
    c.workspace = workspace;
    c.workspace_bytes = workspace ? bytes : 0;
    return Status::ok();
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return call(__func__, handle, [&](Context& c) {
    c.stream = stream;
    c.workspace = nullptr;  // as the real library does: a workspace belongs to one stream
    c.workspace_bytes = 0;
    return Status::ok();
  });
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return call(__func__, handle, [&](Context& c) { return answer(stream, c.stream); });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return call(__func__, handle, [&](Context& c) {
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
      return unknown_mode(mode);
    c.pointer_mode = mode;
    return Status::ok();
  });
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return call(__func__, handle, [&](Context& c) { return answer(mode, c.pointer_mode); });
}

// Ridge's kernels need no atomics whose order shows in a result: both modes are the same to them.
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return call(__func__, handle, [&](Context& c) {
    if (mode != CUBLAS_ATOMICS_NOT_ALLOWED && mode != CUBLAS_ATOMICS_ALLOWED)
      return unknown_mode(mode);
    c.atomics_mode = mode;
    return Status::ok();
  });
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return call(__func__, handle, [&](Context& c) { return answer(mode, c.atomics_mode); });
}

// Modes allow less exact arithmetic; the stand-in always sums in f32 or f64.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return call(__func__, handle, [&](Context& c) {
    const int plain = int(mode) & ~int(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    if (plain != CUBLAS_DEFAULT_MATH && plain != CUBLAS_TENSOR_OP_MATH &&
        plain != CUBLAS_PEDANTIC_MATH && plain != CUBLAS_TF32_TENSOR_OP_MATH &&
        plain != CUBLAS_FP32_EMULATED_BF16X9_MATH && plain != CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH)
      return unknown_mode(mode);
    c.math_mode = mode;
    return Status::ok();
  });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return call(__func__, handle, [&](Context& c) { return answer(mode, c.math_mode); });
}

// A limit for kernels beside others; it changes no result, and the stand-in's kernels do not ask
// it.
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return call(__func__, handle, [&](Context& c) -> Status {
    int device = 0, all = 0;
    (void)cudaGetDevice(&device);
    (void)cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device);
    if (count < 0 || count > all)
      return invalid("the target is " + std::to_string(count) + " SMs; the device has " +
                     std::to_string(all));
    c.sm_count_target = count;
    return Status::ok();
  });
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return call(__func__, handle, [&](Context& c) { return answer(count, c.sm_count_target); });
}

const char* cublasGetStatusName(cublasStatus_t status) { return status_name(status); }
const char* cublasGetStatusString(cublasStatus_t status) { return status_text(status); }

cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char* file) {
  configure_log({.on = on != 0,
                 .to_stdout = to_stdout != 0,
                 .to_stderr = to_stderr != 0,
                 .file = file ? file : ""});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  set_log_callback(callback);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  return call(__func__, [&] { return answer(callback, log_callback()); });
}

// What other libraries of the BLAS family call for a wrong argument.
void cublasXerbla(const char* function, int parameter) {
  standin::tell("failed-call", std::string(function ? function : "?") + ": parameter " +
                                   std::to_string(parameter) + " has a value that is not allowed");
}

}  // extern "C"
