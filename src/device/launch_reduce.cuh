// Reduces a vector to one number in a single launch, with any operator (see
// ridge/detail/reduce_op.cuh):
//
//   launch_reduce(op, Vectors<float>{{x}, n}, out, {workspace, bytes}, device, stream);
//
// The code lies in include/, because ridge/reduce.cuh gives it to users.
#pragma once

#include "ladder/rung.h"
#include "ridge/detail/reduce_vectors.cuh"

namespace ridge {

using reduction::Vectors;

struct Workspace {
  void* data = nullptr;  // at a 16-byte boundary; holds anything
  size_t bytes = 0;
};

template <class Tuning = reduction::VectorTuning, class Op, class T, int In>
size_t reduce_workspace(const Op&, const Vectors<T, In>& v, const DeviceInfo& device) {
  return reduction::vector_bytes<Tuning, Op>(v, device.sm_count);
}

// Of no elements: finish(identity).
template <class Tuning = reduction::VectorTuning, class Out, class Op, class T, int In>
Status launch_reduce(const Op& op, const Vectors<T, In>& v, Out* out, Workspace workspace,
                     const DeviceInfo& device, cudaStream_t stream) {
  if (workspace.bytes < reduce_workspace<Tuning>(op, v, device))
    return Error{int(cudaErrorInvalidValue), "the workspace is smaller than reduce_workspace says"};
  reduction::launch_vectors<Tuning>(op, v, out, workspace.data, device.sm_count, stream);
  return launch_status();
}

}  // namespace ridge
