#include "ridge/linear.h"

#include <cmath>

#include "device_array.h"
#include "graph.h"

namespace ridge {
namespace {

// (rows, cols): small integers, so that every sum is exact.
float a_at(int64_t r, int64_t c) { return float((r * 7 + c * 3) % 11 - 5); }
float x_at(int64_t i) { return float(i % 5 - 2); }

// y = alpha * op(A) * x + beta * y, with A at `strides` in memory, as the API does it, and as it
// should be.
void try_product(bool transposed, int64_t rows, int64_t cols, std::array<int64_t, 2> strides,
                 float alpha, float beta) {
  const int64_t reach = (rows - 1) * strides[0] + (cols - 1) * strides[1] + 1;
  std::vector<float> matrix(size_t(std::max<int64_t>(reach, 1)), NAN);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) matrix[size_t(r * strides[0] + c * strides[1])] = a_at(r, c);
  const int64_t in = transposed ? rows : cols, out = transposed ? cols : rows;
  std::vector<float> vector(static_cast<size_t>(in)), before(static_cast<size_t>(out));
  for (int64_t i = 0; i < in; ++i) vector[size_t(i)] = x_at(i);
  for (int64_t i = 0; i < out; ++i) before[size_t(i)] = beta == 0 ? NAN : float(i % 3);
  const DeviceArray<float> a(matrix), x(vector), y(before);
  Tensor ta(a.data(), Dtype::f32, {rows, cols});
  ta.strides[0] = strides[0];
  ta.strides[1] = strides[1];
  const Tensor tx(x.data(), Dtype::f32, {in}), ty(y.data(), Dtype::f32, {out});
  const auto product = transposed ? gemv_t : gemv;
  size_t bytes = 0;
  const Status asked = product(alpha, ta, tx, beta, ty, Workspace::ask(bytes), nullptr);
  ASSERT_TRUE(asked) << asked.message();
  const DeviceArray<char> workspace(bytes, 'x');
  const Status s = product(alpha, ta, tx, beta, ty, {workspace.data(), bytes}, nullptr);
  ASSERT_TRUE(s) << s.message();
  const auto got = y.values();
  for (int64_t o = 0; o < out; ++o) {
    float sum = 0;
    for (int64_t i = 0; i < in; ++i) sum += (transposed ? a_at(i, o) : a_at(o, i)) * x_at(i);
    ASSERT_EQ(got[size_t(o)], alpha * sum + (beta == 0 ? 0 : beta * before[size_t(o)]))
        << o << " of " << rows << " x " << cols << (transposed ? " transposed" : "");
  }
}

TEST(Gemv, EveryLayout) {
  for (const bool transposed : {false, true}) {
    try_product(transposed, 5, 7, {7, 1}, 1, 0);
    try_product(transposed, 5, 7, {9, 1}, 2, 3);       // rows with a gap
    try_product(transposed, 5, 7, {1, 5}, 1, 0);       // columns one after another
    try_product(transposed, 33, 70, {1, 40}, 0.5, 1);  // … with a gap
    try_product(transposed, 1, 6, {6, 1}, 1, 0);
    try_product(transposed, 6, 1, {4, 1}, 1, 0);
    try_product(transposed, 3, 20000, {20000, 1}, 1, 0);
    try_product(transposed, 20000, 3, {3, 1}, 1, 2);
  }
}

TEST(Gemv, WithoutAnythingToAddUp) {
  const DeviceArray<float> y(std::vector<float>{1, 2, 3});
  const Tensor ty(y.data(), Dtype::f32, {3}), none(nullptr, Dtype::f32, {0});
  ASSERT_TRUE(gemv(1, {nullptr, Dtype::f32, {3, 0}}, none, 2, ty, {}));
  EXPECT_EQ(y.values(), (std::vector<float>{2, 4, 6}));
  ASSERT_TRUE(gemv_t(1, {nullptr, Dtype::f32, {0, 3}}, none, 0, ty, {}));
  EXPECT_EQ(y.values(), (std::vector<float>{0, 0, 0}));
  const DeviceArray<float> x(3);
  EXPECT_TRUE(gemv(1, {nullptr, Dtype::f32, {0, 3}}, {x.data(), Dtype::f32, {3}}, 0, none, {}));
}

TEST(Gemv, SaysWhatIsWrong) {
  const DeviceArray<float> a(64), x(64), y(64);
  const Tensor ta(a.data(), Dtype::f32, {4, 6}), tx(x.data(), Dtype::f32, {6}),
      ty(y.data(), Dtype::f32, {4});
  const auto message = [](const Tensor& m, const Tensor& in, const Tensor& out) {
    return gemv(1, m, in, 0, out, {}).message();
  };
  EXPECT_EQ(message(ta, {x.data(), Dtype::f32, {5}}, ty),
            "gemv: x is f32 (5) but must be f32 (6): a is f32 (4, 6)");
  EXPECT_EQ(message(ta, tx, {y.data(), Dtype::f32, {6}}),
            "gemv: y is f32 (6) but must be f32 (4): a is f32 (4, 6)");
  EXPECT_EQ(gemv_t(1, ta, tx, 0, ty, {}).message(),
            "gemv_t: x is f32 (6) but must be f32 (4): a is f32 (4, 6)");
  EXPECT_EQ(message({a.data(), Dtype::f32, {24}}, tx, ty),
            "gemv: a is f32 (24); it has to be (rows, cols)");
  EXPECT_EQ(message(ta, {x.data(), Dtype::f32, {6, 1}}, ty),
            "gemv: x is f32 (6, 1); it has to be (cols)");
  EXPECT_EQ(message({a.data(), Dtype::f64, {4, 6}}, tx, ty),
            "gemv: a is f64; it can be f32, f16, bf16");
  EXPECT_EQ(message(ta, {x.data(), Dtype::bf16, {6}}, ty), "gemv: x is bf16 but a is f32");
  EXPECT_EQ(message(ta, tx, {nullptr, Dtype::f32, {4}}), "gemv: y is null");
  EXPECT_EQ(message({a.data(), Dtype::f32, {4, -6}}, tx, ty),
            "gemv: a has a negative size: f32 (4, -6)");
  EXPECT_EQ(message(ta, {reinterpret_cast<char*>(x.data()) + 2, Dtype::f32, {6}}, ty),
            "gemv: x is not aligned to its elements, which are 4 bytes");
  EXPECT_EQ(message(ta, tx, {x.data() + 2, Dtype::f32, {4}}), "gemv: y and x overlap in memory");
  EXPECT_EQ(message(ta, tx, {a.data(), Dtype::f32, {4}}), "gemv: y and a overlap in memory");
  Tensor spread = tx;
  spread.strides = {2};
  EXPECT_EQ(message(ta, spread, ty),
            "gemv: x has strides (2) for f32 (6); it has to be contiguous");
  Tensor loose = ta;
  loose.strides = {12, 2};
  EXPECT_EQ(
      message(loose, tx, ty),
      "gemv: a has strides (12, 2) for f32 (4, 6); one of its dimensions has to be contiguous");
}

TEST(Gemv, TheWorkspace) {
  const int64_t cols = 1 << 17;
  const DeviceArray<float> a(size_t(2 * cols), 1.f), x(size_t(cols), 1.f), y(2);
  const Tensor ta(a.data(), Dtype::f32, {2, cols}), tx(x.data(), Dtype::f32, {cols}),
      ty(y.data(), Dtype::f32, {2});
  size_t bytes = 0;
  ASSERT_TRUE(gemv(1, ta, tx, 0, ty, Workspace::ask(bytes)));
  ASSERT_GT(bytes, 0u);
  const DeviceArray<char> workspace(bytes + 16);
  EXPECT_EQ(gemv(1, ta, tx, 0, ty, {workspace.data(), bytes - 1}).message(),
            "gemv: the workspace has " + std::to_string(bytes - 1) + " bytes, but takes " +
                std::to_string(bytes));
  EXPECT_EQ(gemv(1, ta, tx, 0, ty, {nullptr, bytes}).message(), "gemv: the workspace is null");
  EXPECT_EQ(gemv(1, ta, tx, 0, ty, {workspace.data() + 4, bytes}).message(),
            "gemv: the workspace is not aligned to 16 bytes");
  EXPECT_EQ(gemv(1, ta, tx, 0, ty, {x.data(), bytes}).message(),
            "gemv: the workspace and x overlap in memory");
  run_as_graph([&](cudaStream_t stream) {
    return gemv(1, ta, tx, 0, ty, {workspace.data(), bytes}, stream);
  });
  EXPECT_EQ(y.values(), (std::vector<float>{float(cols), float(cols)}));
}

// Blocks that share columns count each other in the workspace, whatever it held before.
TEST(Gemv, TransposedInAGraph) {
  const int64_t rows = 4099, cols = 37;
  const DeviceArray<float> a(size_t(rows * cols), 1.f), x(size_t(rows), 1.f), y(size_t{cols});
  const Tensor ta(a.data(), Dtype::f32, {rows, cols}), tx(x.data(), Dtype::f32, {rows}),
      ty(y.data(), Dtype::f32, {cols});
  size_t bytes = 0;
  ASSERT_TRUE(gemv_t(1, ta, tx, 0, ty, Workspace::ask(bytes)));
  ASSERT_GT(bytes, 0u);
  const DeviceArray<char> workspace(bytes, char(0x5a));
  run_as_graph([&](cudaStream_t stream) {
    return gemv_t(1, ta, tx, 0, ty, {workspace.data(), bytes}, stream);
  });
  EXPECT_EQ(y.values(), std::vector<float>(size_t{cols}, float(rows)));
}

}  // namespace
}  // namespace ridge
