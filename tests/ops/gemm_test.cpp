// gemm through the public API: batches of any strides, and what it refuses.
#include <bit>
#include <cmath>

#include "device_array.h"
#include "ridge/operators.h"

namespace ridge {
namespace {

using Strides = std::array<int64_t, 4>;  // of (outer, inner, row, col)

float a_at(int64_t batch, int64_t i, int64_t k) {
  return float((batch * 5 + i * 7 + k * 3) % 11 - 5);
}
float b_at(int64_t batch, int64_t k, int64_t j) { return float((batch * 3 + k * 5 + j) % 7 - 3); }

constexpr int kFull = 0;  // precision
constexpr int64_t kOuter = 2, kInner = 3, kM = 5, kN = 6, kK = 4;

Tensor with(Tensor t, const Strides& strides) {
  for (size_t d = 0; d < 4; ++d) t.strides[d] = strides[d];
  return t;
}

// d of two dimensions of batches, with a and d at these strides and b the same for all.
void try_batches(const Strides& of_a, const Strides& of_d) {
  const auto reach = [](const Strides& s, int64_t rows, int64_t cols) {
    return size_t(s[0] * (kOuter - 1) + s[1] * (kInner - 1) + s[2] * (rows - 1) +
                  s[3] * (cols - 1) + 1);
  };
  std::vector<float> values_a(reach(of_a, kM, kK), NAN), values_b(size_t(kK * kN));
  for (int64_t i = 0; i < kOuter * kInner * kM * kK; ++i) {
    const int64_t col = i % kK, row = i / kK % kM, inner = i / (kK * kM) % kInner,
                  outer = i / (kK * kM * kInner);
    values_a[size_t(outer * of_a[0] + inner * of_a[1] + row * of_a[2] + col * of_a[3])] =
        a_at(outer * kInner + inner, row, col);
  }
  for (int64_t i = 0; i < kK * kN; ++i) values_b[size_t(i)] = b_at(0, i / kN, i % kN);
  const DeviceArray<float> a(values_a), b(values_b), d(reach(of_d, kM, kN), -1.0f);
  const Tensor ta = with({a.data(), Dtype::f32, {kOuter, kInner, kM, kK}}, of_a);
  const Tensor tb = with({b.data(), Dtype::f32, {kOuter, kInner, kK, kN}}, {0, 0, kN, 1});
  const Tensor td = with({d.data(), Dtype::f32, {kOuter, kInner, kM, kN}}, of_d);
  const Status status = gemm(ta, tb, td, nullptr);
  ASSERT_TRUE(status) << status.message();
  const auto got = d.values();
  std::vector<float> wanted(got.size(), -1.0f);
  for (int64_t batch = 0; batch < kOuter * kInner; ++batch)
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < kK; ++k) sum += a_at(batch, i, k) * b_at(0, k, j);
        wanted[size_t(batch / kInner * of_d[0] + batch % kInner * of_d[1] + i * of_d[2] +
                      j * of_d[3])] = sum;
      }
  EXPECT_EQ(got, wanted);
}

TEST(Gemm, BatchesOfAnyStrides) {
  const Strides plain_a = {60, 20, 4, 1}, plain_d = {90, 30, 6, 1};
  try_batches(plain_a, plain_d);
  try_batches({20, 40, 4, 1}, plain_d);         // the dimensions of the batch do not merge
  try_batches({60, 20, 1, 5}, {30, 60, 6, 1});  // nor here; a lies transposed
  try_batches(plain_a, {100, 33, 1, 5});        // d lies transposed, with gaps
  try_batches({4, 8, 24, 1}, {6, 12, 36, 1});   // rows of all products side by side
}

uint16_t bf16_of(float x) {
  return uint16_t(std::bit_cast<uint32_t>(x) >> 16);
}  // of a small integer

// Rows of 5 and 7 elements of 2 bytes are not at multiples of 16 bytes, and all products have one
// b.
TEST(Gemm, OperandsThatLieAskew) {
  constexpr int64_t kBatch = 3, kRows = 70, kCols = 7, kDepth = 5;
  std::vector<uint16_t> values_a(size_t(kBatch * kRows * kDepth)), values_b(size_t(kDepth * kCols));
  for (int64_t i = 0; i < int64_t(values_a.size()); ++i)
    values_a[size_t(i)] = bf16_of(a_at(i / (kRows * kDepth), i / kDepth % kRows, i % kDepth));
  for (int64_t i = 0; i < int64_t(values_b.size()); ++i)
    values_b[size_t(i)] = bf16_of(b_at(0, i / kCols, i % kCols));
  const DeviceArray<uint16_t> a(values_a), b(values_b);
  const DeviceArray<float> d(size_t(kBatch * kRows * kCols), -1.0f);
  const Tensor ta(a.data(), Dtype::bf16, {kBatch, kRows, kDepth});
  Tensor tb(b.data(), Dtype::bf16, {kBatch, kDepth, kCols});
  tb.strides[0] = 0;
  const Tensor td(d.data(), Dtype::f32, {kBatch, kRows, kCols});
  size_t bytes = 0;
  ASSERT_TRUE(gemm(ta, tb, td, nullptr, 1, 0, kFull, Workspace::ask(bytes)));
  const DeviceArray<uint8_t> memory(bytes);
  const Status status = gemm(ta, tb, td, nullptr, 1, 0, kFull, {memory.data(), bytes});
  ASSERT_TRUE(status) << status.message();
  std::vector<float> wanted;
  for (int64_t i = 0; i < kBatch * kRows * kCols; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += a_at(i / (kRows * kCols), i / kCols % kRows, k) * b_at(0, k, i % kCols);
    wanted.push_back(sum);
  }
  EXPECT_EQ(d.values(), wanted);
}

TEST(Gemm, SaysWhatIsWrong) {
  const DeviceArray<float> a(64), b(64), c(64), d(64);
  const Tensor ta(a.data(), Dtype::f32, {4, 6}), tb(b.data(), Dtype::f32, {6, 5}),
      td(d.data(), Dtype::f32, {4, 5}), tc(c.data(), Dtype::f32, {4, 5});
  const auto message = [](const Tensor& x, const Tensor& y, const Tensor& out,
                          const Tensor* added = nullptr,
                          double beta = 0) { return gemm(x, y, out, added, 1, beta).message(); };
  EXPECT_EQ(message(ta, tb, td, &tc, 2), "");
  EXPECT_EQ(message(ta, {b.data(), Dtype::f32, {5, 6}}, td),
            "gemm: b is f32 (5, 6) but must be f32 (6, 6): a is f32 (4, 6) and d is f32 (4, 5)");
  EXPECT_EQ(message(ta, tb, td, nullptr, 2), "gemm: beta is not 0, but c is missing");
  EXPECT_EQ(message(ta, tb, {d.data(), Dtype::bf16, {4, 5}}),
            "gemm: d is bf16 but a is f32; d can be f32, or have the format of a");
  EXPECT_EQ(message(ta, tb, td, &ta, 1).substr(0, 7), "gemm: c");
  EXPECT_EQ(message(ta, tb, {a.data() + 2, Dtype::f32, {4, 5}}), "gemm: d and a overlap in memory");
  Tensor loose = ta;
  loose.strides = {12, 2};
  EXPECT_EQ(
      message(loose, tb, td),
      "gemm: a has strides (12, 2) for f32 (4, 6); one of its dimensions has to be contiguous");
  Tensor folded = td;
  folded.strides = {3, 1};
  EXPECT_EQ(message(ta, tb, folded),
            "gemm: d has strides (3, 1), by which its own elements overlap");
}

}  // namespace
}  // namespace ridge
