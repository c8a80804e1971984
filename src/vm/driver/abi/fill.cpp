// cuMemset in all its forms.
#include "vm/cudart/copy.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;

namespace {

// Rows of `width` elements. Addresses and pitches are multiples of the element.
CUresult rows(CUdeviceptr to, size_t pitch, uint32_t value, size_t element, size_t width,
              size_t height, CUstream stream, bool blocking) {
  return context_call([&] {
    size_t bytes = 0;
    if (__builtin_mul_overflow(width, element, &bytes)) return cudaErrorInvalidValue;
    const bool pitched = height > 1;
    if (to % element || (pitched && (pitch % element || pitch < bytes)))
      return cudaErrorInvalidValue;
    return ridge::vm::cudart::fill({.to = {reinterpret_cast<void*>(to), pitch},
                                    .extent = {bytes, height},
                                    .value = value,
                                    .element = element},
                                   stream, blocking);
  });
}

}  // namespace

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return rows(to, 0, value, 1, count, 1, nullptr, true);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return rows(to, 0, value, 2, count, 1, nullptr, true);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return rows(to, 0, value, 4, count, 1, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return rows(to, 0, value, 1, count, 1, stream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return rows(to, 0, value, 2, count, 1, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return rows(to, 0, value, 4, count, 1, stream, false);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return rows(to, pitch, value, 1, width, height, nullptr, true);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  return rows(to, pitch, value, 2, width, height, nullptr, true);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  return rows(to, pitch, value, 4, width, height, nullptr, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return rows(to, pitch, value, 1, width, height, stream, false);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return rows(to, pitch, value, 2, width, height, stream, false);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return rows(to, pitch, value, 4, width, height, stream, false);
}

}  // extern "C"
