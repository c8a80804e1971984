#include <algorithm>
#include <cstdio>

#include "kernels/adamw/adamw.h"
#include "ladder/family.h"
#include "operator/memory_order.h"

namespace ridge::adamw {
namespace {

constexpr size_t kTensors = 5;

// Appends the rows of one call's tensors to the parts of their format.
Status take(const Call& call, const char* name, Args& f32, Args& bf16) {
  const Tensor &weight = call["weight"], &m = call["m"];
  const Tensor* const master = call.find("master");
  const bool has_master = weight.dtype == Dtype::bf16;
  ops::Check check(name);
  check.that(master || !has_master, "master is missing: bf16 weights are the copy of one");
  check.that(!master || has_master, "master is given, but only bf16 weights have one");
  if (!check || weight.elements() == 0) return check.status();

  const auto tensors = ops::in_memory_order<kTensors>(
      {&weight, &call["grad"], &m, &call["v"], has_master ? master : &m}, 0);
  const int rank = tensors[0].rank;
  for (size_t t = 0; t < kTensors && rank > 0; ++t)
    check.that(tensors[t].strides[size_t(rank - 1)] == 1, [&] {
      return call.op().tensors[t].name +
             " must have stride 1 in the dimension in which weight has its least stride";
    });
  if (!check) return check.status();
  Args& args = has_master ? bf16 : f32;
  return ops::each_outer<kTensors>(tensors, 1, [&](const std::array<void*, kTensors>& data) {
    args.parts.push_back({.weight = data[0],
                          .master = has_master ? static_cast<float*>(data[4]) : nullptr,
                          .grad = data[1],
                          .m = static_cast<float*>(data[2]),
                          .v = static_cast<float*>(data[3]),
                          .n = rank > 0 ? tensors[0].shape[size_t(rank - 1)] : 1});
    return Status::ok();
  });
}

// Whether two of the arrays that are written share a byte.
bool shared(const Args& f32, const Args& bf16) {
  struct Range {
    const char *begin, *end;
  };
  std::vector<Range> ranges;
  for (const Args* args : {&f32, &bf16})
    for (const Part& part : args->parts)
      for (const void* p :
           {static_cast<const void*>(part.weight), static_cast<const void*>(part.master),
            static_cast<const void*>(part.m), static_cast<const void*>(part.v)}) {
        if (!p) continue;
        const size_t size = p == part.weight ? size_of(args->dtype) : sizeof(float);
        const char* begin = static_cast<const char*>(p);
        ranges.push_back({begin, begin + size_t(part.n) * size});
      }
  std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end) return true;
  return false;
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Args f32 = {.dtype = Dtype::f32,
              .lr = call.number("lr"),
              .beta1 = call.number("beta1"),
              .beta2 = call.number("beta2"),
              .eps = call.number("eps"),
              .weight_decay = call.number("weight_decay"),
              .step = call.integer("step")};
  Args bf16 = f32;
  bf16.dtype = Dtype::bf16;
  const char* const op = call.op().name.c_str();
  if (call.group.empty())
    if (const Status s = take(call, op, f32, bf16); !s) return s;
  for (size_t i = 0; i < call.group.size(); ++i) {
    char name[48];
    std::snprintf(name, sizeof name, "%s, entry %zu", op, i);
    if (const Status s = take(call.group[i], name, f32, bf16); !s) return s;
  }
  ops::Check check(op);
  check.that(call.group.empty() || !shared(f32, bf16), "two entries overlap in what is written");
  if (!check) return check.status();
  for (const Args* args : {&f32, &bf16})
    if (!args->parts.empty())
      if (const Status s = launch(*args); !s) return s;
  return Status::ok();
}

}  // namespace ridge::adamw
