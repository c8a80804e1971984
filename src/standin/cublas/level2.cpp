// gemv and ger.
#include "ridge/linear.h"
#include "standin/cublas/level3.h"
#include "standin/cublas/product.h"

namespace ridge::cublas {
namespace {

// What gemv and its batches check and read alike.
struct Gemv {
  bool turned = false;
  int64_t length_x = 0, length_y = 0;
  Scalar alpha, beta;
  Matrices a;  // as it lies: (m, n)
};
Gemv read(Arguments& a, const GivenGemv& g) {
  Gemv v;
  v.turned = a.transposed("trans", g.op);
  a.size("m", g.m);
  a.size("n", g.n);
  a.size("batchCount", g.batch);
  a.leading("lda", g.a.leading, g.m);
  a.increment("incx", g.x.increment);
  a.increment("incy", g.y.increment);
  v.length_x = v.turned ? g.m : g.n;
  v.length_y = v.turned ? g.n : g.m;
  if (!a || g.m == 0 || g.n == 0 || g.batch == 0) return v;
  v.alpha = a.scalar("alpha", g.alpha.data, a.format("alpha", g.alpha.type));
  v.beta = a.scalar("beta", g.beta.data, a.format("beta", g.beta.type));
  v.a = matrices(a, "A", g.a, g.m, v.alpha.is(0) ? 0 : g.n, g.batch, false);
  return v;
}

// A vector as a matrix with one column.
Matrices column(const Vector& v) {
  return {.data = v.data, .dtype = v.dtype, .row_step = v.step, .col_step = 0, .batch_step = 0};
}
// A batch of vectors as matrices with one column.
Matrices columns(Arguments& a, const char* name, const GivenVector& v, int64_t n, int64_t stride,
                 int64_t batch, bool behind_pointers) {
  a.device(name, v.data, n * batch);
  Matrices m = {.dtype = a.format(name, v.type),
                .row_step = v.increment,
                .col_step = 0,
                .batch_step = stride,
                .offset = v.increment < 0 ? (1 - n) * v.increment : 0};
  if (behind_pointers) m.pointers = static_cast<void* const*>(v.data);
  else m.data = const_cast<void*>(v.data);
  return m;
}

Tensor matrix_tensor(const Matrices& m, int64_t rows, int64_t cols) {
  Tensor t(m.data, m.dtype, {rows, cols});
  t.strides = {m.row_step, m.col_step};
  return t;
}

// Ridge's gemv is for f32 and contiguous vectors.
Status multiply(const Gemv& v, const GivenGemv& g, double alpha, void* x, double beta, void* y,
                Scratch& scratch, cudaStream_t stream) {
  const Tensor a = matrix_tensor(v.a, g.m, g.n);
  const Tensor tx(x, Dtype::f32, {v.length_x}), ty(y, Dtype::f32, {v.length_y});
  return run_operator(scratch, [&](const Workspace& w) {
    return v.turned ? ridge::gemv_t(float(alpha), a, tx, float(beta), ty, w, stream)
                    : ridge::gemv(float(alpha), a, tx, float(beta), ty, w, stream);
  });
}

// A x goes to scratch memory, and one more kernel brings it to y.
Status run_in_two_steps(const Context& context, const Gemv& v, const GivenGemv& g, const Vector& x,
                        const Vector& y, Scratch& scratch) {
  const auto memory = scratch.get(size_t(v.length_y) * size_of(Dtype::f32));
  if (!memory) return memory.error();
  void* contiguous = x.data;
  if (x.step != 1) {
    const auto packed = scratch.get(size_t(v.length_x) * size_of(Dtype::f32));
    if (!packed) return packed.error();
    contiguous = *packed;
    const Status copied =
        copy(v.length_x, x, {.data = contiguous, .dtype = Dtype::f32, .step = 1}, context.stream);
    if (!copied) return copied;
  }
  const Status multiplied = multiply(v, g, 1, contiguous, 0, *memory, scratch, context.stream);
  if (!multiplied) return multiplied;
  return combine({v.length_y, 1, 1}, v.alpha, *memory, v.beta, column(y), context.stream);
}

// op(A) as a factor of a product.
Matrices turned(Matrices m, bool turn) {
  if (turn) std::swap(m.row_step, m.col_step);
  return m;
}

}  // namespace

Status call_gemv(const Context& context, const GivenGemv& g) {
  Arguments a(context);
  const Gemv v = read(a, g);
  if (!a || g.m == 0 || g.n == 0) return a.status();
  const int64_t read_of_x = v.alpha.is(0) ? 0 : v.length_x;
  const Vector x = a.vector("x", g.x.data, a.format("x", g.x.type), read_of_x, g.x.increment);
  const Vector y = a.vector("y", g.y.data, a.format("y", g.y.type), v.length_y, g.y.increment);
  if (!a) return a.status();
  // f64 has no family of its own, and neither has a product that is not there.
  if (y.dtype == Dtype::f64 || v.alpha.is(0))
    return run(context, {.size = {v.length_y, 1, 1},
                         .inner = v.length_x,
                         .a = turned(v.a, v.turned),
                         .b = column(x),
                         .c = column(y),
                         .alpha = v.alpha,
                         .beta = v.beta});
  Scratch scratch(context);
  const Range of_y = range_of(column(y), {v.length_y, 1, 1});
  const bool apart = !overlap(of_y, range_of(column(x), {v.length_x, 1, 1})) &&
                     !overlap(of_y, range_of(v.a, {g.m, g.n, 1}));
  if (apart && x.step == 1 && y.step == 1 && !v.alpha.device && !v.beta.device)
    return multiply(v, g, v.alpha.value, x.data, v.beta.value, y.data, scratch, context.stream);
  return run_in_two_steps(context, v, g, x, y, scratch);
}

Status call_gemv_batched(const Context& context, const GivenGemv& g) {
  Arguments a(context);
  const Gemv v = read(a, g);
  if (!a || g.m == 0 || g.n == 0 || g.batch == 0) return a.status();
  const bool pointers = g.a.pointers != nullptr;
  const int64_t read_of_x = v.alpha.is(0) ? 0 : v.length_x;
  Product p;
  p.size = {v.length_y, 1, g.batch};
  p.inner = v.length_x;
  p.alpha = v.alpha;
  p.beta = v.beta;
  p.a = turned(v.a, v.turned);
  p.b = columns(a, "x", g.x, read_of_x, g.x_stride, g.batch, pointers);
  p.c = columns(a, "y", g.y, v.length_y, g.y_stride, g.batch, pointers);
  return a ? run(context, p) : a.status();
}

Status call_ger(const Context& context, int64_t m, int64_t n, GivenScalar alpha, GivenVector gx,
                GivenVector gy, GivenMatrix ga) {
  Arguments a(context);
  a.size("m", m);
  a.size("n", n);
  a.increment("incx", gx.increment);
  a.increment("incy", gy.increment);
  a.leading("lda", ga.leading, m);
  if (!a || m == 0 || n == 0) return a.status();
  const Scalar factor = a.scalar("alpha", alpha.data, a.format("alpha", alpha.type));
  if (!a || factor.is(0)) return a.status();
  const Vector x = a.vector("x", gx.data, a.format("x", gx.type), m, gx.increment);
  const Vector y = a.vector("y", gy.data, a.format("y", gy.type), n, gy.increment);
  const Matrices of_a = matrices(a, "A", ga, m, n, 1, false);
  return a ? ger({m, n, 1}, factor, x, y, of_a, context.stream) : a.status();
}

}  // namespace ridge::cublas
