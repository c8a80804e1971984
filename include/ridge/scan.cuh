// Prefix scans with your own operator, in one pass over memory. Header only: include it in a
// .cu file (C++17 or later).
//
//   struct Add {
//     __host__ __device__ float identity() const { return 0; }
//     __host__ __device__ float operator()(float a, float b) const { return a + b; }
//   };
//   const std::size_t bytes = ridge::scan_workspace<float>(n);
//   … workspace from cudaMalloc(&workspace, bytes), once for many scans …
//   ridge::Status status = ridge::inclusive_scan(in, out, n, Add(), workspace, bytes, stream);
//
// The operator has to be associative, but need not be commutative: in op(a, b), a always comes from
// elements before b. Its identity() combined with x gives x. If it is associative only up to
// rounding, as the addition of floats, the last digits may differ from run to run.
//
// T may be any trivially copyable type; those of 1, 2, 4, 8 or 16 bytes move 16 bytes per lane.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "ridge/detail/scan_tiles.cuh"
#include "ridge/status.h"

namespace ridge {

// Bytes of device memory that a scan of n elements wants. What they hold does not matter, but two
// scans that may run at the same time need one each.
template <class T>
std::size_t scan_workspace(std::int64_t n) {
  return std::size_t(detail::scan_bytes<detail::VectorTiles, detail::VectorIo<T>>(n));
}

namespace detail {

template <bool kInclusive, class T, class Op>
Status scan_vector(const T* in, T* out, std::int64_t n, const Op& op, void* workspace,
                   std::size_t workspace_bytes, cudaStream_t stream) {
  using Io = VectorIo<T>;
  const auto complain = [](const std::string& what) {
    return Error{int(cudaErrorInvalidValue), "scan: " + what};
  };
  if (n < 0) return complain("a vector of " + std::to_string(n) + " elements");
  if (n == 0) return Status::ok();
  if (!in) return complain("in is null");
  if (!out) return complain("out is null");
  const auto from = reinterpret_cast<std::uintptr_t>(in),
             to = reinterpret_cast<std::uintptr_t>(out);
  for (const std::uintptr_t pointer : {from, to})
    if (pointer % alignof(T) != 0)
      return complain(std::string(pointer == from ? "in" : "out") + " is not aligned to " +
                      std::to_string(alignof(T)) + " bytes");
  const std::uintptr_t length = std::uintptr_t(n) * sizeof(T);
  if (from != to && from < to + length && to < from + length)
    return complain("out and in overlap in memory without being the same vector");
  const std::size_t wanted = scan_workspace<T>(n);
  if (workspace_bytes < wanted)
    return complain("the workspace has " + std::to_string(workspace_bytes) + " bytes, but takes " +
                    std::to_string(wanted));
  if (!workspace) return complain("the workspace is null");
  if (reinterpret_cast<std::uintptr_t>(workspace) % sizeof(std::uint64_t) != 0)
    return complain("the workspace is not aligned to " + std::to_string(sizeof(std::uint64_t)) +
                    " bytes");
  const Io io = {in, out, n};
  launch_scan<VectorTiles, kInclusive>(io, op, workspace, stream);
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("scan: ") + cudaGetErrorString(error)};
}

}  // namespace detail

// out[i] = in[0] op … op in[i]. `out` may be `in`. Enqueues, and returns.
template <class T, class Op>
Status inclusive_scan(const T* in, T* out, std::int64_t n, const Op& op, void* workspace,
                      std::size_t workspace_bytes, cudaStream_t stream = nullptr) {
  return detail::scan_vector<true>(in, out, n, op, workspace, workspace_bytes, stream);
}

// out[i] = in[0] op … op in[i - 1]; out[0] is the identity. `out` may be `in`. Enqueues, and
// returns.
template <class T, class Op>
Status exclusive_scan(const T* in, T* out, std::int64_t n, const Op& op, void* workspace,
                      std::size_t workspace_bytes, cudaStream_t stream = nullptr) {
  return detail::scan_vector<false>(in, out, n, op, workspace, workspace_bytes, stream);
}

}  // namespace ridge
