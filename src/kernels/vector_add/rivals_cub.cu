#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "harness/rivals/cub.cuh"

namespace ridge::vector_add {
namespace {

using namespace rivals;

struct Add {  // each sum in f32, rounded once, as ours
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return T(float(a) + float(b));
  }
};

template <class T>
cudaError_t run(const Call& call, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(
      cuda::std::make_tuple(data_of<const T>(call, "a"), data_of<const T>(call, "b")),
      data_of<T>(call, "out"), call["out"].elements(), Add(), stream);
}

Status launch(const Call& call, cudaStream_t stream) {
  const Dtype dtype = call["out"].dtype;
  return cub_status(dtype == Dtype::f32   ? run<float>(call, stream)
                    : dtype == Dtype::f16 ? run<__half>(call, stream)
                                          : run<__nv_bfloat16>(call, stream));
}

}  // namespace

void rivals_cub(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "add") rivals.push_back(rival("CUB", needs_contiguous, launch));
}

}  // namespace ridge::vector_add
