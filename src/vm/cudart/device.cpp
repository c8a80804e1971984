#include "vm/cudart/device.h"

#include <cstring>

namespace ridge::vm::cudart {

std::optional<int> device_attribute(const GpuSpec& gpu, cudaDeviceAttr attribute) {
  switch (attribute) {
#define RIDGE_ATTRIBUTE(name, value) \
  case name:                         \
    return int(value);
#include "vm/cudart/attributes.def"
#undef RIDGE_ATTRIBUTE
    default: break;
  }
  // Numbers inside the range that the header keeps for itself answer 0.
  if (attribute > 0 && attribute <= cudaDevAttrOnlyPartialHostNativeAtomicSupported) return 0;
  return std::nullopt;
}

cudaDeviceProp device_properties(const GpuSpec& gpu) {
  const auto get = [&](cudaDeviceAttr attribute) { return *device_attribute(gpu, attribute); };
  cudaDeviceProp p{};
  gpu.name.copy(p.name, sizeof p.name - 1);
  std::memcpy(p.uuid.bytes, "ridge-vm", 8);
  gpu.key.copy(p.uuid.bytes + 8, 8);
  p.totalGlobalMem = size_t(gpu.memory_bytes);
  p.sharedMemPerBlock = size_t(get(cudaDevAttrMaxSharedMemoryPerBlock));
  p.regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = get(cudaDevAttrWarpSize);
  p.memPitch = size_t(get(cudaDevAttrMaxPitch));
  p.maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = size_t(get(cudaDevAttrTotalConstantMemory));
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.textureAlignment = size_t(get(cudaDevAttrTextureAlignment));
  p.texturePitchAlignment = size_t(get(cudaDevAttrTexturePitchAlignment));
  p.multiProcessorCount = gpu.sm_count;
  p.integrated = get(cudaDevAttrIntegrated);
  p.canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
  p.maxTexture1D = get(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = get(cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTexture2D[0] = get(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = get(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DMipmap[0] = get(cudaDevAttrMaxTexture2DMipmappedWidth);
  p.maxTexture2DMipmap[1] = get(cudaDevAttrMaxTexture2DMipmappedHeight);
  p.maxTexture2DLinear[0] = get(cudaDevAttrMaxTexture2DLinearWidth);
  p.maxTexture2DLinear[1] = get(cudaDevAttrMaxTexture2DLinearHeight);
  p.maxTexture2DLinear[2] = get(cudaDevAttrMaxTexture2DLinearPitch);
  p.maxTexture2DGather[0] = get(cudaDevAttrMaxTexture2DGatherWidth);
  p.maxTexture2DGather[1] = get(cudaDevAttrMaxTexture2DGatherHeight);
  p.maxTexture3D[0] = get(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = get(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = get(cudaDevAttrMaxTexture3DDepth);
  p.maxTexture3DAlt[0] = get(cudaDevAttrMaxTexture3DWidthAlt);
  p.maxTexture3DAlt[1] = get(cudaDevAttrMaxTexture3DHeightAlt);
  p.maxTexture3DAlt[2] = get(cudaDevAttrMaxTexture3DDepthAlt);
  p.maxTextureCubemap = get(cudaDevAttrMaxTextureCubemapWidth);
  p.maxTexture1DLayered[0] = get(cudaDevAttrMaxTexture1DLayeredWidth);
  p.maxTexture1DLayered[1] = get(cudaDevAttrMaxTexture1DLayeredLayers);
  p.maxTexture2DLayered[0] = get(cudaDevAttrMaxTexture2DLayeredWidth);
  p.maxTexture2DLayered[1] = get(cudaDevAttrMaxTexture2DLayeredHeight);
  p.maxTexture2DLayered[2] = get(cudaDevAttrMaxTexture2DLayeredLayers);
  p.maxTextureCubemapLayered[0] = get(cudaDevAttrMaxTextureCubemapLayeredWidth);
  p.maxTextureCubemapLayered[1] = get(cudaDevAttrMaxTextureCubemapLayeredLayers);
  p.maxSurface1D = get(cudaDevAttrMaxSurface1DWidth);
  p.maxSurface2D[0] = get(cudaDevAttrMaxSurface2DWidth);
  p.maxSurface2D[1] = get(cudaDevAttrMaxSurface2DHeight);
  p.maxSurface3D[0] = get(cudaDevAttrMaxSurface3DWidth);
  p.maxSurface3D[1] = get(cudaDevAttrMaxSurface3DHeight);
  p.maxSurface3D[2] = get(cudaDevAttrMaxSurface3DDepth);
  p.maxSurface1DLayered[0] = get(cudaDevAttrMaxSurface1DLayeredWidth);
  p.maxSurface1DLayered[1] = get(cudaDevAttrMaxSurface1DLayeredLayers);
  p.maxSurface2DLayered[0] = get(cudaDevAttrMaxSurface2DLayeredWidth);
  p.maxSurface2DLayered[1] = get(cudaDevAttrMaxSurface2DLayeredHeight);
  p.maxSurface2DLayered[2] = get(cudaDevAttrMaxSurface2DLayeredLayers);
  p.maxSurfaceCubemap = get(cudaDevAttrMaxSurfaceCubemapWidth);
  p.maxSurfaceCubemapLayered[0] = get(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
  p.maxSurfaceCubemapLayered[1] = get(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
  p.surfaceAlignment = size_t(get(cudaDevAttrSurfaceAlignment));
  p.concurrentKernels = get(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = get(cudaDevAttrEccEnabled);
  p.asyncEngineCount = get(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = get(cudaDevAttrL2CacheSize);
  p.persistingL2CacheMaxSize = get(cudaDevAttrMaxPersistingL2CacheSize);
  p.maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = get(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = size_t(get(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p.regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = get(cudaDevAttrManagedMemory);
  p.hostNativeAtomicSupported = get(cudaDevAttrHostNativeAtomicSupported);
  p.pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
  p.concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = get(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = get(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = get(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = size_t(get(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p.maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.accessPolicyMaxWindowSize = get(cudaDevAttrMaxAccessPolicyWindowSize);
  p.reservedSharedMemPerBlock = size_t(get(cudaDevAttrReservedSharedMemoryPerBlock));
  p.hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
  p.hostRegisterReadOnlySupported = get(cudaDevAttrHostRegisterReadOnlySupported);
  p.memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
  p.clusterLaunch = get(cudaDevAttrClusterLaunch);
  p.deviceNumaConfig = get(cudaDevAttrNumaConfig);
  p.deviceNumaId = get(cudaDevAttrNumaId);
  return p;
}

DeviceHints& device_hints() {
  static DeviceHints hints;
  return hints;
}

}  // namespace ridge::vm::cudart
