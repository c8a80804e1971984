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

Status bind_forward(const Halves& in, const Tensor& y, Args args, Launch<Args>& launch) {
  return ops::each_slab_in_order<3>({&in.gate, &in.up, &y}, [&](const ops::Slab<3>& s) {
    args.rows = s.rows;
    args.cols = s.cols;
    args.gate = s.data[0];
    args.up = s.data[1];
    args.out = s.data[2];
    args.gate_stride = s.stride[0];
    args.up_stride = s.stride[1];
    args.out_stride = s.stride[2];
    args.gate_step = s.step[0];
    args.up_step = s.step[1];
    args.out_step = s.step[2];
    return launch(args);
  });
}

Status bind_backward(const Halves& in, const Tensor& dy, const Halves& out, Args args,
                     Launch<Args>& launch) {
  const auto each = [&](const ops::Slab<5>& s) {
    args.rows = s.rows;
    args.cols = s.cols;
    args.gate = s.data[0];
    args.up = s.data[1];
    args.dy = s.data[2];
    args.dup = s.data[3];
    args.dgate = s.data[4];
    args.gate_stride = s.stride[0];
    args.up_stride = s.stride[1];
    args.dy_stride = s.stride[2];
    args.dup_stride = s.stride[3];
    args.dgate_stride = s.stride[4];
    args.gate_step = s.step[0];
    args.up_step = s.step[1];
    args.dy_step = s.step[2];
    args.dup_step = s.step[3];
    args.dgate_step = s.step[4];
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
