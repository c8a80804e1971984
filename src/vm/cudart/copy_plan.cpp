// From the runtime's parameter structs to copy plans.
#include <cstdint>

#include "vm/cudart/arrays.h"
#include "vm/cudart/copy.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

Box box_of(const cudaPitchedPtr& p, const cudaPos& at) {
  const size_t slice = p.pitch * p.ysize;
  return {static_cast<char*>(p.ptr) + at.z * slice + at.y * p.pitch + at.x, p.pitch, slice};
}

bool fits(const cudaPitchedPtr& p, const cudaPos& at, const BoxExtent& extent) {
  const auto inside = [](size_t start, size_t size, size_t end) {
    return start <= end && size <= end - start;
  };
  return inside(at.x, extent.width, p.pitch) &&
         (extent.depth == 1 || inside(at.y, extent.height, p.ysize));
}

// `misfit`: what is wrong where memory's rows are too short.
cudaError_t side_of(const ArrayRef& array, const cudaPitchedPtr& p, const cudaPos& at,
                    const BoxExtent& extent, cudaError_t misfit, Box* box) {
  if (array)
    return box_in(*array, at.x * array->texel_bytes(), at.y, at.z, extent, box)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  if (!fits(p, at, extent)) return misfit;
  *box = box_of(p, at);
  return cudaSuccess;
}

}  // namespace

cudaError_t plan_of(const cudaMemcpy3DParms* p, CopyPlan* plan) {
  if (!p) return cudaErrorInvalidValue;
  const ArrayRef from = find_array(p->srcArray), to = find_array(p->dstArray);
  if ((p->srcArray && !from) || (p->dstArray && !to)) return cudaErrorInvalidResourceHandle;
  if ((from && p->srcPtr.ptr) || (to && p->dstPtr.ptr)) return cudaErrorInvalidValue;
  if (from && to && from->texel_bytes() != to->texel_bytes()) return cudaErrorInvalidValue;
  // Where an array takes part, widths count its texels.
  const size_t unit = from ? from->texel_bytes() : to ? to->texel_bytes() : 1;
  if (p->extent.width > SIZE_MAX / unit) return cudaErrorInvalidValue;
  plan->extent = {p->extent.width * unit, p->extent.height, p->extent.depth};
  plan->kind = p->kind;
  if (plan->extent.empty()) return cudaSuccess;
  const cudaError_t misfit = from || to ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
  if (const cudaError_t error =
          side_of(from, p->srcPtr, p->srcPos, plan->extent, misfit, &plan->from))
    return error;
  return side_of(to, p->dstPtr, p->dstPos, plan->extent, misfit, &plan->to);
}

cudaError_t symbol_plan(const void* symbol, void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, bool out, CopyPlan* plan) {
  Engine::Symbol found;
  if (const cudaError_t error = registrations().find_symbol(symbol, &found)) return error;
  if (offset > found.size || bytes > found.size - offset) return cudaErrorInvalidValue;
  const Box inside{reinterpret_cast<void*>(found.address + offset)}, outside{other};
  *plan = {.to = out ? outside : inside,
           .from = out ? inside : outside,
           .extent = {bytes},
           .kind = kind};
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
