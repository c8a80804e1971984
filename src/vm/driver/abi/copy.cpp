// cuMemcpy in all its forms but runs of bytes in arrays.
#include "vm/driver/contexts.h"
#include "vm/driver/copy_plan.h"
#include "vm/driver/same.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::CopyPlan;

namespace {

CUresult flat(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream,
              bool blocking) {
  return context_call([&] {
    return copy(
        CopyPlan{.to = {to}, .from = {const_cast<void*>(from)}, .extent = {bytes}, .kind = kind},
        stream, blocking);
  });
}

template <class Description>
CUresult box(const Description* description, CUstream stream, bool blocking) {
  return context_call([&] {
    CopyPlan plan;
    if (const cudaError_t error = plan_of(description, &plan)) return error;
    return copy(plan, stream, blocking);
  });
}

CUresult peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
              size_t bytes, CUstream stream, bool blocking) {
  if (!find_context(to_context) || !find_context(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  return flat(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream, blocking);
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return flat(pointer(to), pointer(from), bytes, cudaMemcpyDefault, nullptr, true);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return flat(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, false);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return flat(pointer(to), from, bytes, cudaMemcpyHostToDevice, nullptr, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return flat(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream, false);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return flat(to, pointer(from), bytes, cudaMemcpyDeviceToHost, nullptr, true);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return flat(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream, false);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return flat(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, nullptr, true);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return flat(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream, false);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes) {
  return peer(to, to_context, from, from_context, bytes, nullptr, true);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream) {
  return peer(to, to_context, from, from_context, bytes, stream, false);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* c) { return box(c, nullptr, true); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* c) { return box(c, nullptr, true); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* c, CUstream stream) {
  return box(c, stream, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* c) { return box(c, nullptr, true); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* c, CUstream stream) {
  return box(c, stream, false);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* c) { return box(c, nullptr, true); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* c, CUstream stream) {
  return box(c, stream, false);
}

}  // extern "C"
