#include "kernels/glu/glu.h"
#include "ladder/family.h"
#include "operator/slabs.h"

namespace ridge::glu {
namespace {

// Gates and ups, or their gradients: two tensors, or the halves of one's last dimension.
struct Halves {
  Tensor gate, up;

  Halves(const Tensor& first, const Tensor& second) : gate(first), up(second) {}
  explicit Halves(const Tensor& packed) : gate(packed) {
    const auto last = size_t(packed.rank - 1);
    gate.shape[last] /= 2;
    up = gate;
    if (packed.elements() > 0)
      up.data = static_cast<char*>(packed.data) +
                gate.shape[last] * packed.strides[last] * int64_t(size_of(packed.dtype));
  }
};

// Where the k-th tensor of a slab lies.
template <class Data, size_t kTensors>
void place(const ops::Slab<kTensors>& s, size_t k, Data*& data, int64_t& stride, int64_t& step) {
  data = s.data[k];
  stride = s.stride[k];
  step = s.step[k];
}

Status bind_forward(const Halves& in, const Tensor& y, Args args, Launch<Args>& launch) {
  return ops::each_slab_in_order<3>({&in.gate, &in.up, &y}, [&](const ops::Slab<3>& s) {
    args.rows = s.rows;
    args.cols = s.cols;
    place(s, 0, args.gate, args.gate_stride, args.gate_step);
    place(s, 1, args.up, args.up_stride, args.up_step);
    place(s, 2, args.out, args.out_stride, args.out_step);
    return launch(args);
  });
}

Status bind_backward(const Halves& in, const Tensor& dy, const Halves& out, Args args,
                     Launch<Args>& launch) {
  const auto each = [&](const ops::Slab<5>& s) {
    args.rows = s.rows;
    args.cols = s.cols;
    place(s, 0, args.gate, args.gate_stride, args.gate_step);
    place(s, 1, args.up, args.up_stride, args.up_step);
    place(s, 2, args.dy, args.dy_stride, args.dy_step);
    place(s, 3, args.dup, args.dup_stride, args.dup_step);
    place(s, 4, args.dgate, args.dgate_stride, args.dgate_step);
    return launch(args);
  };
  return ops::each_slab_in_order<5>({&in.gate, &in.up, &dy, &out.up, &out.gate}, each);
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  const int op = call.op().index;
  const bool packed = op & kPacked;
  const Halves in = packed ? Halves(call["x"]) : Halves(call["gate"], call["up"]);
  const Args args = {.f = op & kGelu ? Gate::gelu : Gate::silu,
                     .backward = bool(op & kBackward),
                     .dtype = in.gate.dtype};
  if (!args.backward) return bind_forward(in, call["y"], args, launch);
  const Halves out = packed ? Halves(call["dx"]) : Halves(call["dgate"], call["dup"]);
  return bind_backward(in, call["dy"], out, args, launch);
}

}  // namespace ridge::glu
