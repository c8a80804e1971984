#include "ridge/linear.h"

#include "kernels/gemv/gemv.h"
#include "kernels/gemv_t/gemv_t.h"
#include "ops/layout.h"

namespace ridge {
namespace {

using ops::Check;
using ops::Named;

// Which of the two families serves a call, and with what. Columns one after another are the rows of
// the transposed matrix.
struct Product {
  gemv::Args args;
  bool transposed = false;
};
Expected<Product> product_of(const char* name, bool transposed, float alpha, const Tensor& a,
                             const Tensor& x, float beta, const Tensor& y) {
  Check check(name);
  const Named matrix = {"a", a}, in = {"x", x}, out = {"y", y};
  check.valid(matrix).valid(in).valid(out);
  check.dtype(matrix, {Dtype::f32, Dtype::f16, Dtype::bf16})
      .same_dtype(in, matrix)
      .same_dtype(out, matrix);
  check.that(a.rank == 2, "a is " + ops::text(a) + "; it has to be a matrix");
  ops::check_vector(check, in);
  ops::check_vector(check, out);
  if (!check) return check.status().error();
  const size_t of_x = transposed ? 0 : 1;
  check.that(x.shape[0] == a.shape[of_x], "x is " + ops::text(x) + " but a is " + ops::text(a) +
                                              ": x has to have " + std::to_string(a.shape[of_x]) +
                                              " elements");
  check.that(y.shape[0] == a.shape[1 - of_x], "y is " + ops::text(y) + " but a is " + ops::text(a) +
                                                  ": y has to have " +
                                                  std::to_string(a.shape[1 - of_x]) + " elements");
  check.no_overlap(out, matrix).no_overlap(out, in);
  const bool by_rows = a.elements() == 0 || a.shape[1] == 1 || a.strides[1] == 1;
  const bool by_columns = a.shape[0] == 1 || a.strides[0] == 1;
  check.that(by_rows || by_columns, "a has strides " + ops::strides_text(a) +
                                        "; one of its dimensions has to be contiguous");
  if (!check) return check.status().error();
  const size_t across = by_rows ? 0 : 1;
  const int64_t rows = a.shape[across], cols = a.shape[1 - across];
  return Product{.args = {.a = a.data,
                          .x = x.data,
                          .y = y.data,
                          .rows = rows,
                          .cols = cols,
                          .a_stride = rows > 1 ? a.strides[across] : cols,
                          .alpha = alpha,
                          .beta = beta,
                          .dtype = a.dtype},
                 .transposed = transposed == by_rows};
}

Expected<size_t> workspace_of(const char* name, bool transposed, float alpha, const Tensor& a,
                              const Tensor& x, float beta, const Tensor& y) {
  const auto product = product_of(name, transposed, alpha, a, x, beta, y);
  if (!product) return product.error();
  if (y.elements() == 0) return size_t(0);
  return ops::workspace_for(name, product->transposed ? gemv_t::rungs() : gemv::rungs(),
                            product->args);
}
Status multiply(const char* name, bool transposed, float alpha, const Tensor& a, const Tensor& x,
                float beta, const Tensor& y, void* workspace, size_t bytes, cudaStream_t stream) {
  auto product = product_of(name, transposed, alpha, a, x, beta, y);
  if (!product) return product.error();
  if (y.elements() == 0) return Status::ok();
  product->args.workspace = workspace;
  product->args.workspace_bytes = bytes;
  return ops::dispatch(name, product->transposed ? gemv_t::rungs() : gemv::rungs(), product->args,
                       stream, {{"a", a}, {"x", x}, {"y", y}});
}

}  // namespace

inline namespace api {

Expected<size_t> gemv_workspace(float alpha, const Tensor& a, const Tensor& x, float beta,
                                const Tensor& y) {
  return workspace_of("gemv", false, alpha, a, x, beta, y);
}
Status gemv(float alpha, const Tensor& a, const Tensor& x, float beta, const Tensor& y,
            void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  return multiply("gemv", false, alpha, a, x, beta, y, workspace, workspace_bytes, stream);
}
Expected<size_t> gemv_t_workspace(float alpha, const Tensor& a, const Tensor& x, float beta,
                                  const Tensor& y) {
  return workspace_of("gemv_t", true, alpha, a, x, beta, y);
}
Status gemv_t(float alpha, const Tensor& a, const Tensor& x, float beta, const Tensor& y,
              void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  return multiply("gemv_t", true, alpha, a, x, beta, y, workspace, workspace_bytes, stream);
}

}  // namespace api
}  // namespace ridge
