// Activations, gated units and dropout of include/ridge/elementwise.h.
#include <cmath>
#include <numeric>

#include "device_array.h"
#include "graph.h"
#include "ridge/ridge.h"

namespace ridge {
namespace {

constexpr Activation kAll[] = {Activation::relu, Activation::leaky_relu, Activation::hardtanh,
                               Activation::clip, Activation::sigmoid,    Activation::tanh,
                               Activation::gelu, Activation::gelu_tanh,  Activation::silu,
                               Activation::elu,  Activation::softplus};

double expected(Activation kind, double x) {
  switch (kind) {
    case Activation::relu: return std::max(x, 0.0);
    case Activation::leaky_relu: return x > 0 ? x : 0.01 * x;
    case Activation::hardtanh:
    case Activation::clip: return std::min(std::max(x, -1.0), 1.0);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::gelu: return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::elu: return x > 0 ? x : std::expm1(x);
    case Activation::softplus: return std::log1p(std::exp(x));
  }
  return 0;
}

std::vector<float> spread(size_t n) {  // no kink among them
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = float(double(i) / double(n) * 8 - 4.01);
  return v;
}

TEST(Activations, AllOfThemAndTheirSlopes) {
  const int64_t n = 257;
  const auto x = spread(n);
  const DeviceArray<float> dx(x), y(n), dy(n, 2.f), grad(n);
  const Tensor tx(dx.data(), Dtype::f32, {n}), ty(y.data(), Dtype::f32, {n}),
      tdy(dy.data(), Dtype::f32, {n}), tg(grad.data(), Dtype::f32, {n});
  for (const Activation kind : kAll) {
    ASSERT_TRUE(activation(kind, tx, ty));
    ASSERT_TRUE(activation_backward(kind, tx, tdy, tg));
    const auto got = y.values(), slopes = grad.values();
    for (size_t i = 0; i < size_t(n); ++i) {
      const double h = 1e-5, v = x[i];
      ASSERT_NEAR(got[i], expected(kind, v), 2e-6 * (1 + std::abs(v))) << int(kind) << " " << v;
      ASSERT_NEAR(slopes[i], (expected(kind, v + h) - expected(kind, v - h)) / h, 2e-5)
          << int(kind) << " " << v;
    }
  }
}

TEST(Activations, NamesAndParameters) {
  const DeviceArray<float> x(std::vector<float>{-2, -1, 0, 1, 3}), y(5), dy(5, 1.f);
  const Tensor tx(x.data(), Dtype::f32, {5}), ty(y.data(), Dtype::f32, {5}),
      tdy(dy.data(), Dtype::f32, {5});
  using V = std::vector<float>;
  ASSERT_TRUE(relu(tx, ty));
  EXPECT_EQ(y.values(), (V{0, 0, 0, 1, 3}));
  ASSERT_TRUE(relu_backward(tx, tdy, ty));
  EXPECT_EQ(y.values(), (V{0, 0, 0, 1, 1}));
  ASSERT_TRUE(leaky_relu(tx, ty, 0.5f));
  EXPECT_EQ(y.values(), (V{-1, -0.5, 0, 1, 3}));
  ASSERT_TRUE(leaky_relu_backward(tx, tdy, ty, 0.5f));
  EXPECT_EQ(y.values(), (V{0.5, 0.5, 0.5, 1, 1}));
  ASSERT_TRUE(clip(tx, ty, -1, 2));
  EXPECT_EQ(y.values(), (V{-1, -1, 0, 1, 2}));
  ASSERT_TRUE(clip_backward(tx, tdy, ty, -1, 2));
  EXPECT_EQ(y.values(), (V{0, 1, 1, 1, 0}));
  ASSERT_TRUE(hardtanh(tx, ty));
  EXPECT_EQ(y.values(), (V{-1, -1, 0, 1, 1}));
  ASSERT_TRUE(hardtanh_backward(tx, tdy, ty));
  EXPECT_EQ(y.values(), (V{0, 0, 1, 0, 0}));
}

// x transposed and every second column of y, in three dimensions; then both transposed alike.
TEST(Activations, AnyStrides) {
  const int64_t B = 3, R = 4, C = 5;
  std::vector<float> values(size_t(B * R * C));
  std::iota(values.begin(), values.end(), -30.f);
  const DeviceArray<float> x(values), y(size_t(B * R * C * 2), -1.f);
  Tensor tx(x.data(), Dtype::f32, {B, R, C}), ty(y.data(), Dtype::f32, {B, R, C});
  tx.strides = {C * R, 1, R};
  ty.strides = {R * C * 2, C * 2, 2};
  ASSERT_TRUE(relu(tx, ty));
  auto got = y.values();
  for (int64_t b = 0; b < B; ++b)
    for (int64_t r = 0; r < R; ++r)
      for (int64_t c = 0; c < C; ++c) {
        const float v = values[size_t(b * C * R + c * R + r)];
        ASSERT_EQ(got[size_t(b * R * C * 2 + r * C * 2 + c * 2)], std::max(v, 0.f));
        ASSERT_EQ(got[size_t(b * R * C * 2 + r * C * 2 + c * 2 + 1)], -1.f);
      }
  ty.strides = tx.strides;
  ASSERT_TRUE(relu(tx, ty));
  got = y.values();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(got[i], std::max(values[i], 0.f));
}

TEST(Activations, SayWhatIsWrong) {
  const DeviceArray<float> x(9), y(9), dy(8);
  const Tensor t(x.data(), Dtype::f32, {8}), ty(y.data(), Dtype::f32, {8}),
      tdy(dy.data(), Dtype::f32, {8});
  EXPECT_EQ(relu(t, {y.data(), Dtype::f32, {2, 4}}).message(),
            "relu: y is f32 (2, 4) but x is f32 (8)");
  EXPECT_EQ(gelu({x.data(), Dtype::f64, {4}}, ty).message(),
            "gelu: x is f64; it can be f32, f16, bf16");
  EXPECT_EQ(silu(t, {y.data(), Dtype::f16, {8}}).message(), "silu: y is f16 but x is f32");
  EXPECT_EQ(silu_backward(t, {nullptr, Dtype::f32, {8}}, ty).message(),
            "silu_backward: dy is null");
  EXPECT_EQ(relu({x.data(), Dtype::f32, {-3}}, ty).message(),
            "relu: x has a negative size: f32 (-3)");
  EXPECT_EQ(relu({reinterpret_cast<char*>(x.data()) + 1, Dtype::f32, {8}}, ty).message(),
            "relu: x is not aligned to its elements, which are 4 bytes");
  EXPECT_EQ(relu_backward(t, tdy, {x.data() + 1, Dtype::f32, {8}}).message(),
            "relu_backward: dx and x overlap in memory without being the same tensor");
  EXPECT_EQ(relu({x.data(), Dtype(77), {8}}, ty).message(), "relu: x has an unknown dtype");
  EXPECT_EQ(relu({x.data(), Dtype::e2m1, {8}}, ty).message(),
            "relu: x is e2m1; it can be f32, f16, bf16");
  Tensor scaled = t;
  scaled.scales.data = y.data();
  EXPECT_EQ(relu(scaled, ty).message(), "relu: x has scales; this operator takes plain tensors");
  Tensor flat = ty;
  flat.strides[0] = 0;
  EXPECT_EQ(relu(t, flat).message(), "relu: y has strides (0), by which its own elements overlap");
  Tensor deep = t;
  deep.rank = 9;
  EXPECT_EQ(relu(deep, deep).message(), "relu: x has rank 9; at most 8 dimensions are possible");
  EXPECT_EQ(activation(Activation(50), t, ty).message(), "activation: there is no activation 50");
  EXPECT_EQ(clip(t, ty, 2, 1).message(),
            "clip: high is 1 but low is 2; high must not be under low");
  EXPECT_EQ(hardtanh_backward(t, tdy, ty, NAN, 1).message(),
            "hardtanh_backward: high is 1 but low is nan; high must not be under low");
  EXPECT_EQ(softplus(t, ty, 0).message(), "softplus: sharpness is 0; it has to be above 0");
  for (const float v : y.values()) EXPECT_EQ(v, 0);
}

TEST(Activations, NothingIsFineAndSoIsInPlace) {
  const Tensor none(nullptr, Dtype::bf16, {3, 0});
  EXPECT_TRUE(gelu(none, none));
  EXPECT_TRUE(gelu_backward(none, none, none));
  const DeviceArray<float> x(std::vector<float>{-1, 2, 3});
  const Tensor t(x.data(), Dtype::f32, {3});
  ASSERT_TRUE(relu(t, t));
  EXPECT_EQ(x.values(), (std::vector<float>{0, 2, 3}));
}

TEST(Activations, InAGraph) {
  const DeviceArray<float> x(std::vector<float>{-1, 2, 3}), y(3);
  run_as_graph([&](cudaStream_t stream) {
    return relu({x.data(), Dtype::f32, {3}}, {y.data(), Dtype::f32, {3}}, stream);
  });
  EXPECT_EQ(y.values(), (std::vector<float>{0, 2, 3}));
}

TEST(Glu, PackedIsTheSameAsApart) {
  const int64_t R = 3, C = 17;
  const DeviceArray<float> x(spread(size_t(R * 2 * C))), y(size_t(R * C)), packed(size_t(R * C)),
      dx(size_t(R * 2 * C)), dpacked(size_t(R * 2 * C));
  const DeviceArray<float> dy(size_t(R * C), 3.f);
  Tensor gate(x.data(), Dtype::f32, {R, C}), dgate = gate;
  gate.strides = dgate.strides = {2 * C, 1};
  dgate.data = dx.data();
  Tensor up = gate, dup = dgate;
  up.data = x.data() + C;
  dup.data = dx.data() + C;
  const Tensor tx(x.data(), Dtype::f32, {R, 2 * C}), ty(y.data(), Dtype::f32, {R, C}),
      tp(packed.data(), Dtype::f32, {R, C}), tdy(dy.data(), Dtype::f32, {R, C}),
      tdp(dpacked.data(), Dtype::f32, {R, 2 * C});
  const auto in = x.values();
  for (const bool silu : {true, false}) {
    const auto f = [&](double v) {
      return expected(silu ? Activation::silu : Activation::gelu, v);
    };
    ASSERT_TRUE(silu ? swiglu(gate, up, ty) : geglu(gate, up, ty));
    ASSERT_TRUE(silu ? swiglu_packed(tx, tp) : geglu_packed(tx, tp));
    ASSERT_TRUE(silu ? swiglu_backward(gate, up, tdy, dgate, dup)
                     : geglu_backward(gate, up, tdy, dgate, dup));
    ASSERT_TRUE(silu ? swiglu_packed_backward(tx, tdy, tdp) : geglu_packed_backward(tx, tdy, tdp));
    EXPECT_EQ(y.values(), packed.values());
    EXPECT_EQ(dx.values(), dpacked.values());
    const auto got = y.values(), d = dx.values();
    for (int64_t r = 0; r < R; ++r)
      for (int64_t c = 0; c < C; ++c) {
        const double g = in[size_t(r * 2 * C + c)], u = in[size_t(r * 2 * C + C + c)], h = 1e-5;
        ASSERT_NEAR(got[size_t(r * C + c)], f(g) * u, 1e-5);
        ASSERT_NEAR(d[size_t(r * 2 * C + c)], 3 * u * (f(g + h) - f(g - h)) / (2 * h), 1e-4);
        ASSERT_NEAR(d[size_t(r * 2 * C + C + c)], 3 * f(g), 1e-5);
      }
  }
}

TEST(Glu, StepsOfOtherThanOne) {
  const DeviceArray<float> x(std::vector<float>{1, 10, 2, 20, 3, 30}), y(3), z(3);
  Tensor gate(x.data(), Dtype::f32, {3}), up(x.data() + 1, Dtype::f32, {3});
  gate.strides[0] = up.strides[0] = 2;
  ASSERT_TRUE(swiglu(gate, up, {y.data(), Dtype::f32, {3}}));
  const auto got = y.values();
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(got[size_t(i)], expected(Activation::silu, i + 1) * 10 * (i + 1), 1e-4);
}

TEST(Glu, PackedInPlace) {
  const int64_t R = 3, C = 17;
  const auto in = spread(size_t(R * 2 * C));
  for (const int64_t half : {0, 1}) {  // y is one of the halves of x
    const DeviceArray<float> x(in), apart(size_t(R * C));
    const Tensor tx(x.data(), Dtype::f32, {R, 2 * C});
    Tensor y(x.data() + half * C, Dtype::f32, {R, C});
    y.strides = {2 * C, 1};
    ASSERT_TRUE(swiglu_packed(tx, {apart.data(), Dtype::f32, {R, C}}));
    ASSERT_TRUE(swiglu_packed(tx, y));
    const auto got = x.values(), wanted = apart.values();
    for (int64_t r = 0; r < R; ++r)
      for (int64_t c = 0; c < C; ++c) {
        ASSERT_EQ(got[size_t(r * 2 * C + half * C + c)], wanted[size_t(r * C + c)]);
        const auto other = size_t(r * 2 * C + (1 - half) * C + c);
        ASSERT_EQ(got[other], in[other]);
      }
  }
  // dx is x itself, or has dy as its first half.
  const DeviceArray<float> x(in), dy(size_t(R * C), 3.f), apart(size_t(R * 2 * C)),
      both(size_t(R * 2 * C), 3.f);
  const Tensor tx(x.data(), Dtype::f32, {R, 2 * C}), dx(both.data(), Dtype::f32, {R, 2 * C});
  const Tensor tdy(dy.data(), Dtype::f32, {R, C});
  Tensor inside(both.data(), Dtype::f32, {R, C});
  inside.strides = {2 * C, 1};
  ASSERT_TRUE(swiglu_packed_backward(tx, tdy, {apart.data(), Dtype::f32, {R, 2 * C}}));
  ASSERT_TRUE(swiglu_packed_backward(tx, inside, dx));
  EXPECT_EQ(both.values(), apart.values());
  inside.data = both.data() + 1;
  EXPECT_EQ(swiglu_packed_backward(tx, inside, dx).message(),
            "swiglu_packed_backward: part 1 of dx and dy overlap in memory without being the same "
            "tensor");
  ASSERT_TRUE(swiglu_packed_backward(tx, tdy, tx));
  EXPECT_EQ(x.values(), apart.values());
}

TEST(Glu, SaysWhatIsWrong) {
  const DeviceArray<float> x(16), y(16);
  const Tensor t(x.data(), Dtype::f32, {8}), ty(y.data(), Dtype::f32, {8}),
      up(x.data() + 8, Dtype::f32, {8});
  EXPECT_EQ(swiglu_packed(t, ty).message(),
            "swiglu_packed: y is f32 (8) but must be f32 (4): x is f32 (8)");
  EXPECT_EQ(geglu(t, {x.data(), Dtype::f32, {7}}, ty).message(),
            "geglu: up is f32 (7) but gate is f32 (8)");
  EXPECT_EQ(swiglu_backward(t, up, ty, t, t).message(),
            "swiglu_backward: dup and dgate overlap in memory");
  EXPECT_EQ(swiglu(t, up, {nullptr, Dtype::f32, {8}}).message(), "swiglu: y is null");
  EXPECT_EQ(swiglu_packed(t, {x.data() + 2, Dtype::f32, {4}}).message(),
            "swiglu_packed: y and part 1 of x overlap in memory without being the same tensor");
  const Tensor none(nullptr, Dtype::f32, {0});
  EXPECT_TRUE(swiglu(none, none, none));
  EXPECT_TRUE(geglu_packed(none, none));
}

TEST(Dropout, BackwardHasTheSameMaskWhateverTheStrides) {
  const int64_t A = 3, B = 5, C = 7, n = A * B * C;
  const DeviceArray<float> x(size_t(n), 1.f), y{size_t(n)}, dx(size_t(2 * n), -1.f);
  ASSERT_TRUE(
      dropout({x.data(), Dtype::f32, {A, B, C}}, {y.data(), Dtype::f32, {A, B, C}}, 0.5, 11, 22));
  // Dimensions in another order, with steps of 2: three slabs.
  Tensor dy(x.data(), Dtype::f32, {A, B, C}), tdx(dx.data(), Dtype::f32, {A, B, C});
  tdx.strides = {2 * C, 2 * A * C, 2};
  ASSERT_TRUE(dropout_backward(dy, tdx, 0.5, 11, 22));
  const auto forward = y.values(), backward = dx.values();
  int kept = 0;
  for (int64_t a = 0; a < A; ++a)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t c = 0; c < C; ++c) {
        const float v = forward[size_t((a * B + b) * C + c)];
        ASSERT_TRUE(v == 0 || v == 2);
        kept += v == 2;
        ASSERT_EQ(backward[size_t(2 * ((b * A + a) * C + c))], v);
        ASSERT_EQ(backward[size_t(2 * ((b * A + a) * C + c) + 1)], -1);
      }
  EXPECT_GT(kept, n / 3);
  EXPECT_LT(kept, 2 * n / 3);
}

TEST(Dropout, EndsAndErrors) {
  const DeviceArray<float> x(std::vector<float>{1, 2, 3}), y(3);
  const Tensor t(x.data(), Dtype::f32, {3}), ty(y.data(), Dtype::f32, {3});
  ASSERT_TRUE(dropout(t, ty, 0, 1, 2));
  EXPECT_EQ(y.values(), x.values());
  ASSERT_TRUE(dropout(t, ty, 1, 1, 2));
  EXPECT_EQ(y.values(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(dropout(t, ty, 1.5, 1, 2).message(),
            "dropout: probability is 1.5; it has to be at least 0 and at most 1");
  EXPECT_EQ(dropout(t, ty, NAN, 1, 2).message(),
            "dropout: probability is nan; it has to be at least 0 and at most 1");
  EXPECT_EQ(dropout_backward(t, {y.data(), Dtype::f32, {2}}, 0.5, 1, 2).message(),
            "dropout_backward: dx is f32 (2) but dy is f32 (3)");
  EXPECT_TRUE(dropout({nullptr, Dtype::f32, {0}}, {nullptr, Dtype::f32, {0}}, 0.5, 1, 2));
}

}  // namespace
}  // namespace ridge
