// More than 2^31 elements. On a GPU with the memory for it; the software GPU would take hours.
// Inputs are one value but for a few places, on both sides of 2^31 and at the ends.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ridge/ridge.h"
#include "select/device.h"

namespace ridge {
namespace {

constexpr int64_t kTwo31 = int64_t(1) << 31;
constexpr int64_t kCount = kTwo31 + 12345;
constexpr size_t kNeeded = size_t(20) << 30;
const std::vector<int64_t> kPlaces = {0, 1, 777, kTwo31 - 1, kTwo31, kTwo31 + 1, kCount - 1};

struct Memory {
  explicit Memory(size_t bytes) { EXPECT_EQ(cudaMalloc(&data, bytes), cudaSuccess); }
  ~Memory() { (void)cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  template <class T>
  T at(int64_t i) const {
    T value{};
    EXPECT_EQ(cudaMemcpy(&value, static_cast<T*>(data) + i, sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return value;
  }
  template <class T>
  void put(int64_t i, T value) {
    EXPECT_EQ(cudaMemcpy(static_cast<T*>(data) + i, &value, sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  void* data = nullptr;
};

class Large : public testing::Test {
 protected:
  void SetUp() override {
    size_t free = 0, total = 0;
    if (is_software_gpu() || cudaMemGetInfo(&free, &total) != cudaSuccess || free < kNeeded)
      GTEST_SKIP() << "needs a GPU with 20 GB of free memory";
  }
};

float as_float(const Memory& m, int64_t i) { return __bfloat162float(m.at<__nv_bfloat16>(i)); }
void put(Memory& m, int64_t i, float value) { m.put(i, __float2bfloat16(value)); }

TEST_F(Large, ElementwiseReachesTheEnd) {
  Memory x(kCount * 2), y(kCount * 2);
  ASSERT_EQ(cudaMemset(x.data, 0, kCount * 2), cudaSuccess);
  ASSERT_EQ(cudaMemset(y.data, 0xff, kCount * 2), cudaSuccess);
  for (size_t k = 0; k < kPlaces.size(); ++k) put(x, kPlaces[k], float(k) + 1);
  const Tensor in(x.data, Dtype::bf16, {kCount}), out(y.data, Dtype::bf16, {kCount});
  ASSERT_TRUE(add(in, in, out));
  for (size_t k = 0; k < kPlaces.size(); ++k)
    EXPECT_EQ(as_float(y, kPlaces[k]), 2 * (float(k) + 1)) << kPlaces[k];
  EXPECT_EQ(as_float(y, kTwo31 + 2), 0);
  ASSERT_TRUE(relu(in, out));
  for (size_t k = 0; k < kPlaces.size(); ++k) EXPECT_EQ(as_float(y, kPlaces[k]), float(k) + 1);
}

TEST_F(Large, TransposeTurnsEveryCorner) {
  constexpr int64_t kRows = 46345, kCols = 46349;  // odd, and more than 2^31 together
  Memory x(kRows * kCols), y(kRows * kCols);
  ASSERT_EQ(cudaMemset(x.data, 0, kRows * kCols), cudaSuccess);
  const std::vector<std::pair<int64_t, int64_t>> places = {{0, 0},          {0, kCols - 1},
                                                           {kRows - 1, 0},  {kRows - 1, kCols - 1},
                                                           {kRows - 2, 17}, {46340, 46340}};
  for (size_t k = 0; k < places.size(); ++k)
    x.put(places[k].first * kCols + places[k].second, uint8_t(k + 1));
  ASSERT_TRUE(transpose({x.data, Dtype::u8, {kRows, kCols}}, {y.data, Dtype::u8, {kCols, kRows}}));
  for (size_t k = 0; k < places.size(); ++k)
    EXPECT_EQ(y.at<uint8_t>(places[k].second * kRows + places[k].first), k + 1);
  EXPECT_EQ(y.at<uint8_t>(1), 0);
}

TEST_F(Large, ReductionsCountAll) {
  Memory x(kCount * 4), out(16);
  ASSERT_EQ(cudaMemset(x.data, 0, kCount * 4), cudaSuccess);
  for (size_t k = 0; k < kPlaces.size(); ++k) x.put(kPlaces[k], int32_t(1000 + k));
  const Tensor in(x.data, Dtype::i32, {kCount}), one(out.data, Dtype::i64, {1});
  for (const Reduction kind : {Reduction::sum, Reduction::argmax}) {
    size_t bytes = 0;
    ASSERT_TRUE(reduce(kind, in, one, Workspace::ask(bytes)));
    Memory workspace(std::max<size_t>(bytes, 16));
    ASSERT_TRUE(reduce(kind, in, one, {workspace.data, bytes}));
    EXPECT_EQ(out.at<int64_t>(0), kind == Reduction::sum ? 7 * 1000 + 21 : kCount - 1);
  }
}

TEST_F(Large, ScanCarriesAcross) {
  Memory x(kCount * 4), y(kCount * 4);
  ASSERT_EQ(cudaMemset(x.data, 0, kCount * 4), cudaSuccess);
  for (const int64_t place : kPlaces) x.put(place, int32_t(1));
  const Tensor in(x.data, Dtype::i32, {kCount}), out(y.data, Dtype::i32, {kCount});
  size_t bytes = 0;
  ASSERT_TRUE(inclusive_scan(in, out, Workspace::ask(bytes)));
  Memory workspace(std::max<size_t>(bytes, 16));
  ASSERT_TRUE(inclusive_scan(in, out, {workspace.data, bytes}));
  for (size_t k = 0; k < kPlaces.size(); ++k)
    EXPECT_EQ(y.at<int32_t>(kPlaces[k]), int32_t(k + 1)) << kPlaces[k];
}

TEST_F(Large, SoftmaxOfTheLastRow) {
  constexpr int64_t kRows = 32769, kCols = 65537;
  Memory x(kRows * kCols * 2), y(kRows * kCols * 2);
  ASSERT_EQ(cudaMemset(x.data, 0, kRows * kCols * 2), cudaSuccess);
  put(x, kRows * kCols - 1, 20);
  ASSERT_TRUE(
      softmax({x.data, Dtype::bf16, {kRows, kCols}}, {y.data, Dtype::bf16, {kRows, kCols}}));
  const double total = std::exp(20.0) + double(kCols - 1);
  EXPECT_NEAR(as_float(y, kRows * kCols - 1), std::exp(20.0) / total, 0x1p-8);
  EXPECT_NEAR(as_float(y, kRows * kCols - 2) * total, 1, 0x1p-7);
  EXPECT_NEAR(as_float(y, (kRows - 1) * kCols - 1) * kCols, 1, 0x1p-7);
}

TEST_F(Large, GemvOfAllRows) {
  constexpr int64_t kRows = 65537, kCols = 32769;
  Memory a(kRows * kCols * 2), x(kCols * 2), y(kRows * 2);
  ASSERT_EQ(cudaMemset(a.data, 0, kRows * kCols * 2), cudaSuccess);
  ASSERT_EQ(cudaMemset(x.data, 0, kCols * 2), cudaSuccess);
  put(a, kRows * kCols - 1, 3);
  put(a, 5, 2);
  put(x, kCols - 1, 7);
  put(x, 5, 11);
  const Tensor matrix(a.data, Dtype::bf16, {kRows, kCols}), vector(x.data, Dtype::bf16, {kCols}),
      out(y.data, Dtype::bf16, {kRows});
  size_t bytes = 0;
  ASSERT_TRUE(gemv(1, matrix, vector, 0, out, Workspace::ask(bytes)));
  Memory workspace(std::max<size_t>(bytes, 16));
  ASSERT_TRUE(gemv(1, matrix, vector, 0, out, {workspace.data, bytes}));
  EXPECT_EQ(as_float(y, kRows - 1), 21);
  EXPECT_EQ(as_float(y, 0), 22);
  EXPECT_EQ(as_float(y, 1), 0);
}

}  // namespace
}  // namespace ridge
