// DLPack 1.x, the interface by which array libraries show each other their memory, as far as it is
// used here. The layout of these structures is fixed by https://github.com/dmlc/dlpack; written out
// here, because the package is compiled without any array library.
#pragma once

#include <cstdint>

namespace ridge::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
struct Device {
  std::int32_t type = kCpu;
  std::int32_t id = 0;
};

enum Code : std::uint8_t {
  kInt = 0,
  kUint = 1,
  kFloat = 2,
  kBfloat = 4,
  kBool = 6,
  kE4m3 = 10,
  kE5m2 = 12,
  kE8m0 = 14,
  kE2m1 = 17
};
struct DataType {
  std::uint8_t code = 0, bits = 0;
  std::uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t rank = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null: contiguous
  std::uint64_t byte_offset = 0;
};

struct Version {
  std::uint32_t major, minor;
};

constexpr std::uint64_t kReadOnly = 1;  // of `flags`
struct ManagedTensor {                  // "dltensor_versioned" capsules
  Version version;
  void* context;
  void (*deleter)(ManagedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};
struct OldManagedTensor {  // "dltensor" capsules, before DLPack 1.0
  Tensor tensor;
  void* context;
  void (*deleter)(OldManagedTensor*);
};

// What a library's array type offers as the capsule __dlpack_c_exchange_api__: the same without a
// Python call. PyTorch has it from 2.10 on.
struct ExchangeApi {
  Version version;
  ExchangeApi* older;
  int (*allocate)(Tensor* like, ManagedTensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from)(void* object, ManagedTensor** out);
  int (*to_object)(ManagedTensor* tensor, void** object);  // takes the tensor
  int (*view_of)(void* object, Tensor* out);               // owns nothing; may be null
  int (*current_stream)(DeviceType type, std::int32_t id, void** stream);
};

}  // namespace ridge::python::dlpack
