// AdamW and rotary position embedding of include/ridge/elementwise.h.
#include <cmath>
#include <limits>

#include "device_array.h"
#include "graph.h"
#include "ridge/ridge.h"

namespace ridge {
namespace {

std::vector<float> wave(size_t n, double speed) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = float(std::sin(double(i) * speed + 0.3));
  return v;
}

struct State {
  double w, m, v;
};
State stepped(State s, double g, const AdamwOptions& o) {
  s.m = o.beta1 * s.m + (1 - o.beta1) * g;
  s.v = o.beta2 * s.v + (1 - o.beta2) * g * g;
  const double m = s.m / (1 - std::pow(o.beta1, double(o.step)));
  const double v = s.v / (1 - std::pow(o.beta2, double(o.step)));
  s.w = s.w * (1 - o.lr * o.weight_decay) - o.lr * m / (std::sqrt(v) + o.eps);
  return s;
}

// One tensor (3, 5), rows `pitch` apart.
struct Entry {
  static constexpr int64_t kRows = 3, kCols = 5;
  int64_t pitch;
  DeviceArray<float> w, g, m, v;

  explicit Entry(int64_t row = kCols)
      : pitch(row),
        w(wave(size_t(kRows * row), 0.7)),
        g(wave(size_t(kRows * row), 1.3)),
        m(size_t(kRows * row), 0.1f),
        v(size_t(kRows * row), 0.2f) {}
  Tensor tensor(const DeviceArray<float>& a) const {
    Tensor t(a.data(), Dtype::f32, {kRows, kCols});
    t.strides = {pitch, 1};
    return t;
  }
  AdamwTensors tensors() const { return {tensor(w), tensor(g), tensor(m), tensor(v), {}}; }
  void expect_stepped(const AdamwOptions& o) const {
    const auto before = wave(size_t(kRows * pitch), 0.7), grads = g.values();
    const auto got_w = w.values(), got_m = m.values(), got_v = v.values();
    for (size_t i = 0; i < before.size(); ++i) {
      State s = {before[i], 0.1f, 0.2f};
      if (int64_t(i) % pitch < kCols) s = stepped(s, grads[i], o);
      ASSERT_NEAR(got_w[i], s.w, 1e-6) << i;
      ASSERT_NEAR(got_m[i], s.m, 1e-6) << i;
      ASSERT_NEAR(got_v[i], s.v, 1e-6) << i;
    }
  }
};

TEST(Adamw, OneTensorAndRowsWithGaps) {
  AdamwOptions options;
  options.lr = 0.05;
  options.step = 3;
  for (const int64_t pitch : {5, 8}) {
    const Entry e(pitch);
    ASSERT_TRUE(adamw(e.tensors(), options));
    e.expect_stepped(options);
  }
}

TEST(Adamw, ManyTensors) {
  AdamwOptions options;
  options.step = 2;
  const Entry a, b(7), c;
  const AdamwTensors entries[] = {a.tensors(), b.tensors(), c.tensors()};
  run_as_graph([&](cudaStream_t stream) { return adamw(entries, 3, options, stream); }, 1);
  for (const Entry* e : {&a, &b, &c}) e->expect_stepped(options);
}

TEST(Adamw, RoundedWeightsFollowTheirMaster) {
  const DeviceArray<uint16_t> w(4), g(4, uint16_t(0x3f80));  // 1
  const DeviceArray<float> master(std::vector<float>{1, 2, 3, 4}), m(4), v(4);
  AdamwOptions options;
  options.lr = 0.5;
  options.weight_decay = 0;
  const Tensor tw(w.data(), Dtype::bf16, {4}), tg(g.data(), Dtype::bf16, {4}),
      tm(m.data(), Dtype::f32, {4}), tv(v.data(), Dtype::f32, {4}),
      tmaster(master.data(), Dtype::f32, {4});
  ASSERT_TRUE(adamw({tw, tg, tm, tv, tmaster}, options));
  const auto got = master.values();
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], float(i) + 0.5f, 1e-5);
  EXPECT_EQ(w.values(), (std::vector<uint16_t>{0x3f00, 0x3fc0, 0x4020, 0x4060}));
  EXPECT_EQ(adamw({tw, tg, tm, tv, {}}, options).message(), "adamw: master is null");
}

TEST(Adamw, EntriesOfBothFormats) {
  const Entry wide;
  const DeviceArray<uint16_t> w(4), g(4, uint16_t(0x3f80));  // 1
  const DeviceArray<float> master(std::vector<float>{1, 2, 3, 4}), m(4), v(4);
  AdamwOptions options;
  options.lr = 0.5;
  options.weight_decay = 0;
  const AdamwTensors narrow = {{w.data(), Dtype::bf16, {4}},
                               {g.data(), Dtype::bf16, {4}},
                               {m.data(), Dtype::f32, {4}},
                               {v.data(), Dtype::f32, {4}},
                               {master.data(), Dtype::f32, {4}}};
  AdamwTensors entries[] = {wide.tensors(), narrow};
  ASSERT_TRUE(adamw(entries, 2, options));
  wide.expect_stepped(options);
  EXPECT_EQ(w.values(), (std::vector<uint16_t>{0x3f00, 0x3fc0, 0x4020, 0x4060}));
  entries[1].master = {};
  EXPECT_EQ(adamw(entries, 2, options).message(), "adamw, entry 1: master is null");
  options.step = 0;
  EXPECT_EQ(adamw(entries, 2, options).message(),
            "adamw, entry 0: step is 0; it has to be at least 1");
}

TEST(Adamw, SaysWhatIsWrong) {
  const Entry e, other;
  const AdamwTensors good = e.tensors();
  const auto message = [](AdamwTensors t, AdamwOptions o = {}) { return adamw(t, o).message(); };
  AdamwOptions o;
  o.step = 0;
  EXPECT_EQ(message(good, o), "adamw: step is 0; it has to be at least 1");
  o = {};
  o.beta2 = 1;
  EXPECT_EQ(message(good, o), "adamw: beta2 is 1; it has to be at least 0 and under 1");
  o = {};
  o.lr = -1;
  EXPECT_EQ(message(good, o), "adamw: lr is -1; it has to be at least 0");
  o = {};
  o.weight_decay = std::nan("");
  EXPECT_EQ(message(good, o), "adamw: weight_decay is nan; it has to be at least 0");
  AdamwTensors bad = good;
  bad.weight.dtype = Dtype::f16;
  EXPECT_EQ(message(bad), "adamw: weight is f16; it can be f32, bf16");
  bad = good;
  bad.m.dtype = Dtype::bf16;
  EXPECT_EQ(message(bad), "adamw: m is bf16; it can be f32");
  bad = good;
  bad.v = bad.m;
  EXPECT_EQ(message(bad), "adamw: v and m overlap in memory");
  bad = good;
  bad.grad.data = nullptr;
  EXPECT_EQ(message(bad), "adamw: grad is null");
  bad = good;
  bad.grad = Tensor(e.g.data(), Dtype::f32, {5, 3});
  std::swap(bad.grad.shape[0], bad.grad.shape[1]);
  std::swap(bad.grad.strides[0], bad.grad.strides[1]);
  EXPECT_EQ(message(bad),
            "adamw: grad must have stride 1 in the dimension in which weight has its least stride");
  const AdamwTensors twice[] = {good, other.tensors(), good};
  EXPECT_EQ(adamw(twice, 3, {}).message(), "adamw: two entries overlap in what is written");
  AdamwTensors second[] = {good, other.tensors()};
  second[1].m.shape[1] = 4;
  EXPECT_EQ(adamw(second, 2, {}).message(),
            "adamw, entry 1: m is f32 (3, 4) but weight is f32 (3, 5)");
  EXPECT_EQ(adamw(nullptr, 2, {}).message(), "adamw: entries is null");
  EXPECT_TRUE(adamw(nullptr, 0, {}));
  const Tensor none(nullptr, Dtype::f32, {0});
  EXPECT_TRUE(adamw({none, none, none, none, none}, {}));
}

// q and k of 2 batches, 3 positions, 4 and 2 heads of 6 numbers, as parts of one tensor.
struct Heads {
  static constexpr int64_t B = 2, T = 3, Q = 4, K = 2, D = 6, kToken = (Q + K) * D;
  static constexpr int64_t kFirst = 5;
  DeviceArray<float> in{wave(size_t(B * T * kToken), 0.9)}, out{size_t(B * T * kToken)};
  DeviceArray<float> cos, sin;

  static std::vector<float> table(bool sine) {
    std::vector<float> v(size_t((kFirst + T) * D / 2));
    for (size_t i = 0; i < v.size(); ++i) {
      const double angle = angle_of(int64_t(i) / (D / 2), int64_t(i) % (D / 2));
      v[i] = float(sine ? std::sin(angle) : std::cos(angle));
    }
    return v;
  }
  static double angle_of(int64_t position, int64_t pair) {
    return double(position) * std::pow(10000.0, -2.0 * double(pair) / double(D));
  }
  Heads() : cos(table(false)), sin(table(true)) {}

  static Tensor part(const DeviceArray<float>& a, int64_t first, int64_t heads) {
    Tensor t(a.data() + first * D, Dtype::f32, {B, T, heads, D});
    t.strides = {T * kToken, kToken, D, 1};
    return t;
  }
  RopeOptions options(bool has_table, bool interleaved) const {
    RopeOptions o;
    o.first_position = kFirst;
    o.interleaved = interleaved;
    if (has_table) {
      o.cos = Tensor(cos.data(), Dtype::f32, {kFirst + T, D / 2});
      o.sin = Tensor(sin.data(), Dtype::f32, {kFirst + T, D / 2});
    }
    return o;
  }
};

TEST(Rope, TurnsAndTurnsBack) {
  const Heads h;
  const auto x = h.in.values();
  for (const bool has_table : {true, false})
    for (const bool interleaved : {true, false}) {
      const RopeOptions o = h.options(has_table, interleaved);
      const Tensor q = h.part(h.in, 0, h.Q), k = h.part(h.in, h.Q, h.K);
      const Tensor q_out = h.part(h.out, 0, h.Q), k_out = h.part(h.out, h.Q, h.K);
      ASSERT_TRUE(rope(q, k, q_out, k_out, o));
      const auto y = h.out.values();
      for (size_t head = 0; head < x.size(); head += h.D)
        for (int64_t i = 0; i < h.D / 2; ++i) {
          const int64_t position = h.kFirst + int64_t(head) / h.kToken % h.T;
          const double angle = h.angle_of(position, i);
          const size_t a = head + size_t(interleaved ? 2 * i : i);
          const size_t b = interleaved ? a + 1 : a + size_t(h.D / 2);
          ASSERT_NEAR(y[a], x[a] * std::cos(angle) - x[b] * std::sin(angle), 1e-5);
          ASSERT_NEAR(y[b], x[a] * std::sin(angle) + x[b] * std::cos(angle), 1e-5);
        }
      ASSERT_TRUE(rope_backward(q_out, k_out, q_out, k_out, o));  // in place
      const auto back = h.out.values();
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], x[i], 1e-5);
    }
}

TEST(Rope, OneTensorOfThreeDimensions) {
  const Heads h;
  const Tensor x(h.in.data(), Dtype::f32, {h.T, 2, h.D}),
      y(h.out.data(), Dtype::f32, {h.T, 2, h.D});
  const RopeOptions o = h.options(true, false);
  run_as_graph([&](cudaStream_t stream) {
    const Status s = rope(x, y, o, stream);
    return s ? rope_backward(y, y, o, stream) : s;
  });
  const auto in = h.in.values(), back = h.out.values();
  for (size_t i = 0; i < size_t(h.T * 2 * h.D); ++i) ASSERT_NEAR(back[i], in[i], 1e-5);
}

// (2, 3) batches of 2 positions are 6 of them.
TEST(Rope, SeveralDimensionsOfBatches) {
  const DeviceArray<float> x(wave(2 * 3 * 2 * 4 * 6, 0.9)), y(2 * 3 * 2 * 4 * 6),
      z(2 * 3 * 2 * 4 * 6);
  const Tensor in(x.data(), Dtype::f32, {2, 3, 2, 4, 6});
  ASSERT_TRUE(rope(in, {y.data(), Dtype::f32, {2, 3, 2, 4, 6}}));
  ASSERT_TRUE(rope({x.data(), Dtype::f32, {6, 2, 4, 6}}, {z.data(), Dtype::f32, {6, 2, 4, 6}}));
  EXPECT_EQ(y.values(), z.values());
  EXPECT_NE(y.values(), x.values());
  Tensor apart(y.data(), Dtype::f32, {2, 3, 2, 4, 6});
  apart.strides[0] = 2 * 4 * 6;  // the first dimension lies inside the second
  apart.strides[1] = 2 * 2 * 4 * 6;
  EXPECT_EQ(rope(in, apart).message(),
            "rope: q_out has strides (48, 96, 24, 6, 1); the dimensions before the last three "
            "have to merge to one");
}

TEST(Rope, SaysWhatIsWrong) {
  const Heads h;
  const Tensor q = h.part(h.in, 0, h.Q), k = h.part(h.in, h.Q, h.K);
  const Tensor q_out = h.part(h.out, 0, h.Q);
  const RopeOptions good = h.options(true, false);
  RopeOptions o = good;
  EXPECT_EQ(rope({h.in.data(), Dtype::f32, {4, 6}}, {h.out.data(), Dtype::f32, {4, 6}}).message(),
            "rope: q is f32 (4, 6); it has to be (batch..., seq, heads, dim)");
  EXPECT_EQ(
      rope({h.in.data(), Dtype::f32, {1, 4, 5}}, {h.out.data(), Dtype::f32, {1, 4, 5}}).message(),
      "rope: q is f32 (1, 4, 5): heads are made of pairs, so the last size must be even");
  Tensor wide = q_out;
  wide.strides[3] = 2;
  wide.shape[3] = 2;
  Tensor narrow = q;
  narrow.shape[3] = 2;
  EXPECT_EQ(rope(narrow, wide).message(), "rope: q_out must have stride 1 in its last dimension");
  EXPECT_EQ(rope(q, k, q_out, q_out, good).message(),
            "rope: k_out is f32 (2, 3, 4, 6) but k is f32 (2, 3, 2, 6)");
  EXPECT_EQ(rope(q, k, q_out, h.part(h.out, 1, h.K), good).message(),
            "rope: k_out and q_out overlap in memory");
  o.first_position = -1;
  EXPECT_EQ(rope(q, q_out, o).message(),
            "rope: first_position is -1; it has to be at least 0 and at most 1152921504606846976");
  o.first_position = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(rope(q, q_out, o).message(),
            "rope: first_position is 9223372036854775807; it has to be at least 0 and at most "
            "1152921504606846976");
  o.first_position = 6;
  EXPECT_EQ(rope(q, q_out, o).message(), "rope: cos is f32 (8, 3); it must be (at least 9, 3)");
  o = good;
  o.sin.data = nullptr;
  EXPECT_EQ(rope(q, q_out, o).message(), "rope: sin is null");
  o = good;
  o.sin.shape[0] = 7;
  EXPECT_EQ(rope(q, q_out, o).message(), "rope: sin is f32 (7, 3) but cos is f32 (8, 3)");
  o = good;
  o.cos.shape[1] = 2;
  EXPECT_EQ(rope(q, q_out, o).message(),
            "rope: cos is f32 (8, 2) but must be f32 (8, 3): sin is f32 (8, 3) and q is f32 "
            "(2, 3, 4, 6)");
  o = good;
  o.sin.strides[0] = 2;
  EXPECT_EQ(rope(q, q_out, o).message(), "rope: cos and sin must have the same strides");
  o = {};
  o.base = 0;
  EXPECT_EQ(rope(q, q_out, o).message(), "rope: base is 0; it has to be above 0");
  const Tensor none(nullptr, Dtype::f32, {2, 0, 4, 6});
  EXPECT_TRUE(rope(none, none, good));
  for (const float v : h.out.values()) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace ridge
