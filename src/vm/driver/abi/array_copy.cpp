// Copies of runs of bytes to and from arrays. Boxes are in copy.cpp.
#include "vm/driver/result.h"
#include "vm/driver/same.h"

using namespace ridge::vm::driver;

namespace {}  // namespace

extern "C" {

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return context_call(
      [&] { return cudaMemcpyToArray(same(to), offset, 0, from, bytes, cudaMemcpyHostToDevice); });
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                              CUstream stream) {
  return context_call([&] {
    return cudaMemcpyToArrayAsync(same(to), offset, 0, from, bytes, cudaMemcpyHostToDevice, stream);
  });
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return context_call([&] {
    return cudaMemcpyToArray(same(to), offset, 0, reinterpret_cast<void*>(from), bytes,
                             cudaMemcpyDeviceToDevice);
  });
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return context_call([&] {
    return cudaMemcpyFromArray(to, same(from), offset, 0, bytes, cudaMemcpyDeviceToHost);
  });
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                              CUstream stream) {
  return context_call([&] {
    return cudaMemcpyFromArrayAsync(to, same(from), offset, 0, bytes, cudaMemcpyDeviceToHost,
                                    stream);
  });
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return context_call([&] {
    return cudaMemcpyFromArray(reinterpret_cast<void*>(to), same(from), offset, 0, bytes,
                               cudaMemcpyDeviceToDevice);
  });
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t bytes) {
  return context_call([&] {
    return cudaMemcpyArrayToArray(same(to), to_offset, 0, same(from), from_offset, 0, bytes,
                                  cudaMemcpyDeviceToDevice);
  });
}

// The first versions count in 32 bits.
CUresult cuMemcpyHtoA(CUarray to, unsigned offset, const void* from, unsigned bytes) {
  return cuMemcpyHtoA_v2(to, offset, from, bytes);
}
CUresult cuMemcpyHtoAAsync(CUarray to, unsigned offset, const void* from, unsigned bytes,
                           CUstream stream) {
  return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, stream);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, unsigned offset, unsigned bytes) {
  return cuMemcpyAtoH_v2(to, from, offset, bytes);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, unsigned offset, unsigned bytes,
                           CUstream stream) {
  return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, stream);
}
CUresult cuMemcpyAtoA(CUarray to, unsigned to_offset, CUarray from, unsigned from_offset,
                      unsigned bytes) {
  return cuMemcpyAtoA_v2(to, to_offset, from, from_offset, bytes);
}

}  // extern "C"
