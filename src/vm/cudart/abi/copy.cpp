// cudaMemcpy in all its forms; those with arrays only are in array_copy.cpp.
#include "vm/cudart/copy.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

CopyPlan flat(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return {.to = {to}, .from = {const_cast<void*>(from)}, .extent = {bytes}, .kind = kind};
}

CopyPlan rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
              size_t height, cudaMemcpyKind kind) {
  return {.to = {to, to_pitch},
          .from = {const_cast<void*>(from), from_pitch},
          .extent = {width, height},
          .kind = kind};
}

cudaError_t copy_rows(const CopyPlan& plan, cudaStream_t stream, bool blocking) {
  if (plan.extent.empty()) return cudaSuccess;
  if (plan.to.pitch < plan.extent.width || plan.from.pitch < plan.extent.width)
    return cudaErrorInvalidPitchValue;
  return copy(plan, stream, blocking);
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool blocking) {
  CopyPlan plan;
  if (const cudaError_t error = plan_of(parameters, &plan)) return error;
  return copy(plan, stream, blocking);
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                      cudaStream_t stream, bool blocking) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return copy(flat(to, from, bytes, cudaMemcpyDeviceToDevice), stream, blocking);
}

cudaError_t copy_peer_box(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool blocking) {
  if (!p) return cudaErrorInvalidValue;
  if (p->srcDevice != 0 || p->dstDevice != 0) return cudaErrorInvalidDevice;
  const cudaMemcpy3DParms same{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                               p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return copy_box(&same, stream, blocking);
}

// A copy to or from a __device__ or __constant__ variable; `out` copies from it.
cudaError_t copy_symbol(const void* symbol, void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool blocking, bool out) {
  const cudaMemcpyKind wrong = out ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind == wrong || kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault ||
      kind == cudaMemcpyHostToHost)
    return cudaErrorInvalidMemcpyDirection;
  CopyPlan plan;
  if (const cudaError_t error = symbol_plan(symbol, other, bytes, offset, kind, out, &plan))
    return error;
  return copy(plan, stream, blocking);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return api([&] { return copy(flat(to, from, bytes, kind), nullptr, true); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return api([&] { return copy(flat(to, from, bytes, kind), stream, false); });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return copy_rows(rows(to, to_pitch, from, from_pitch, width, height, kind), nullptr, true);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return api([&] {
    return copy_rows(rows(to, to_pitch, from, from_pitch, width, height, kind), stream, false);
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return api([&] { return copy_box(parameters, nullptr, true); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return api([&] { return copy_box(parameters, stream, false); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  return api([&] { return copy_peer(to, to_device, from, from_device, bytes, nullptr, true); });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  return api([&] { return copy_peer(to, to_device, from, from_device, bytes, stream, false); });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return api([&] { return copy_peer_box(parameters, nullptr, true); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return api([&] { return copy_peer_box(parameters, stream, false); });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return api([&] {
    return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, nullptr, true, false);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return api([&] { return copy_symbol(symbol, to, bytes, offset, kind, nullptr, true, true); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] {
    return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, stream, false, false);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_symbol(symbol, to, bytes, offset, kind, stream, false, true); });
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return api([&] {
    Engine::Symbol found;
    if (!pointer) return cudaErrorInvalidValue;
    if (const cudaError_t error = registrations().find_symbol(symbol, &found)) return error;
    *pointer = reinterpret_cast<void*>(found.address);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return api([&] {
    Engine::Symbol found;
    if (!size) return cudaErrorInvalidValue;
    if (const cudaError_t error = registrations().find_symbol(symbol, &found)) return error;
    *size = found.size;
    return cudaSuccess;
  });
}

}  // extern "C"
