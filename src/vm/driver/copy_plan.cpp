#include "vm/driver/copy_plan.h"

#include "vm/cudart/arrays.h"
#include "vm/driver/contexts.h"

namespace ridge::vm::driver {
namespace {

struct Side {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
};

cudaError_t box_of(const Side& side, const cudart::BoxExtent& extent, cudart::Box* box) {
  char* start = nullptr;
  switch (side.type) {
    case CU_MEMORYTYPE_HOST: start = static_cast<char*>(side.host); break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: start = reinterpret_cast<char*>(side.device); break;
    case CU_MEMORYTYPE_ARRAY: {
      const auto array = cudart::find_array(reinterpret_cast<cudaArray_t>(side.array));
      if (!array) return kInvalidHandle;
      return extent.empty() || box_in(*array, side.x, side.y, side.z, extent, box)
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    }
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
                  c->srcDevice,     c->srcArray,
                  c->srcXInBytes,   c->srcY,
                  c->srcZ,          c->srcPitch,
                  c->srcHeight};
  const Side to{c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
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
  same.srcArray = c->srcArray;
  same.srcPitch = c->srcPitch;
  same.dstXInBytes = c->dstXInBytes;
  same.dstY = c->dstY;
  same.dstMemoryType = c->dstMemoryType;
  same.dstHost = c->dstHost;
  same.dstDevice = c->dstDevice;
  same.dstArray = c->dstArray;
  same.dstPitch = c->dstPitch;
  same.WidthInBytes = c->WidthInBytes;
  same.Height = c->Height;
  same.Depth = 1;
  return box_plan(&same, plan);
}

namespace {

// A side as the program may have described it: where it lies says whether it is an array.
Side side_of(const cudart::Box& box, cudaMemcpyKind kind, bool host) {
  Side side{};
  cudaPos at{};
  if (const cudart::ArrayRef array = cudart::array_holding(box.start, &at)) {
    side.type = CU_MEMORYTYPE_ARRAY;
    side.array = reinterpret_cast<CUarray>(array.get());
    side.x = at.x * array->texel_bytes();
    side.y = at.y;
    side.z = at.z;
    return side;
  }
  side.type = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
              : host                    ? CU_MEMORYTYPE_HOST
                                        : CU_MEMORYTYPE_DEVICE;
  if (side.type == CU_MEMORYTYPE_HOST) side.host = box.start;
  else side.device = reinterpret_cast<CUdeviceptr>(box.start);
  side.pitch = box.pitch;
  side.height = box.pitch ? box.slice / box.pitch : 0;
  return side;
}

}  // namespace

CUDA_MEMCPY3D copy_of(const cudart::CopyPlan& plan) {
  const Side from =
      side_of(plan.from, plan.kind,
              plan.kind == cudaMemcpyHostToHost || plan.kind == cudaMemcpyHostToDevice);
  const Side to = side_of(plan.to, plan.kind,
                          plan.kind == cudaMemcpyHostToHost || plan.kind == cudaMemcpyDeviceToHost);
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = from.type;
  c.srcHost = from.host;
  c.srcDevice = from.device;
  c.srcArray = from.array;
  c.srcXInBytes = from.x;
  c.srcY = from.y;
  c.srcZ = from.z;
  c.srcPitch = from.pitch;
  c.srcHeight = from.height;
  c.dstMemoryType = to.type;
  c.dstHost = to.host;
  c.dstDevice = to.device;
  c.dstArray = to.array;
  c.dstXInBytes = to.x;
  c.dstY = to.y;
  c.dstZ = to.z;
  c.dstPitch = to.pitch;
  c.dstHeight = to.height;
  c.WidthInBytes = plan.extent.width;
  c.Height = plan.extent.height;
  c.Depth = plan.extent.depth;
  return c;
}

}  // namespace ridge::vm::driver
