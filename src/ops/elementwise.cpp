#include <cstdio>

#include "kernels/activation/activation.h"
#include "kernels/dropout/dropout.h"
#include "kernels/glu/glu.h"
#include "kernels/vector_add/vector_add.h"
#include "ops/check.h"
#include "ops/memory_order.h"
#include "ridge/elementwise.h"

namespace ridge {

using ops::Check;
using ops::Named;

namespace {

constexpr std::initializer_list<Dtype> kFloats = {Dtype::f32, Dtype::f16, Dtype::bf16};

// One format, one shape; outputs that are an input or overlap none, and never each other.
void check_alike(Check& check, std::initializer_list<Named> in, std::initializer_list<Named> out) {
  const Named first = *in.begin();
  for (const auto& list : {in, out})
    for (const Named& t : list) check.valid(t);
  check.dtype(first, kFloats);
  for (const auto& list : {in, out})
    for (const Named& t : list) check.same_dtype(t, first);
  for (const auto& list : {in, out})
    for (const Named& t : list) check.same_shape(t, first);
  for (const Named& o : out) {
    check.distinct(o);
    for (const Named& i : in) check.no_partial_overlap(o, i);
    for (const Named* other = out.begin(); other != &o; ++other) check.no_overlap(o, *other);
  }
}

template <size_t N>
std::array<const Tensor*, N> pointers(const std::array<Tensor, N>& tensors) {
  std::array<const Tensor*, N> out;
  for (size_t t = 0; t < N; ++t) out[t] = &tensors[t];
  return out;
}

// As each_slab, but in the order in which the last tensor, the output, lies.
template <size_t N, class F>
Status each_slab_in_order(const std::array<const Tensor*, N>& tensors, F f) {
  return ops::each_slab<N>(pointers(ops::in_memory_order<N>(tensors, N - 1)), f);
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

}  // namespace

inline namespace api {

Status add(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  Check check("add");
  check_alike(check, {{"a", a}, {"b", b}}, {{"out", out}});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  return each_slab_in_order<3>({&a, &b, &out}, [&](const ops::Slab<3>& s) {
    return ops::dispatch("add", vector_add::rungs(),
                         vector_add::Args{.a = s.data[0],
                                          .b = s.data[1],
                                          .out = s.data[2],
                                          .rows = s.rows,
                                          .cols = s.cols,
                                          .a_stride = s.stride[0],
                                          .b_stride = s.stride[1],
                                          .out_stride = s.stride[2],
                                          .a_step = s.step[0],
                                          .b_step = s.step[1],
                                          .out_step = s.step[2],
                                          .dtype = a.dtype},
                         stream);
  });
}

}  // namespace api

// --- Activations ---

namespace {

struct ActivationRow {
  const char* name;
  const char* backward;
  activation::Function function;
};
// In the order of enum Activation.
constexpr ActivationRow kActivations[] = {
    {"relu", "relu_backward", activation::Function::relu},
    {"leaky_relu", "leaky_relu_backward", activation::Function::leaky_relu},
    {"hardtanh", "hardtanh_backward", activation::Function::hardtanh},
    {"clip", "clip_backward", activation::Function::clip},
    {"sigmoid", "sigmoid_backward", activation::Function::sigmoid},
    {"tanh", "tanh_backward", activation::Function::tanh},
    {"gelu", "gelu_backward", activation::Function::gelu},
    {"gelu_tanh", "gelu_tanh_backward", activation::Function::gelu_tanh},
    {"silu", "silu_backward", activation::Function::silu},
    {"elu", "elu_backward", activation::Function::elu},
    {"softplus", "softplus_backward", activation::Function::softplus},
};
static_assert(std::size(kActivations) == size_t(Activation::softplus) + 1);
static_assert(std::size(kActivations) == activation::kFunctions);

Status unknown(const char* op, Activation kind) {
  return Error{ops::kInvalid,
               std::string(op) + ": there is no activation " + std::to_string(int(kind))};
}

void check_parameters(Check& check, Activation kind, ActivationParameters p) {
  if (kind == Activation::hardtanh || kind == Activation::clip)
    check.that(p.alpha <= p.beta, "the low end, " + number(p.alpha) +
                                      ", is not under the high end, " + number(p.beta));
  if (kind == Activation::softplus)
    check.that(p.alpha > 0, "the sharpness is " + number(p.alpha) + "; it must be above 0");
}

}  // namespace

inline namespace api {

Status activation(Activation kind, ActivationParameters parameters, const Tensor& x,
                  const Tensor& y, cudaStream_t stream) {
  if (size_t(kind) >= std::size(kActivations)) return unknown("activation", kind);
  const ActivationRow& row = kActivations[size_t(kind)];
  Check check(row.name);
  check_alike(check, {{"x", x}}, {{"y", y}});
  check_parameters(check, kind, parameters);
  if (!check) return check.status();
  if (y.elements() == 0) return Status::ok();
  return each_slab_in_order<2>({&x, &y}, [&](const ops::Slab<2>& s) {
    return ops::dispatch(row.name, activation::rungs(),
                         activation::Args{.function = row.function,
                                          .x = s.data[0],
                                          .out = s.data[1],
                                          .rows = s.rows,
                                          .cols = s.cols,
                                          .x_stride = s.stride[0],
                                          .out_stride = s.stride[1],
                                          .x_step = s.step[0],
                                          .out_step = s.step[1],
                                          .dtype = x.dtype,
                                          .alpha = parameters.alpha,
                                          .beta = parameters.beta},
                         stream);
  });
}

Status activation_backward(Activation kind, ActivationParameters parameters, const Tensor& x,
                           const Tensor& dy, const Tensor& dx, cudaStream_t stream) {
  if (size_t(kind) >= std::size(kActivations)) return unknown("activation_backward", kind);
  const ActivationRow& row = kActivations[size_t(kind)];
  Check check(row.backward);
  check_alike(check, {{"x", x}, {"dy", dy}}, {{"dx", dx}});
  check_parameters(check, kind, parameters);
  if (!check) return check.status();
  if (dx.elements() == 0) return Status::ok();
  return each_slab_in_order<3>({&x, &dy, &dx}, [&](const ops::Slab<3>& s) {
    return ops::dispatch(row.backward, activation::rungs(),
                         activation::Args{.function = row.function,
                                          .backward = true,
                                          .x = s.data[0],
                                          .dy = s.data[1],
                                          .out = s.data[2],
                                          .rows = s.rows,
                                          .cols = s.cols,
                                          .x_stride = s.stride[0],
                                          .dy_stride = s.stride[1],
                                          .out_stride = s.stride[2],
                                          .x_step = s.step[0],
                                          .dy_step = s.step[1],
                                          .out_step = s.step[2],
                                          .dtype = x.dtype,
                                          .alpha = parameters.alpha,
                                          .beta = parameters.beta},
                         stream);
  });
}

}  // namespace api

// --- Gated units ---

namespace {

Status glu_forward(const char* op, glu::Gate f, Named gate_arg, Named up_arg, Named y_arg,
                   cudaStream_t stream) {
  const Tensor &gate = gate_arg.tensor, &up = up_arg.tensor, &y = y_arg.tensor;
  Check check(op);
  check_alike(check, {gate_arg, up_arg}, {y_arg});
  if (!check) return check.status();
  if (y.elements() == 0) return Status::ok();
  return each_slab_in_order<3>({&gate, &up, &y}, [&](const ops::Slab<3>& s) {
    return ops::dispatch(op, glu::rungs(),
                         glu::Args{.f = f,
                                   .gate = s.data[0],
                                   .up = s.data[1],
                                   .out = s.data[2],
                                   .rows = s.rows,
                                   .cols = s.cols,
                                   .gate_stride = s.stride[0],
                                   .up_stride = s.stride[1],
                                   .out_stride = s.stride[2],
                                   .gate_step = s.step[0],
                                   .up_step = s.step[1],
                                   .out_step = s.step[2],
                                   .dtype = y.dtype},
                         stream);
  });
}

Status glu_backward(const char* op, glu::Gate f, Named gate_arg, Named up_arg, Named dy_arg,
                    Named dgate_arg, Named dup_arg, cudaStream_t stream) {
  const Tensor &gate = gate_arg.tensor, &up = up_arg.tensor, &dy = dy_arg.tensor,
               &dgate = dgate_arg.tensor, &dup = dup_arg.tensor;
  Check check(op);
  check_alike(check, {gate_arg, up_arg, dy_arg}, {dgate_arg, dup_arg});
  if (!check) return check.status();
  if (dy.elements() == 0) return Status::ok();
  return each_slab_in_order<5>({&gate, &up, &dy, &dup, &dgate}, [&](const ops::Slab<5>& s) {
    return ops::dispatch(op, glu::rungs(),
                         glu::Args{.f = f,
                                   .backward = true,
                                   .gate = s.data[0],
                                   .up = s.data[1],
                                   .dy = s.data[2],
                                   .dgate = s.data[4],
                                   .dup = s.data[3],
                                   .rows = s.rows,
                                   .cols = s.cols,
                                   .gate_stride = s.stride[0],
                                   .up_stride = s.stride[1],
                                   .dy_stride = s.stride[2],
                                   .dgate_stride = s.stride[4],
                                   .dup_stride = s.stride[3],
                                   .gate_step = s.step[0],
                                   .up_step = s.step[1],
                                   .dy_step = s.step[2],
                                   .dgate_step = s.step[4],
                                   .dup_step = s.step[3],
                                   .dtype = dy.dtype},
                         stream);
  });
}

// The two halves of a packed tensor's last dimension.
struct Halves {
  Tensor gate, up;
  explicit Halves(const Tensor& packed) : gate(packed) {
    const auto last = size_t(packed.rank - 1);
    gate.shape[last] /= 2;
    up = gate;
    if (packed.elements() > 0)
      up.data = static_cast<char*>(packed.data) +
                gate.shape[last] * packed.strides[last] * int64_t(size_of(packed.dtype));
  }
};

void check_packed(Check& check, Named packed, Named half) {
  check.valid(packed).valid(half);
  if (!check) return;
  const Tensor &p = packed.tensor, &h = half.tensor;
  bool fits = p.rank == h.rank && p.rank > 0;
  for (int d = 0; fits && d < p.rank; ++d)
    fits = p.shape[size_t(d)] == h.shape[size_t(d)] * (d == p.rank - 1 ? 2 : 1);
  check.that(fits, std::string(packed.name) + " is " + ops::text(p) + " but " + half.name + " is " +
                       ops::text(h) + ", of which it must have twice the last size");
}

Status glu_packed_forward(const char* op, glu::Gate f, const Tensor& x, const Tensor& y,
                          cudaStream_t stream) {
  Check check(op);
  check_packed(check, {"x", x}, {"y", y});
  if (!check) return check.status();
  const Halves in(x);
  return glu_forward(op, f, {"x's gate", in.gate}, {"x's up", in.up}, {"y", y}, stream);
}

Status glu_packed_backward(const char* op, glu::Gate f, const Tensor& x, const Tensor& dy,
                           const Tensor& dx, cudaStream_t stream) {
  Check check(op);
  check_packed(check, {"x", x}, {"dy", dy});
  check_packed(check, {"dx", dx}, {"dy", dy});
  check.no_partial_overlap({"dx", dx}, {"x", x});
  if (!check) return check.status();
  const Halves in(x), out(dx);
  return glu_backward(op, f, {"x's gate", in.gate}, {"x's up", in.up}, {"dy", dy},
                      {"dx's gate", out.gate}, {"dx's up", out.up}, stream);
}

}  // namespace

inline namespace api {

Status swiglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return glu_forward("swiglu", glu::Gate::silu, {"gate", gate}, {"up", up}, {"y", y}, stream);
}
Status swiglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                       const Tensor& dup, cudaStream_t stream) {
  return glu_backward("swiglu_backward", glu::Gate::silu, {"gate", gate}, {"up", up}, {"dy", dy},
                      {"dgate", dgate}, {"dup", dup}, stream);
}
Status swiglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return glu_packed_forward("swiglu_packed", glu::Gate::silu, x, y, stream);
}
Status swiglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                              cudaStream_t stream) {
  return glu_packed_backward("swiglu_packed_backward", glu::Gate::silu, x, dy, dx, stream);
}
Status geglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return glu_forward("geglu", glu::Gate::gelu, {"gate", gate}, {"up", up}, {"y", y}, stream);
}
Status geglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                      const Tensor& dup, cudaStream_t stream) {
  return glu_backward("geglu_backward", glu::Gate::gelu, {"gate", gate}, {"up", up}, {"dy", dy},
                      {"dgate", dgate}, {"dup", dup}, stream);
}
Status geglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return glu_packed_forward("geglu_packed", glu::Gate::gelu, x, y, stream);
}
Status geglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                             cudaStream_t stream) {
  return glu_packed_backward("geglu_packed_backward", glu::Gate::gelu, x, dy, dx, stream);
}

}  // namespace api

// --- Dropout ---

namespace {

Status dropped(const char* op, Named x, Named y, double probability, uint64_t seed, uint64_t offset,
               cudaStream_t stream) {
  Check check(op);
  check_alike(check, {x}, {y});
  check.that(probability >= 0 && probability <= 1,
             "the probability is " + number(probability) + "; it must be from 0 to 1");
  if (!check) return check.status();
  if (y.tensor.elements() == 0) return Status::ok();
  int64_t first = 0;
  return ops::each_slab<2>({&x.tensor, &y.tensor}, [&](const ops::Slab<2>& s) {
    const Status status = ops::dispatch(op, dropout::rungs(),
                                        dropout::Args{.x = s.data[0],
                                                      .out = s.data[1],
                                                      .rows = s.rows,
                                                      .cols = s.cols,
                                                      .x_stride = s.stride[0],
                                                      .out_stride = s.stride[1],
                                                      .x_step = s.step[0],
                                                      .out_step = s.step[1],
                                                      .first = first,
                                                      .dtype = y.tensor.dtype,
                                                      .p = probability,
                                                      .seed = seed,
                                                      .offset = offset},
                                        stream);
    first += s.rows * s.cols;
    return status;
  });
}

}  // namespace

inline namespace api {

Status dropout(const Tensor& x, const Tensor& y, double probability, uint64_t seed, uint64_t offset,
               cudaStream_t stream) {
  return dropped("dropout", {"x", x}, {"y", y}, probability, seed, offset, stream);
}
Status dropout_backward(const Tensor& dy, const Tensor& dx, double probability, uint64_t seed,
                        uint64_t offset, cudaStream_t stream) {
  return dropped("dropout_backward", {"dy", dy}, {"dx", dx}, probability, seed, offset, stream);
}

}  // namespace api
}  // namespace ridge
