#include "ridge/softmax.h"

#include <cmath>

#include "device_array.h"
#include "graph.h"

namespace ridge {
namespace {

// Rows of 4 whose softmax is 1/8, 1/4, 1/8, 1/2 in any order.
const std::vector<float> kX = {0, std::log(2.f), 0, std::log(4.f), std::log(4.f),
                               0, std::log(2.f), 0};
const std::vector<float> kY = {.125f, .25f, .125f, .5f, .5f, .125f, .25f, .125f};

void expect_near(const std::vector<float>& got, const std::vector<float>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
}

TEST(Softmax, Rows) {
  const DeviceArray<float> x(kX), out(8);
  ASSERT_TRUE(softmax({x.data(), Dtype::f32, {2, 4}}, {out.data(), Dtype::f32, {2, 4}}));
  expect_near(out.values(), kY);
  // In place, and with more dimensions.
  ASSERT_TRUE(softmax({x.data(), Dtype::f32, {2, 1, 4}}, {x.data(), Dtype::f32, {2, 1, 4}}));
  expect_near(x.values(), kY);
}

TEST(Softmax, Logarithm) {
  const DeviceArray<float> x(kX), out(8);
  ASSERT_TRUE(log_softmax({x.data(), Dtype::f32, {2, 4}}, {out.data(), Dtype::f32, {2, 4}}));
  std::vector<float> wanted(kY);
  for (float& y : wanted) y = std::log(y);
  expect_near(out.values(), wanted);
}

TEST(Softmax, Backward) {
  const std::vector<float> dy = {1, 2, 3, 4, 4, 3, 2, 1};
  const DeviceArray<float> y(kY), gradient(dy), out(8);
  const Tensor ty(y.data(), Dtype::f32, {2, 4}), tdy(gradient.data(), Dtype::f32, {2, 4}),
      tdx(out.data(), Dtype::f32, {2, 4});
  ASSERT_TRUE(softmax_backward(ty, tdy, tdx));
  std::vector<float> wanted(8);
  for (size_t r = 0; r < 8; r += 4) {
    float sum = 0;
    for (size_t i = r; i < r + 4; ++i) sum += kY[i] * dy[i];
    for (size_t i = r; i < r + 4; ++i) wanted[i] = kY[i] * (dy[i] - sum);
  }
  expect_near(out.values(), wanted);
  std::vector<float> log_y(kY);
  for (float& v : log_y) v = std::log(v);
  const DeviceArray<float> logs(log_y);
  ASSERT_TRUE(log_softmax_backward({logs.data(), Dtype::f32, {2, 4}}, tdy, tdx));
  for (size_t i = 0; i < 8; ++i) wanted[i] = dy[i] - kY[i] * 10;
  expect_near(out.values(), wanted);
}

TEST(Softmax, RowsWithGaps) {
  std::vector<float> wide(3 * 2 * 7, 100.f);  // (3, 2, 7), of which 4 columns count
  for (size_t r = 0; r < 6; ++r)
    for (size_t c = 0; c < 4; ++c) wide[r * 7 + c] = kX[c];
  const DeviceArray<float> x(wide), out(3 * 2 * 5, -1.f);
  Tensor tx(x.data(), Dtype::f32, {3, 2, 4}), to(out.data(), Dtype::f32, {3, 2, 4});
  tx.strides = {14, 7, 1};
  to.strides = {10, 5, 1};
  ASSERT_TRUE(softmax(tx, to));
  const auto got = out.values();
  for (size_t r = 0; r < 6; ++r) {
    for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(got[r * 5 + c], kY[c], 1e-6);
    EXPECT_EQ(got[r * 5 + 4], -1.f);
  }
}

TEST(Softmax, SaysWhatIsWrong) {
  const DeviceArray<float> x(64), out(64);
  const Tensor good(x.data(), Dtype::f32, {4, 4}), to(out.data(), Dtype::f32, {4, 4});
  const auto message = [](const Tensor& a, const Tensor& b) { return softmax(a, b).message(); };
  EXPECT_EQ(message(good, {out.data(), Dtype::f32, {4, 5}}),
            "softmax: out is f32 (4, 5) but x is f32 (4, 4)");
  EXPECT_EQ(message(good, {out.data(), Dtype::f16, {4, 4}}), "softmax: out is f16 but x is f32");
  EXPECT_EQ(message({x.data(), Dtype::i32, {4, 4}}, to),
            "softmax: x is i32; it can be f32, f16, bf16");
  EXPECT_EQ(message({nullptr, Dtype::f32, {4, 4}}, to), "softmax: x is null");
  EXPECT_EQ(message({x.data(), Dtype::f32, {-4, 4}}, to),
            "softmax: x has a negative size: f32 (-4, 4)");
  EXPECT_EQ(message({reinterpret_cast<char*>(x.data()) + 1, Dtype::f32, {4, 4}}, to),
            "softmax: x is not aligned to its elements, which are 4 bytes");
  EXPECT_EQ(message(good, {x.data() + 4, Dtype::f32, {4, 4}}),
            "softmax: out and x overlap in memory without being the same tensor");
  EXPECT_EQ(message({x.data(), Dtype::f32, {}}, {out.data(), Dtype::f32, {}}),
            "softmax: x is f32 (); it has to be (rows..., cols)");
  Tensor turned = good;
  turned.strides = {1, 4};
  EXPECT_EQ(message(turned, to),
            "softmax: x has strides (1, 4); the last dimension has to be contiguous");
  Tensor loose(x.data(), Dtype::f32, {2, 2, 4}), to3(out.data(), Dtype::f32, {2, 2, 4});
  loose.strides = {12, 4, 1};
  EXPECT_EQ(message(loose, to3),
            "softmax: x has strides (12, 4, 1); the dimensions before the last have to merge to "
            "rows with one stride");
  Tensor tight = to;
  tight.strides = {2, 1};
  EXPECT_EQ(message(good, tight), "softmax: out has strides (2, 1), by which its rows overlap");
  EXPECT_EQ(softmax_backward(good, {nullptr, Dtype::f32, {4, 4}}, to).message(),
            "softmax_backward: dy is null");
}

TEST(Softmax, NothingIsFine) {
  EXPECT_TRUE(softmax({nullptr, Dtype::f32, {0, 4}}, {nullptr, Dtype::f32, {0, 4}}));
  EXPECT_TRUE(log_softmax({nullptr, Dtype::f16, {4, 0}}, {nullptr, Dtype::f16, {4, 0}}));
}

TEST(Softmax, InAGraph) {
  const DeviceArray<float> x(kX), out(8);
  run_as_graph([&](cudaStream_t stream) {
    return softmax({x.data(), Dtype::f32, {2, 4}}, {out.data(), Dtype::f32, {2, 4}}, stream);
  });
  expect_near(out.values(), kY);
}

}  // namespace
}  // namespace ridge
