// cudaMemset in all its forms.
#include "vm/cudart/copy.h"
#include "vm/cudart/errors.h"

using namespace ridge::vm::cudart;

namespace {

FillPlan flat(void* to, int value, size_t bytes) {
  return {.to = {to}, .extent = {bytes}, .value = uint32_t(uint8_t(value))};
}

cudaError_t fill_rows(void* to, size_t pitch, int value, size_t width, size_t height,
                      cudaStream_t stream, bool blocking) {
  if (width && height && pitch < width) return cudaErrorInvalidValue;
  return fill({.to = {to, pitch}, .extent = {width, height}, .value = uint32_t(uint8_t(value))},
              stream, blocking);
}

cudaError_t fill_box(const cudaPitchedPtr& to, int value, const cudaExtent& extent,
                     cudaStream_t stream, bool blocking) {
  const BoxExtent box{extent.width, extent.height, extent.depth};
  if (!box.empty() && (to.pitch < box.width || to.ysize < box.height)) return cudaErrorInvalidValue;
  return fill({.to = {to.ptr, to.pitch, to.pitch * to.ysize},
               .extent = box,
               .value = uint32_t(uint8_t(value))},
              stream, blocking);
}

}  // namespace

extern "C" {

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return api([&] { return fill(flat(to, value, bytes), nullptr, true); });
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return api([&] { return fill(flat(to, value, bytes), stream, false); });
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return api([&] { return fill_rows(to, pitch, value, width, height, nullptr, true); });
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return api([&] { return fill_rows(to, pitch, value, width, height, stream, false); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return api([&] { return fill_box(to, value, extent, nullptr, true); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return api([&] { return fill_box(to, value, extent, stream, false); });
}

}  // extern "C"
