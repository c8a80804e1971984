#include "kernels/adamw/adamw.h"

#include <cstdio>

#include "ops/check.h"
#include "ops/memory_order.h"
#include "ridge/elementwise.h"

namespace ridge {

using ops::Check;
using ops::Named;

namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

void check_options(Check& check, const AdamwOptions& o) {
  check.that(o.step >= 1, "step is " + std::to_string(o.step) + "; steps count from 1");
  check.that(o.beta1 >= 0 && o.beta1 < 1,
             "beta1 is " + number(o.beta1) + "; it must be at least 0 and under 1");
  check.that(o.beta2 >= 0 && o.beta2 < 1,
             "beta2 is " + number(o.beta2) + "; it must be at least 0 and under 1");
  check.that(o.lr >= 0, "lr is " + number(o.lr) + "; it must be at least 0");
  check.that(o.weight_decay >= 0,
             "weight_decay is " + number(o.weight_decay) + "; it must be at least 0");
  check.that(o.eps >= 0, "eps is " + number(o.eps) + "; it must be at least 0");
}

// Appends the rows of one entry to the parts of its format.
void take(Check& check, const AdamwTensors& e, adamw::Args& f32, adamw::Args& bf16) {
  const bool has_master = e.weight.dtype == Dtype::bf16;
  const Named weight = {"weight", e.weight}, grad = {"grad", e.grad}, m = {"m", e.m},
              v = {"v", e.v}, master = {"master", e.master};
  check.valid(weight).dtype(weight, {Dtype::f32, Dtype::bf16});
  check.valid(grad).same_dtype(grad, weight).same_shape(grad, weight);
  for (const Named& t : {m, v, master}) {
    if (&t.tensor == &e.master && !has_master) continue;
    check.valid(t).dtype(t, {Dtype::f32}).same_shape(t, weight);
  }
  if (!check || e.weight.elements() == 0) return;
  const Named all[] = {weight, m, v, grad, master};
  const size_t count = has_master ? 5 : 4;
  for (size_t i = 0; i < count; ++i) {
    if (&all[i].tensor != &e.grad) check.distinct(all[i]);
    for (size_t j = 0; j < i; ++j) check.no_overlap(all[i], all[j]);
  }
  if (!check) return;

  const auto tensors =
      ops::in_memory_order<5>({&e.weight, &e.grad, &e.m, &e.v, has_master ? &e.master : &e.m}, 0);
  const int rank = tensors[0].rank;
  const char* const names[] = {"weight", "grad", "m", "v", "master"};
  for (size_t t = 0; t < 5 && rank > 0; ++t)
    check.that(tensors[t].strides[size_t(rank - 1)] == 1,
               std::string(names[t]) +
                   " must have stride 1 in the dimension in which weight has its least stride");
  if (!check) return;
  adamw::Args& args = has_master ? bf16 : f32;
  (void)ops::each_outer<5>(tensors, 1, [&](const std::array<void*, 5>& data) {
    args.parts.push_back({.weight = data[0],
                          .master = has_master ? static_cast<float*>(data[4]) : nullptr,
                          .grad = data[1],
                          .m = static_cast<float*>(data[2]),
                          .v = static_cast<float*>(data[3]),
                          .n = rank > 0 ? tensors[0].shape[size_t(rank - 1)] : 1});
    return Status::ok();
  });
}

// Whether two of the arrays that are written lie in one place: f32 arrays of a format's parts.
bool shared(const adamw::Args& f32, const adamw::Args& bf16) {
  struct Range {
    const char *begin, *end;
  };
  std::vector<Range> ranges;
  for (const adamw::Args* args : {&f32, &bf16})
    for (const adamw::Part& part : args->parts)
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

Status run(const AdamwTensors* entries, size_t count, const AdamwOptions& options, bool many,
           cudaStream_t stream) {
  Check check("adamw");
  check_options(check, options);
  check.that(entries || count == 0, "entries is null");
  if (!check) return check.status();
  adamw::Args f32 = {.dtype = Dtype::f32,
                     .lr = options.lr,
                     .beta1 = options.beta1,
                     .beta2 = options.beta2,
                     .eps = options.eps,
                     .weight_decay = options.weight_decay,
                     .step = options.step};
  adamw::Args bf16 = f32;
  bf16.dtype = Dtype::bf16;
  for (size_t i = 0; i < count; ++i) {
    char op[48] = "adamw";
    if (many) std::snprintf(op, sizeof op, "adamw, entry %zu", i);
    Check entry(op);
    take(entry, entries[i], f32, bf16);
    if (!entry) return entry.status();
  }
  check.that(!many || !shared(f32, bf16), "two entries overlap in what is written");
  if (!check) return check.status();
  for (const adamw::Args* args : {&f32, &bf16})
    if (!args->parts.empty())
      if (const Status s = ops::dispatch("adamw", adamw::rungs(), *args, stream); !s) return s;
  return Status::ok();
}

}  // namespace

inline namespace api {

Status adamw(const AdamwTensors& tensors, const AdamwOptions& options, cudaStream_t stream) {
  return run(&tensors, 1, options, false, stream);
}
Status adamw(const AdamwTensors* entries, size_t count, const AdamwOptions& options,
             cudaStream_t stream) {
  return run(entries, count, options, true, stream);
}

}  // namespace api
}  // namespace ridge
