// cuBLASLt: versions and names of errors; everything else is refused by name. Programs that are
// linked with it but do without it run.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>

#include "cublas_api.h"
#include "standin/cublas/status.h"
#include "standin/tell.h"

namespace {

constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};

int refuse(const char* function, const char* group) {
  ridge::standin::tell_refused("cuBLASLt", function, group);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

size_t cublasLtGetCudartVersion() {
  int version = 0;
  (void)cudaRuntimeGetVersion(&version);
  return size_t(version);
}

int cublasLtGetProperty(libraryPropertyType type, int* value) {
  if (!value || int(type) < MAJOR_VERSION || int(type) > PATCH_LEVEL)
    return CUBLAS_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusName(int status) { return ridge::cublas::status_name(status); }
const char* cublasLtGetStatusString(int status) { return ridge::cublas::status_text(status); }

#define RIDGE_DONE(name)
#define RIDGE_REFUSED(name, group) \
  int name() { return refuse(#name, group); }
#include "standin/cublaslt/functions.def"
#undef RIDGE_REFUSED
#undef RIDGE_DONE

}  // extern "C"
#pragma GCC visibility pop
