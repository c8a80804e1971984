// Reductions of a vector with your own operator, in one pass over memory and one launch.
// Header only: include it in a .cu file (C++17 or later).
//
//   struct LargestDistance {  // of any element from `centre`
//     float centre;
//     __device__ float identity() const { return 0; }  // combined with anything, gives that thing
//     __device__ float transform(float x) const { return fabsf(x - centre); }
//     __device__ float combine(float a, float b) const { return fmaxf(a, b); }
//     __device__ float finish(float a) const { return a; }
//   };
//   const LargestDistance op = {3};
//   const ridge::Expected<std::size_t> bytes = ridge::reduce_workspace(op, x, n);
//   … workspace from cudaMalloc(&workspace, *bytes), once for many reductions …
//   ridge::Status status = ridge::reduce(op, x, n, out, workspace, *bytes, stream);
//
// - transform makes of an element what is carried along, which is what identity returns: a number,
//   or a trivially copyable struct of whole 4-byte words. It may take the element's index (int64_t)
//   behind the element. Elements of f16 and bf16 come as float, all others as they are.
// - combine has to be associative and commutative, because a thread combines elements that lie far
//   apart. If it is so only up to rounding, as the addition of floats, the result is still the same
//   in every run on a device: the order of all combinations is fixed.
// - finish makes the result of it. It may take the number of elements (int64_t) as well.
// - accumulate(carried&, const element (&)[N], int64_t index of the first) is optional: what a
//   thread does with N elements in a row, of which it meets the later ones later. Without it, they
//   are combined as a tree. A template of N serves all formats.
// - Elements have 1, 2, 4, 8 or 16 bytes. What is carried along may be larger.
// - With two vectors, reduce(op, x, y, n, …), transform takes an element of each.
//
// With no elements, the result is finish(identity()).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "ridge/detail/reduce_vectors.cuh"
#include "ridge/status.h"

namespace ridge {

namespace detail {

inline Expected<int> multiprocessors() {  // of the current device
  int device = 0, count = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) return count;
  return Error{int(error), std::string("reduce: no CUDA device: ") + cudaGetErrorString(error)};
}

template <class T, int In>
Status check_vectors(const reduction::Vectors<T, In>& v) {
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "elements have 1, 2, 4, 8 or 16 bytes: they move 16 bytes per lane");
  const auto complain = [](const std::string& what) {
    return Error{int(cudaErrorInvalidValue), "reduce: " + what};
  };
  if (v.n < 0) return complain("a vector of " + std::to_string(v.n) + " elements");
  for (int k = 0; k < In && v.n > 0; ++k) {
    const std::string name = k == 0 ? "x" : "y";
    if (!v.in[k]) return complain(name + " is null");
    if (reinterpret_cast<std::uintptr_t>(v.in[k]) % sizeof(T) != 0)
      return complain(name + " is not aligned to its elements, which are " +
                      std::to_string(sizeof(T)) + " bytes");
  }
  return Status::ok();
}

template <class Op, class T, int In>
Expected<std::size_t> reduce_bytes(const reduction::Vectors<T, In>& v) {
  if (const Status s = check_vectors(v); !s) return s.error();
  const Expected<int> count = multiprocessors();
  if (!count) return count.error();
  return reduction::vector_bytes<reduction::VectorTuning, Op>(v, *count);
}

template <class Acc>
constexpr bool kCanBeCarried = std::is_trivially_copyable_v<Acc> && alignof(Acc) <= 16 &&
                               !std::is_same_v<Acc, bool> &&
                               (std::is_arithmetic_v<Acc> || (alignof(Acc) >= 4));

template <class Op, class T, int In, class Out>
Status reduce_vectors(const Op& op, const reduction::Vectors<T, In>& v, Out* out, void* workspace,
                      std::size_t workspace_bytes, cudaStream_t stream) {
  static_assert(kCanBeCarried<reduction::AccOf<Op>>,
                "identity() returns a number, or a trivially copyable struct of 4-byte words");
  const auto complain = [](const std::string& what) {
    return Error{int(cudaErrorInvalidValue), "reduce: " + what};
  };
  if (const Status s = check_vectors(v); !s) return s;
  if (!out) return complain("out is null");
  if (reinterpret_cast<std::uintptr_t>(out) % alignof(Out) != 0)
    return complain("out is not aligned to " + std::to_string(alignof(Out)) + " bytes");
  const Expected<int> count = multiprocessors();
  if (!count) return count.error();
  const std::size_t wanted = reduction::vector_bytes<reduction::VectorTuning, Op>(v, *count);
  if (workspace_bytes < wanted)
    return complain("the workspace has " + std::to_string(workspace_bytes) + " bytes, but takes " +
                    std::to_string(wanted));
  if (wanted && !workspace) return complain("the workspace is null");
  if (wanted && reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0)
    return complain("the workspace is not aligned to 16 bytes");
  reduction::launch_vectors<reduction::VectorTuning>(op, v, out, workspace, *count, stream);
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("reduce: ") + cudaGetErrorString(error)};
}

}  // namespace detail

inline namespace api {

// Bytes of device memory, at a 16-byte boundary, that a reduction wants on the current device. What
// they hold does not matter, but two reductions that may run at the same time need one each.
template <class Op, class T>
Expected<std::size_t> reduce_workspace(const Op&, const T* x, std::int64_t n) {
  return detail::reduce_bytes<Op>(reduction::Vectors<T, 1>{{x}, n});
}
template <class Op, class T>
Expected<std::size_t> reduce_workspace(const Op&, const T* x, const T* y, std::int64_t n) {
  return detail::reduce_bytes<Op>(reduction::Vectors<T, 2>{{x, y}, n});
}

// *out = finish(combine of all transform(x[i])). Enqueues, and returns.
template <class Op, class T, class Out>
Status reduce(const Op& op, const T* x, std::int64_t n, Out* out, void* workspace,
              std::size_t workspace_bytes, cudaStream_t stream = nullptr) {
  return detail::reduce_vectors(op, reduction::Vectors<T, 1>{{x}, n}, out, workspace,
                                workspace_bytes, stream);
}

// *out = finish(combine of all transform(x[i], y[i])). Enqueues, and returns.
template <class Op, class T, class Out>
Status reduce(const Op& op, const T* x, const T* y, std::int64_t n, Out* out, void* workspace,
              std::size_t workspace_bytes, cudaStream_t stream = nullptr) {
  return detail::reduce_vectors(op, reduction::Vectors<T, 2>{{x, y}, n}, out, workspace,
                                workspace_bytes, stream);
}

}  // namespace api
}  // namespace ridge
