#include "standin/cublas/product.h"

#include "ridge/operators.h"

namespace ridge::cublas {
namespace {

Size size_a(const Product& p) { return {p.size.rows, p.inner, p.size.batch}; }
Size size_b(const Product& p) { return {p.inner, p.size.cols, p.size.batch}; }

// Whether Ridge's own product can take it as it lies.
bool fits(const Matrices& m, const Size& size) {
  const auto unit = [](int64_t extent, int64_t step) { return extent <= 1 || step == 1; };
  const bool forwards = (size.rows <= 1 || m.row_step > 0) && (size.cols <= 1 || m.col_step > 0) &&
                        (size.batch <= 1 || m.batch_step >= 0);
  return !m.pointers && forwards && (unit(size.rows, m.row_step) || unit(size.cols, m.col_step));
}

Tensor tensor(const Matrices& m, const Size& size) {
  Tensor t(static_cast<char*>(m.data) + m.offset * int64_t(size_of(m.dtype)), m.dtype,
           {size.batch, size.rows, size.cols});
  t.strides = {m.batch_step, m.row_step, m.col_step};
  return t;
}

Status multiply(const Product& p, const Matrices& a, const Matrices& b, const Matrices& c,
                double alpha, double beta, Scratch& scratch, cudaStream_t stream) {
  const Tensor ta = tensor(a, size_a(p)), tb = tensor(b, size_b(p)), tc = tensor(c, p.size);
  return run_operator(scratch, [&](const Workspace& workspace) {
    constexpr int kFull = 0;  // precision
    return ridge::gemm(ta, tb, tc, beta == 0 ? nullptr : &tc, alpha, beta, kFull, workspace,
                       stream);
  });
}

// One array, column by column, matrix by matrix.
Matrices packed(void* data, Dtype dtype, const Size& size) {
  return {.data = data,
          .dtype = dtype,
          .row_step = 1,
          .col_step = size.rows,
          .batch_step = size.rows * size.cols};
}

// The same matrices in scratch memory, where Ridge's product could not take them.
Expected<Matrices> fitting(const Matrices& m, const Size& size, Scratch& scratch,
                           cudaStream_t stream) {
  if (fits(m, size) || m.dtype == Dtype::f64) return m;
  const auto memory = scratch.get(size_t(size.elements()) * size_of(m.dtype));
  if (!memory) return memory.error();
  if (const Status gathered = gather(size, m, *memory, stream); !gathered) return gathered.error();
  return packed(*memory, m.dtype, size);
}

// A B goes to scratch memory, and one more kernel brings it to C.
Status run_in_two_steps(const Context& context, const Product& p, Scratch& scratch) {
  const Dtype dtype = compute_type(p.c.dtype);
  const auto memory = scratch.get(size_t(p.size.elements()) * size_of(dtype));
  if (!memory) return memory.error();
  const auto a = fitting(p.a, size_a(p), scratch, context.stream);
  if (!a) return a.error();
  const auto b = fitting(p.b, size_b(p), scratch, context.stream);
  if (!b) return b.error();
  const Status multiplied =
      dtype == Dtype::f64
          ? multiply_f64(p.size, p.inner, *a, *b, static_cast<double*>(*memory), context.stream)
          : multiply(p, *a, *b, packed(*memory, dtype, p.size), 1, 0, scratch, context.stream);
  if (!multiplied) return multiplied;
  return combine(p.size, p.alpha, *memory, p.beta, p.c, context.stream);
}

}  // namespace

Range range_of(const Matrices& m, const Size& size) {
  if (m.pointers || size.elements() == 0) return {};
  int64_t low = m.offset, high = m.offset;
  const auto reach = [&](int64_t extent, int64_t step) {
    const int64_t last = (extent - 1) * step;
    (last < 0 ? low : high) += last;
  };
  reach(size.rows, m.row_step);
  reach(size.cols, m.col_step);
  reach(size.batch, m.batch_step);
  const auto bytes = int64_t(size_of(m.dtype));
  const char* const data = static_cast<const char*>(m.data);
  return {data + low * bytes, data + (high + 1) * bytes};
}

Status run(const Context& context, const Product& p) {
  if (p.size.elements() == 0) return Status::ok();
  Scratch scratch(context);
  if (p.inner == 0 || p.alpha.is(0)) {
    if (p.beta.is(1)) return Status::ok();
    return combine(p.size, {}, nullptr, p.beta, p.c, context.stream);
  }
  // Parts of one larger matrix may lie between each other. Ridge's product refuses that unless it
  // can tell them apart; in two steps it is no question.
  const Range c = range_of(p.c, p.size);
  const bool apart = !overlap(c, range_of(p.a, size_a(p))) && !overlap(c, range_of(p.b, size_b(p)));
  const bool known = !p.alpha.device && !p.beta.device;
  if (known && apart && p.a.dtype != Dtype::f64 && fits(p.a, size_a(p)) && fits(p.b, size_b(p)) &&
      fits(p.c, p.size))
    return multiply(p, p.a, p.b, p.c, p.alpha.value, p.beta.value, scratch, context.stream);
  return run_in_two_steps(context, p, scratch);
}

}  // namespace ridge::cublas
