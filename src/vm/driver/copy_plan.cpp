#include "vm/driver/copy_plan.h"

#include "vm/driver/contexts.h"

namespace ridge::vm::driver {
namespace {

struct Side {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  size_t x, y, z, pitch, height;
};

cudaError_t box_of(const Side& side, const cudart::BoxExtent& extent, cudart::Box* box) {
  char* start = nullptr;
  switch (side.type) {
    case CU_MEMORYTYPE_HOST: start = static_cast<char*>(side.host); break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: start = reinterpret_cast<char*>(side.device); break;
    case CU_MEMORYTYPE_ARRAY:
      return refuse_call("a copy from or to a CUarray", "arrays, textures and surfaces");
    default: return cudaErrorInvalidValue;
  }
  // A pitch or height that is never used may be anything.
  const bool rows = extent.height > 1 || extent.depth > 1 || side.y || side.z;
  const bool slices = extent.depth > 1 || side.z;
  if (rows && side.pitch < side.x + extent.width) return cudaErrorInvalidValue;
  if (slices && side.height < side.y + extent.height) return cudaErrorInvalidValue;
  const size_t slice = side.pitch * side.height;
  *box = {start + side.z * slice + side.y * side.pitch + side.x, side.pitch, slice};
  return cudaSuccess;
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;
  return from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                   : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
}

template <class Copy>
cudaError_t box_plan(const Copy* c, cudart::CopyPlan* plan) {
  if (!c) return cudaErrorInvalidValue;
  plan->extent = {c->WidthInBytes, c->Height, c->Depth};
  plan->kind = kind_of(c->srcMemoryType, c->dstMemoryType);
  const Side from{c->srcMemoryType, const_cast<void*>(c->srcHost),
                  c->srcDevice,     c->srcXInBytes,
                  c->srcY,          c->srcZ,
                  c->srcPitch,      c->srcHeight};
  const Side to{c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes,
                c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight};
  if (c->srcLOD || c->dstLOD) return cudaErrorInvalidValue;
  if (const cudaError_t error = box_of(from, plan->extent, &plan->from)) return error;
  return box_of(to, plan->extent, &plan->to);
}

}  // namespace

cudaError_t plan_of(const CUDA_MEMCPY3D* copy, cudart::CopyPlan* plan) {
  return box_plan(copy, plan);
}

cudaError_t plan_of(const CUDA_MEMCPY3D_PEER* copy, cudart::CopyPlan* plan) {
  if (!copy) return cudaErrorInvalidValue;
  if (!find_context(copy->srcContext) || !find_context(copy->dstContext)) return kInvalidContext;
  return box_plan(copy, plan);
}

cudaError_t plan_of(const CUDA_MEMCPY2D* c, cudart::CopyPlan* plan) {
  if (!c) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D same{};
  same.srcXInBytes = c->srcXInBytes;
  same.srcY = c->srcY;
  same.srcMemoryType = c->srcMemoryType;
  same.srcHost = c->srcHost;
  same.srcDevice = c->srcDevice;
  same.srcPitch = c->srcPitch;
  same.dstXInBytes = c->dstXInBytes;
  same.dstY = c->dstY;
  same.dstMemoryType = c->dstMemoryType;
  same.dstHost = c->dstHost;
  same.dstDevice = c->dstDevice;
  same.dstPitch = c->dstPitch;
  same.WidthInBytes = c->WidthInBytes;
  same.Height = c->Height;
  same.Depth = 1;
  return box_plan(&same, plan);
}

CUDA_MEMCPY3D copy_of(const cudart::CopyPlan& plan) {
  const bool from_host = plan.kind == cudaMemcpyHostToHost || plan.kind == cudaMemcpyHostToDevice;
  const bool to_host = plan.kind == cudaMemcpyHostToHost || plan.kind == cudaMemcpyDeviceToHost;
  const bool unified = plan.kind == cudaMemcpyDefault;
  const auto height = [](const cudart::Box& box) { return box.pitch ? box.slice / box.pitch : 0; };
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = unified     ? CU_MEMORYTYPE_UNIFIED
                    : from_host ? CU_MEMORYTYPE_HOST
                                : CU_MEMORYTYPE_DEVICE;
  c.dstMemoryType = unified   ? CU_MEMORYTYPE_UNIFIED
                    : to_host ? CU_MEMORYTYPE_HOST
                              : CU_MEMORYTYPE_DEVICE;
  if (from_host) c.srcHost = plan.from.start;
  else c.srcDevice = reinterpret_cast<CUdeviceptr>(plan.from.start);
  if (to_host) c.dstHost = plan.to.start;
  else c.dstDevice = reinterpret_cast<CUdeviceptr>(plan.to.start);
  c.srcPitch = plan.from.pitch;
  c.dstPitch = plan.to.pitch;
  c.srcHeight = height(plan.from);
  c.dstHeight = height(plan.to);
  c.WidthInBytes = plan.extent.width;
  c.Height = plan.extent.height;
  c.Depth = plan.extent.depth;
  return c;
}

}  // namespace ridge::vm::driver
