#include "standin/cublas/status.h"

#include "cublas_api.h"

namespace ridge::cublas {
namespace {

struct Row {
  cublasStatus_t status;
  const char *name, *text;
};
#define RIDGE_ROW(status, text) {status, #status, text}
constexpr Row kRows[] = {
    RIDGE_ROW(CUBLAS_STATUS_SUCCESS, "success"),
    RIDGE_ROW(CUBLAS_STATUS_NOT_INITIALIZED, "there is no valid handle"),
    RIDGE_ROW(CUBLAS_STATUS_ALLOC_FAILED, "memory could not be allocated"),
    RIDGE_ROW(CUBLAS_STATUS_INVALID_VALUE, "an argument has a value that is not allowed"),
    RIDGE_ROW(CUBLAS_STATUS_ARCH_MISMATCH, "the device lacks what the function needs"),
    RIDGE_ROW(CUBLAS_STATUS_MAPPING_ERROR, "device memory could not be read or written"),
    RIDGE_ROW(CUBLAS_STATUS_EXECUTION_FAILED, "a kernel could not run on the device"),
    RIDGE_ROW(CUBLAS_STATUS_INTERNAL_ERROR, "something failed inside of the library"),
    RIDGE_ROW(CUBLAS_STATUS_NOT_SUPPORTED, "this is not supported"),
    RIDGE_ROW(CUBLAS_STATUS_LICENSE_ERROR, "the licence does not allow it"),
};
#undef RIDGE_ROW
constexpr Row kUnknown = {CUBLAS_STATUS_SUCCESS, "unrecognized status", "unrecognized status"};

const Row& row(int status) {
  for (const Row& known : kRows)
    if (known.status == status) return known;
  return kUnknown;
}

}  // namespace

const char* status_name(int status) { return row(status).name; }
const char* status_text(int status) { return row(status).text; }

}  // namespace ridge::cublas
