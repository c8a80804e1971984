// linear_cross_entropy rung 02, row_chunks: the logits of an eighth of the rows at a time.
//
// Since 01_recomputed: the products are those of gemm, by whatever rung of it is the fastest, and
//   the rows are those of cross_entropy, which leaves their gradient where the logits were. So each
//   logit is made once, by tensor cores, and a chunk's workspace serves all chunks.
// Stops at: the products; and at what passes through memory beside them: each chunk's logits, which
//   are written once and read three times, and the gradient of weight, which is read and written
//   once per chunk.
// Not for: memory for less than 64 rows of logits.
#include "kernels/linear_cross_entropy/around.cuh"
#include "select/select.h"

namespace ridge::linear_cross_entropy::row_chunks {

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return around_rows(a, stream, [&](const Scratch& scratch) {
    return run_chunks(a, scratch.losses, scratch.scale, scratch.rest,
                      a.workspace_bytes - Scratch::bytes(a), device, stream);
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return Scratch::bytes(a) + chunks_workspace(a, device);
}
// Not measured: the products at half of what tensor cores do, and some launches.
static double cost(const Args& a, const DeviceInfo& device) {
  constexpr Tuned kTuned = {60.0, 0.5};
  constexpr double kFlopsPerByte = 100;  // of the memory, which keeps it proportional to the device
  return streaming_us(kTuned, flops(a) / kFlopsPerByte, device);
}
constinit const Rung rung = {
    .idea = "gemm and cross_entropy on an eighth of the rows at a time",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    .cost = cost,
    .claims = {// of bf16: packs of 8, once as a logit and once as a gradient
               .global_stores_per_element = 0.254}};

}  // namespace ridge::linear_cross_entropy::row_chunks
