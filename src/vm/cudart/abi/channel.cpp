// Channel descriptors: plain values, needed by headers even where no texture is used.
#include "vm/cudart/arrays.h"
#include "vm/cudart/errors.h"

using namespace ridge::vm::cudart;

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t handle) {
  return api([&] {
    const ArrayRef array = find_array(handle);
    if (!desc) return cudaErrorInvalidValue;
    if (!array) return cudaErrorInvalidResourceHandle;
    *desc = array->desc;
    return cudaSuccess;
  });
}

}  // extern "C"
