// The device: count, names, attributes.
#include "vm/cudart/device.h"

#include <algorithm>
#include <cstring>

#include "vm/cudart/config.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::config;

namespace {

template <class Body>
CUresult device_call(CUdevice device, Body&& body) {
  return driver_call([&] { return device == 0 ? body() : cudaErrorInvalidDevice; });
}

int attribute(cudaDeviceAttr which) {
  return *ridge::vm::cudart::device_attribute(config().gpu, which);
}

// Some stand for functions that only the driver has.
std::optional<int> device_attribute(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: return 1;
    default: return ridge::vm::cudart::device_attribute(config().gpu, cudaDeviceAttr(which));
  }
}

}  // namespace

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return driver_call([&] { return answer(count, 1); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_call([&] {
    if (!device) return cudaErrorInvalidValue;
    return ordinal == 0 ? answer(device, 0) : cudaErrorInvalidDevice;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return device_call(device, [&] {
    if (!name || length <= 0) return cudaErrorInvalidValue;
    const auto copied = config().gpu.name.copy(name, size_t(length) - 1);
    name[copied] = '\0';
    return cudaSuccess;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return device_call(device, [&] {
    if (!uuid) return cudaErrorInvalidValue;
    const auto properties = ridge::vm::cudart::device_properties(config().gpu);
    static_assert(sizeof *uuid == sizeof properties.uuid);
    std::memcpy(uuid, &properties.uuid, sizeof *uuid);
    return cudaSuccess;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return device_call(device, [&] { return answer(bytes, size_t(config().gpu.memory_bytes)); });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return device_call(device, [&] {
    const auto found = device_attribute(which);
    return found ? answer(value, *found) : cudaErrorInvalidValue;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice device) {
  return device_call(device, [&] {
    if (!p) return cudaErrorInvalidValue;
    *p = {.maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock),
          .maxThreadsDim = {attribute(cudaDevAttrMaxBlockDimX), attribute(cudaDevAttrMaxBlockDimY),
                            attribute(cudaDevAttrMaxBlockDimZ)},
          .maxGridSize = {attribute(cudaDevAttrMaxGridDimX), attribute(cudaDevAttrMaxGridDimY),
                          attribute(cudaDevAttrMaxGridDimZ)},
          .sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock),
          .totalConstantMemory = attribute(cudaDevAttrTotalConstantMemory),
          .SIMDWidth = attribute(cudaDevAttrWarpSize),
          .memPitch = attribute(cudaDevAttrMaxPitch),
          .regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock),
          .clockRate = attribute(cudaDevAttrClockRate),
          .textureAlign = attribute(cudaDevAttrTextureAlignment)};
    return cudaSuccess;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return device_call(device, [&] {
    if (const cudaError_t error = answer(major, config().gpu.major)) return error;
    return answer(minor, config().gpu.minor);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return device_call(device, [&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return driver_call([&] { return cudaDeviceGetByPCIBusId(device, text); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver_call([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice from,
                                 CUdevice to) {
  return driver_call(
      [&] { return cudaDeviceGetP2PAttribute(value, cudaDeviceP2PAttr(which), from, to); });
}

// No share of the multiprocessors can be set aside.
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice device) {
  return device_call(device, [&] {
    return type < CU_EXEC_AFFINITY_TYPE_MAX ? answer(supported, 0) : cudaErrorInvalidValue;
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                           const CUatomicOperation* operations, unsigned count,
                                           CUdevice device) {
  return driver_call([&] {
    return cudaDeviceGetHostAtomicCapabilities(
        capabilities, reinterpret_cast<const cudaAtomicOperation*>(operations), count, device);
  });
}
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned*, const CUatomicOperation*, unsigned, CUdevice,
                                          CUdevice) {
  return driver_call([] { return cudaErrorInvalidDevice; });  // none is its own peer
}

}  // extern "C"
