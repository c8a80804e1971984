// The CUDA runtime beside copy: cudaMemcpy2DAsync, which takes rows with gaps as they are.
#include <cuda_runtime_api.h>

#include "harness/rivals/rival.h"

namespace ridge::matrix_copy {
namespace {

using namespace rivals;

std::string refuses(const Call& call) {
  for (const std::string name : {"in", "out"}) {
    const Tensor& t = call[name];
    const int last = t.rank - 1;
    if (last < 0) return "it takes rows, and " + name + " has no dimension";
    if (t.shape[size_t(last)] > 1 && t.strides[size_t(last)] != 1)
      return "the rows of " + name + " have gaps between their elements";
    if (!ops::merged(t, 0, last)) return "the rows of " + name + " have more than one stride";
    if (ops::rows_of(t).stride < t.shape[size_t(last)]) return "the rows of " + name + " overlap";
  }
  return "";
}

Status launch(const Call& call, cudaStream_t stream) {
  const Tensor &in = call["in"], &out = call["out"];
  if (in.elements() == 0) return Status::ok();
  const ops::Rows from = ops::rows_of(in), to = ops::rows_of(out);
  const size_t size = size_of(in.dtype);
  const cudaError_t error = cudaMemcpy2DAsync(out.data, size_t(to.stride) * size, in.data,
                                              size_t(from.stride) * size, size_t(from.cols) * size,
                                              size_t(from.rows), cudaMemcpyDeviceToDevice, stream);
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("cudaMemcpy2DAsync: ") + cudaGetErrorString(error)};
}

}  // namespace

void rivals_runtime(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "copy") rivals.push_back(rival("cudaMemcpy2D", refuses, launch));
}

}  // namespace ridge::matrix_copy
