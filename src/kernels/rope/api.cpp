// The functions of ridge/elementwise.h for this family.
#include "ops/call.h"
#include "ridge/elementwise.h"

namespace ridge {
namespace {

// Keys may be left out.
Status run_rope(const char* op, const Tensor* q, const Tensor* k, const Tensor* q_out,
                const Tensor* k_out, const RopeOptions& o, cudaStream_t stream) {
  const bool has_table = o.cos.data || o.sin.data;
  const Tensor *cos = has_table ? &o.cos : nullptr, *sin = has_table ? &o.sin : nullptr;
  return ops::call(op, {q, k, cos, sin, q_out, k_out},
                   {int64_t(o.interleaved), o.first_position, o.base}, {}, stream);
}

}  // namespace

inline namespace api {

Status rope(const Tensor& q, const Tensor& q_out, const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope", &q, nullptr, &q_out, nullptr, options, stream);
}
Status rope_backward(const Tensor& dq_out, const Tensor& dq, const RopeOptions& options,
                     cudaStream_t stream) {
  return run_rope("rope_backward", &dq_out, nullptr, &dq, nullptr, options, stream);
}
Status rope(const Tensor& q, const Tensor& k, const Tensor& q_out, const Tensor& k_out,
            const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope", &q, &k, &q_out, &k_out, options, stream);
}
Status rope_backward(const Tensor& dq_out, const Tensor& dk_out, const Tensor& dq, const Tensor& dk,
                     const RopeOptions& options, cudaStream_t stream) {
  return run_rope("rope_backward", &dq_out, &dk_out, &dq, &dk, options, stream);
}

}  // namespace api
}  // namespace ridge
