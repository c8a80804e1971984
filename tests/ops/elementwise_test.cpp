#include "ridge/elementwise.h"

#include <limits>
#include <string>
#include <thread>

#include "device_array.h"

namespace ridge {
namespace {

std::vector<float> counting(size_t n, float first = 0) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = first + float(i);
  return v;
}

TEST(Add, Vectors) {
  const DeviceArray<float> a(counting(1000)), b(counting(1000, 5)), out(1000);
  ASSERT_TRUE(add({a.data(), Dtype::f32, {1000}}, {b.data(), Dtype::f32, {1000}},
                  {out.data(), Dtype::f32, {1000}}));
  const auto got = out.values();
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(got[i], float(2 * i + 5));
}

TEST(Add, AnyStrides) {
  // Every second column of a, b transposed, out with a gap between the rows, in three dimensions.
  const int64_t B = 3, R = 4, C = 5;
  const DeviceArray<float> a(counting(size_t(B * R * C * 2))), b(counting(size_t(B * C * R))),
      out(size_t(B * R * 7), -1.f);
  Tensor ta(a.data(), Dtype::f32, {B, R, C}), tb = ta, to = ta;
  ta.strides = {R * C * 2, C * 2, 2};
  tb.data = b.data();
  tb.strides = {C * R, 1, R};
  to.data = out.data();
  to.strides = {R * 7, 7, 1};
  ASSERT_TRUE(add(ta, tb, to));
  const auto got = out.values();
  for (int64_t i = 0; i < B; ++i)
    for (int64_t r = 0; r < R; ++r)
      for (int64_t c = 0; c < 7; ++c) {
        const float expected =
            c < C ? float(i * R * C * 2 + r * C * 2 + c * 2) + float(i * C * R + c * R + r) : -1.f;
        ASSERT_EQ(got[size_t(i * R * 7 + r * 7 + c)], expected) << i << " " << r << " " << c;
      }
}

TEST(Add, InPlaceIsFineButOverlapIsNot) {
  const DeviceArray<float> a(counting(100)), b(counting(100));
  const Tensor ta(a.data(), Dtype::f32, {99}), tb(b.data(), Dtype::f32, {99});
  ASSERT_TRUE(add(ta, tb, ta));
  EXPECT_EQ(a.values()[98], 196.f);
  EXPECT_EQ(a.values()[99], 99.f);
  const Status s = add(ta, tb, Tensor(a.data() + 1, Dtype::f32, {99}));
  EXPECT_EQ(s.message(), "add: out and a overlap in memory without being the same tensor");
}

TEST(Add, SaysWhatIsWrong) {
  const DeviceArray<float> a(8), b(8), out(8);
  const Tensor t(a.data(), Dtype::f32, {8});
  const auto message = [&](const Tensor& x, const Tensor& y, const Tensor& z) {
    return add(x, y, z).message();
  };
  const Tensor tb(b.data(), Dtype::f32, {8}), to(out.data(), Dtype::f32, {8});
  EXPECT_EQ(message(t, {b.data(), Dtype::f32, {7}}, to), "add: b is f32 (7) but a is f32 (8)");
  EXPECT_EQ(message(t, {b.data(), Dtype::bf16, {8}}, to), "add: b is bf16 but a is f32");
  EXPECT_EQ(message({a.data(), Dtype::i32, {8}}, tb, to),
            "add: a is i32; it can be f32, f16, bf16");
  EXPECT_EQ(message({nullptr, Dtype::f32, {8}}, tb, to), "add: a is null");
  EXPECT_EQ(message({a.data(), Dtype::f32, {-1}}, tb, to), "add: a has a negative size: f32 (-1)");
  EXPECT_EQ(message({reinterpret_cast<char*>(a.data()) + 2, Dtype::f32, {8}}, tb, to),
            "add: a is not aligned to its elements, which are 4 bytes");
}

TEST(Add, SizesAndStridesThatNoMemoryHas) {
  const DeviceArray<float> a(8), b(8), out(8);
  const Tensor tb(b.data(), Dtype::f32, {8}), to(out.data(), Dtype::f32, {8});
  const auto message = [&](const Tensor& x) { return add(x, tb, to).message(); };
  const int64_t large = int64_t(1) << 32, larger = std::numeric_limits<int64_t>::max();
  // Their product wraps around to 0: taken for that, it would be a call that has nothing to do.
  EXPECT_EQ(message({a.data(), Dtype::f32, {large, large}}),
            "add: a is f32 (4294967296, 4294967296): more elements than memory can hold");
  EXPECT_EQ(message({nullptr, Dtype::f32, {0, larger, larger}}),
            "add: a is f32 (0, 9223372036854775807, 9223372036854775807): more elements than "
            "memory can hold");
  Tensor far(a.data(), Dtype::f32, {2, 4});
  for (const int64_t stride : {larger, -larger - 1, int64_t(1) << 60}) {
    far.strides[0] = stride;
    EXPECT_EQ(message(far), "add: a has strides (" + std::to_string(stride) +
                                ", 1) for f32 (2, 4): they reach beyond any memory");
  }
  EXPECT_EQ(message({a.data(), Dtype::f32, {1, 1, 1, 1, 1, 1, 1, 1, 8}}),
            "add: a has rank 9; at most 8 dimensions are possible");
  far.rank = 100000;
  EXPECT_EQ(message(far), "add: a has rank 100000; at most 8 dimensions are possible");
}

TEST(Add, NothingIsFine) {
  EXPECT_TRUE(
      add({nullptr, Dtype::f32, {0}}, {nullptr, Dtype::f32, {0}}, {nullptr, Dtype::f32, {0}}));
}

TEST(Add, ManyThreadsAndStreams) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      cudaStream_t stream;
      ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
      const DeviceArray<float> a(counting(5000, float(t))), b(counting(5000)), out(5000);
      ASSERT_TRUE(add({a.data(), Dtype::f32, {5000}}, {b.data(), Dtype::f32, {5000}},
                      {out.data(), Dtype::f32, {5000}}, stream));
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      const auto got = out.values();
      for (size_t i = 0; i < 5000; ++i) ASSERT_EQ(got[i], float(2 * i) + float(t));
      ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Add, InAGraph) {
  const DeviceArray<float> a(counting(64)), b(counting(64)), out(64);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_TRUE(add({a.data(), Dtype::f32, {64}}, {b.data(), Dtype::f32, {64}},
                  {out.data(), Dtype::f32, {64}}, stream));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out.values()[63], 126.f);
  (void)cudaGraphExecDestroy(exec);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace ridge
