#include "kernels/rearrange/rearrange.h"
#include "ladder/family.h"
#include "operator/layout.h"
#include "operator/memory_order.h"

namespace ridge::rearrange {
namespace {

bool is_plain(const Tensor& t) { return size_of(t.dtype) <= 4 && ops::is_contiguous(t); }

void* at(const Tensor& t, int64_t offset) {
  return static_cast<char*>(t.data) + offset * int64_t(size_of(t.dtype));
}

Status copied(const Call& call, const Tensor& in, const Tensor& out, Launch<Args>& launch) {
  Call other = handed_over("copy", call);
  other.set("in", &in);
  other.set("out", &out);
  return launch.other(other);
}

Status reverse(const Call& call, Launch<Args>& launch) {
  const Tensor &in = call["in"], &out = call["out"];
  const int64_t n = in.shape[0];
  const bool in_place = in.data == out.data;
  if (is_plain(in) && is_plain(out))
    return launch({.op = in_place ? Op::reverse_in_place : Op::reverse,
                   .a = in_place ? nullptr : in.data,
                   .x = out.data,
                   .n = n,
                   .dtype = in.dtype});
  if (in_place) {
    if (n == 1) return Status::ok();
    ops::Check check(call.op().name.c_str());
    check.that(size_of(in.dtype) <= 4, [&] {
      return "in place, elements have up to 4 bytes; " + std::string(name_of(in.dtype)) + " have " +
             std::to_string(size_of(in.dtype));
    });
    check.that(false, [&] {
      return "in place, the stride must be 1; it is " + std::to_string(in.strides[0]);
    });
    return check.status();
  }
  Tensor turned = in;
  turned.data = at(in, (n - 1) * in.strides[0]);
  turned.strides[0] = -in.strides[0];
  return copied(call, turned, out, launch);
}

Status swap(const Call& call, Launch<Args>& launch) {
  const Tensor &x = call["x"], &y = call["y"];
  const auto t = ops::in_memory_order<2>({&x, &y}, 0);
  const int last = t[0].rank - 1;
  ops::Check check(call.op().name.c_str());
  const char* const names[] = {"x", "y"};
  for (size_t i = 0; i < 2 && last >= 0; ++i)
    check.that(t[i].strides[size_t(last)] == 1, [&] {
      return std::string(names[i]) + " has strides " + ops::strides_text(call[names[i]]) +
             "; it must have stride 1 in the dimension in which x has its least stride";
    });
  if (!check) return check.status();
  const bool is_wide = size_of(x.dtype) == 8;  // kernels move up to 4 bytes
  const int64_t n = last >= 0 ? t[0].shape[size_t(last)] : 1;
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    return launch({.op = Op::swap,
                   .x = data[0],
                   .y = data[1],
                   .n = is_wide ? 2 * n : n,
                   .dtype = is_wide ? Dtype::u32 : x.dtype});
  });
}

Status interleave(const Call& call, Launch<Args>& launch) {
  const Tensor &a = call["a"], &b = call["b"], &out = call["out"];
  if (is_plain(a) && is_plain(b) && is_plain(out))
    return launch({.op = Op::interleave,
                   .a = a.data,
                   .b = b.data,
                   .x = out.data,
                   .n = a.elements(),
                   .dtype = a.dtype});
  const auto last = size_t(out.rank - 1);
  Tensor even = out;
  even.shape[last] /= 2;
  even.strides[last] *= 2;
  Tensor odd = even;
  odd.data = at(out, out.strides[last]);
  if (const Status s = copied(call, a, even, launch); !s) return s;
  return copied(call, b, odd, launch);
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  if (call.tensors[0]->elements() == 0) return Status::ok();
  if (call.op().name == "reverse") return reverse(call, launch);
  if (call.op().name == "swap") return swap(call, launch);
  return interleave(call, launch);
}

}  // namespace ridge::rearrange
