// Many copies or hints in one call: the runtime's, with addresses as numbers.
#include "vm/driver/result.h"
#include "vm/driver/same.h"

using namespace ridge::vm::driver;

namespace {

// Their fields are the same in the same order.
static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));

void** pointers(CUdeviceptr* addresses) { return reinterpret_cast<void**>(addresses); }

// The first versions say which copy was wrong; here none is singled out.
void no_index(size_t* wrong) {
  if (wrong) *wrong = SIZE_MAX;
}

}  // namespace

extern "C" {

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* firsts, size_t number,
                               CUstream stream) {
  return context_call([&] {
    return cudaMemcpyBatchAsync(pointers(to), pointers(from), sizes, count,
                                reinterpret_cast<cudaMemcpyAttributes*>(attributes), firsts, number,
                                stream);
  });
}
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* firsts, size_t number,
                            size_t* wrong, CUstream stream) {
  no_index(wrong);
  return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, firsts, number, stream);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* list,
                                 unsigned long long flags, CUstream stream) {
  return context_call([&] {
    return cudaMemcpy3DBatchAsync(count, reinterpret_cast<cudaMemcpy3DBatchOp*>(list), flags,
                                  stream);
  });
}
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* list, size_t* wrong,
                              unsigned long long flags, CUstream stream) {
  no_index(wrong);
  return cuMemcpy3DBatchAsync_v2(count, list, flags, stream);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* locations, size_t* firsts, size_t number,
                                 unsigned long long flags, CUstream stream) {
  return context_call([&] {
    return cudaMemPrefetchBatchAsync(pointers(addresses), sizes, count, same(locations), firsts,
                                     number, flags, stream);
  });
}
CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream stream) {
  return context_call(
      [&] { return cudaMemDiscardBatchAsync(pointers(addresses), sizes, count, flags, stream); });
}
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* locations, size_t* firsts, size_t number,
                                           unsigned long long flags, CUstream stream) {
  return context_call([&] {
    return cudaMemDiscardAndPrefetchBatchAsync(pointers(addresses), sizes, count, same(locations),
                                               firsts, number, flags, stream);
  });
}

}  // extern "C"
