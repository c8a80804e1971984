// The stubs of functions.def. They take no parameters, which the calling convention allows, and the
// header, which says otherwise, is not included here.
#include "standin/tell.h"

namespace {

constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

int refuse(const char* function, const char* group) {
  ridge::standin::tell_refused("cuBLAS", function, group);
  return kNotSupported;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

#define RIDGE_DONE(name)
#define RIDGE_REFUSED(name, group) \
  int name() { return refuse(#name, group); }
#include "standin/cublas/functions.def"
#undef RIDGE_REFUSED
#undef RIDGE_DONE

}  // extern "C"
#pragma GCC visibility pop
