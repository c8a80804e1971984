// From the runtime's parameter structs to copy plans.
#include "vm/cudart/copy.h"
#include "vm/cudart/refuse.h"
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

}  // namespace

cudaError_t plan_of(const cudaMemcpy3DParms* p, CopyPlan* plan) {
  if (!p) return cudaErrorInvalidValue;
  plan->extent = {p->extent.width, p->extent.height, p->extent.depth};
  plan->kind = p->kind;
  if (p->srcArray || p->dstArray)
    return cudaError_t(refuse("cudaMemcpy3D with a cudaArray_t", "arrays"));
  if (plan->extent.empty()) return cudaSuccess;
  if (!fits(p->srcPtr, p->srcPos, plan->extent) || !fits(p->dstPtr, p->dstPos, plan->extent))
    return cudaErrorInvalidPitchValue;
  plan->from = box_of(p->srcPtr, p->srcPos);
  plan->to = box_of(p->dstPtr, p->dstPos);
  return cudaSuccess;
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
