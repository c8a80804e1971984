// The rung row_chunks: a chunk of the rows after the other goes through operators that there are.
#include <algorithm>

#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ladder/ladder.h"
#include "ladder/registry.h"

namespace ridge::linear_cross_entropy {
namespace {

constexpr int64_t kParts = 8, kLeastRows = 64;
constexpr int64_t kAlignment = 256;  // bytes, of what lies in the workspace

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The logits of one chunk, in the format of hidden. Rows of 16 bytes, so that gemm reaches them.
struct Chunk {
  int64_t rows, stride, bytes;

  explicit Chunk(const Args& a)
      : rows(std::max(a.rows.rows / kParts / kLeastRows * kLeastRows, kLeastRows)),
        stride((a.rows.cols + 7) / 8 * 8),
        bytes(aligned(std::min(rows, a.rows.rows) * stride * int64_t(size_of(a.dtype)))) {}
};

Tensor matrix(const void* data, Dtype dtype, int64_t rows, int64_t cols, int64_t row_step,
              int64_t col_step = 1) {
  Tensor t(const_cast<void*>(data), dtype, {rows, cols});
  t.strides[0] = row_step;
  t.strides[1] = col_step;
  return t;
}
const void* row_of(const void* data, int64_t row, int64_t stride, Dtype dtype) {
  return static_cast<const char*>(data) + row * stride * int64_t(size_of(dtype));
}

Call call_of(std::string_view name) {
  const OperatorDef* const def = find_operator(name);
  if (!def) fail_at_start("linear_cross_entropy", "there is no operator " + std::string(name));
  return Call(*def);
}
// d = a b, or c + a b where there is a c.
template <class Visit>
Status product(const Tensor& a, const Tensor& b, const Tensor& d, bool adds, Visit visit) {
  if (d.elements() == 0) return Status::ok();
  Call call = call_of("gemm");
  call.set("a", &a);
  call.set("b", &b);
  call.set("d", &d);
  if (adds) {
    call.set("c", &d);
    call.set("beta", Value(1.0));
  }
  return visit(call);
}

// Calls visit(call) for everything that is to be done, in order.
template <class Visit>
Status each_call(const Args& a, float* losses, const float* scale, void* logits_data, Visit visit) {
  const Chunk chunk(a);
  const int64_t cols = a.rows.cols, dim = a.dim;
  const Dtype targets_dtype = a.rows.wide_targets ? Dtype::i64 : Dtype::i32;
  const Tensor weight = matrix(a.weight, a.dtype, cols, dim, a.weight_stride);
  const Tensor turned_weight = matrix(a.weight, a.dtype, dim, cols, 1, a.weight_stride);
  const Tensor dweight = matrix(a.dweight, Dtype::f32, cols, dim, a.dweight_stride);
  const Tensor dloss(const_cast<float*>(scale), Dtype::f32, {1});
  for (int64_t first = 0; first < a.rows.rows || first == 0; first += chunk.rows) {
    const int64_t rows = std::min(chunk.rows, a.rows.rows - first);
    const Tensor hidden = matrix(row_of(a.hidden, first, a.hidden_stride, a.dtype), a.dtype, rows,
                                 dim, a.hidden_stride);
    const Tensor logits = matrix(logits_data, a.dtype, rows, cols, chunk.stride);
    if (const Status s = product(hidden, turned_weight, logits, false, visit); !s) return s;

    const Tensor targets(const_cast<void*>(row_of(a.rows.targets, first, 1, targets_dtype)),
                         targets_dtype, {rows});
    const Tensor of_rows(losses + first, Dtype::f32, {rows});
    Call each = call_of(has_gradient(a) ? "cross_entropy_with_gradient" : "cross_entropy");
    each.set("logits", &logits);
    each.set("targets", &targets);
    each.set("losses", &of_rows);
    each.set("reduction", Value(int64_t(cross_entropy::Reduction::none)));
    each.set("label_smoothing", Value(double(a.rows.smoothing)));
    each.set("ignore_index", Value(a.rows.ignored));
    if (has_gradient(a)) {
      each.set("dloss", &dloss);
      each.set("dlogits", &logits);
    }
    if (rows > 0)
      if (const Status s = visit(each); !s) return s;

    if (a.dhidden) {
      const Tensor dhidden = matrix(row_of(a.dhidden, first, a.dhidden_stride, a.dtype), a.dtype,
                                    rows, dim, a.dhidden_stride);
      if (const Status s = product(logits, weight, dhidden, false, visit); !s) return s;
    }
    if (a.dweight) {
      const Tensor turned = matrix(logits_data, a.dtype, cols, rows, 1, chunk.stride);
      if (const Status s = product(turned, hidden, dweight, first > 0, visit); !s) return s;
    }
  }
  return Status::ok();
}

// Calls f(the call's ladder) with a checked call, of parts of tensors whose overlaps were checked.
template <class F>
Status with_ladder(Call& call, F f) {
  const std::string name = "linear_cross_entropy: " + call.op().name;
  if (const Status s = check_call(call, name.c_str(), Overlaps::checked_before); !s) return s;
  const auto ladder = load_family(call.op().family);
  return ladder ? f(**ladder) : Status(ladder.error());
}

}  // namespace

Status run_chunks(const Args& a, float* losses, const float* scale, void* workspace, size_t bytes,
                  const DeviceInfo& device, cudaStream_t stream) {
  char* const end = static_cast<char*>(workspace) + bytes;
  char* const logits = reinterpret_cast<char*>(aligned(reinterpret_cast<int64_t>(workspace)));
  char* const rest = logits + Chunk(a).bytes;
  return each_call(a, losses, scale, logits, [&](Call& call) {
    return with_ladder(call, [&](const Ladder& ladder) {
      return ladder.launch(kChosen, call, {rest, size_t(end - rest)}, device, stream);
    });
  });
}

// What the calls themselves want depends on how their tensors are aligned, not on where they are.
size_t chunks_workspace(const Args& a, const DeviceInfo& device) {
  const auto somewhere = reinterpret_cast<float*>(kAlignment);
  size_t most = 0;
  // A call that cannot be done says so when it is launched.
  (void)each_call(a, somewhere, somewhere, somewhere, [&](Call& call) {
    return with_ladder(call, [&](const Ladder& ladder) -> Status {
      const auto wanted = ladder.workspace(kChosen, call, device);
      if (!wanted) return wanted.error();
      most = std::max(most, *wanted);
      return Status::ok();
    });
  });
  return size_t(kAlignment + Chunk(a).bytes) + most;
}

}  // namespace ridge::linear_cross_entropy
