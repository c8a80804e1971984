// CUB's device-wide algorithms, on the tensors of our ladders.
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "rivals.h"

namespace ridge::rivals {
namespace {

Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("CUB: ") + cudaGetErrorString(error)};
}

// CUB's two calls, the first with no memory, made of one: run(temporary, bytes, case, tensors,
// stream).
template <class Run>
harness::Rival rival(const char* op, Dtype dtype, Run run) {
  return {
      .library = "CUB",
      .operator_ = op,
      .serves = [dtype](const Case& c) { return c.dtype == dtype; },
      .workspace =
          [run](const Case& c, std::span<void* const> t) {
            size_t bytes = 0;
            (void)run(nullptr, bytes, c, t, nullptr);
            return bytes;
          },
      .launch =
          [run](const Case& c, std::span<void* const> t, void* workspace, size_t bytes,
                cudaStream_t stream) { return status_of(run(workspace, bytes, c, t, stream)); }};
}

struct Multiply {
  template <class Pair>
  __host__ __device__ float operator()(const Pair& p) const {
    return thrust::get<0>(p) * thrust::get<1>(p);
  }
};

template <class In, class Out>
void add_reductions(std::vector<harness::Rival>& rivals, Dtype dtype) {
  rivals.push_back(
      rival("sum", dtype, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        return cub::DeviceReduce::Sum(w, b, static_cast<const In*>(t[0]),
                                      static_cast<Out*>(t.back()), c.shape[0], s);
      }));
  rivals.push_back(
      rival("max", dtype, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        return cub::DeviceReduce::Max(w, b, static_cast<const In*>(t[0]),
                                      static_cast<In*>(t.back()), c.shape[0], s);
      }));
}

// Offsets are i64 where the tensors are aligned, as they are when timed.
template <class In, class Out>
void add_segmented(std::vector<harness::Rival>& rivals, Dtype dtype) {
  rivals.push_back(
      rival("segmented_sum", dtype, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        const auto* offsets = static_cast<const int64_t*>(t[1]);
        return cub::DeviceSegmentedReduce::Sum(w, b, static_cast<const In*>(t[0]),
                                               static_cast<Out*>(t[2]), c.shape[0], offsets,
                                               offsets + 1, s);
      }));
}

template <class T>
void add_scans(std::vector<harness::Rival>& rivals, Dtype dtype) {
  rivals.push_back(
      rival("inclusive_scan", dtype, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        return cub::DeviceScan::InclusiveSum(w, b, static_cast<const T*>(t[0]),
                                             static_cast<T*>(t.back()), c.shape[0], s);
      }));
  rivals.push_back(
      rival("exclusive_scan", dtype, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        return cub::DeviceScan::ExclusiveSum(w, b, static_cast<const T*>(t[0]),
                                             static_cast<T*>(t.back()), c.shape[0], s);
      }));
}

}  // namespace

void add_cub(std::vector<harness::Rival>& rivals) {
  add_reductions<float, float>(rivals, Dtype::f32);
  add_reductions<int, int64_t>(rivals, Dtype::i32);
  add_segmented<float, float>(rivals, Dtype::f32);
  add_segmented<int, int64_t>(rivals, Dtype::i32);
  add_scans<float>(rivals, Dtype::f32);
  add_scans<int>(rivals, Dtype::i32);
  rivals.push_back(
      rival("dot", Dtype::f32, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        const auto pairs = thrust::make_zip_iterator(
            thrust::make_tuple(static_cast<const float*>(t[0]), static_cast<const float*>(t[1])));
        return cub::DeviceReduce::Sum(w, b, thrust::make_transform_iterator(pairs, Multiply()),
                                      static_cast<float*>(t[2]), c.shape[0], s);
      }));
  rivals.push_back(
      rival("argmax", Dtype::f32, [](void* w, size_t& b, const Case& c, auto t, cudaStream_t s) {
        // Its answer is a value and an index; the index goes where ours goes, the value into the
        // workspace.
        size_t own = 0;
        (void)cub::DeviceReduce::ArgMax(nullptr, own, static_cast<const float*>(t[0]),
                                        static_cast<float*>(nullptr),
                                        static_cast<int64_t*>(nullptr), c.shape[0], s);
        if (!w) {
          b = own + 256;
          return cudaSuccess;
        }
        return cub::DeviceReduce::ArgMax(static_cast<char*>(w) + 256, own,
                                         static_cast<const float*>(t[0]), static_cast<float*>(w),
                                         static_cast<int64_t*>(t.back()), c.shape[0], s);
      }));
}

}  // namespace ridge::rivals
