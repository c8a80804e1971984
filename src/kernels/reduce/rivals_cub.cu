#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::reduce {
namespace {

using namespace rivals;

cudaError_t sum(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const Tensor& x = call["x"];
  if (x.dtype == Dtype::i32)
    return cub::DeviceReduce::Sum(memory, bytes, data_of<const int32_t>(call, "x"),
                                  data_of<int64_t>(call, "out"), x.elements(), stream);
  return cub::DeviceReduce::Sum(memory, bytes, data_of<const float>(call, "x"),
                                data_of<float>(call, "out"), x.elements(), stream);
}

cudaError_t max(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const Tensor& x = call["x"];
  return with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    return cub::DeviceReduce::Max(memory, bytes, data_of<const T>(call, "x"),
                                  data_of<T>(call, "out"), x.elements(), stream);
  });
}

struct Multiply {
  template <class Pair>
  __host__ __device__ float operator()(const Pair& p) const {
    return thrust::get<0>(p) * thrust::get<1>(p);
  }
};

cudaError_t dot(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto pairs = thrust::make_zip_iterator(
      thrust::make_tuple(data_of<const float>(call, "x"), data_of<const float>(call, "y")));
  return cub::DeviceReduce::Sum(memory, bytes, thrust::make_transform_iterator(pairs, Multiply()),
                                data_of<float>(call, "out"), call["x"].elements(), stream);
}

// Its answer is a value and an index: the index goes where ours goes, the value to the front of the
// workspace.
constexpr size_t kFront = 256;

cudaError_t argmax(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto run = [&](void* own, size_t& own_bytes, float* value) {
    return cub::DeviceReduce::ArgMax(own, own_bytes, data_of<const float>(call, "x"), value,
                                     data_of<int64_t>(call, "out"), call["x"].elements(), stream);
  };
  if (!memory) {
    const cudaError_t error = run(nullptr, bytes, nullptr);
    bytes += kFront;
    return error;
  }
  size_t own_bytes = bytes - kFront;
  return run(static_cast<char*>(memory) + kFront, own_bytes, static_cast<float*>(memory));
}

std::string takes_floats(const Call& call) {
  const std::string why = needs_format(call, "x", {Dtype::f32});
  return why.empty() ? needs_contiguous(call) : why;
}

}  // namespace

void rivals_cub(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "sum") rivals.push_back(cub_rival(cub_takes("x"), sum));
  if (op.name == "max") rivals.push_back(cub_rival(cub_takes("x"), max));
  if (op.name == "dot") rivals.push_back(cub_rival(takes_floats, dot));
  if (op.name == "argmax") rivals.push_back(cub_rival(takes_floats, argmax));
}

}  // namespace ridge::reduce
