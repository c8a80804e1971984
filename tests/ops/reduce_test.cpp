#include "ridge/reduce.h"

#include <climits>
#include <cmath>
#include <limits>

#include "device_array.h"
#include "graph.h"
#include "ridge/ridge.h"  // that all headers fit together

namespace ridge {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Asks `run` for the workspace it takes, then lets it run with that.
template <class Run>
void with_workspace(Run run) {
  size_t bytes = 0;
  const Status asked = run(Workspace::ask(bytes));
  ASSERT_TRUE(asked) << asked.message();
  const DeviceArray<char> workspace(bytes, 'x');
  const Status s = run(Workspace{workspace.data(), bytes});
  ASSERT_TRUE(s) << s.message();
}

template <class Out>
Out reduced(Reduction reduction, const Tensor& x) {
  const DeviceArray<Out> out(1);
  const Tensor to(out.data(), reduced_dtype(reduction, x.dtype), {});
  with_workspace([&](const Workspace& w) { return reduce(reduction, x, to, w); });
  return out.values()[0];
}

TEST(Reduce, EveryKind) {
  const DeviceArray<float> x(std::vector<float>{3, -4, 2, 12, -1, 12});
  const Tensor t(x.data(), Dtype::f32, {2, 3});
  EXPECT_EQ(reduced<float>(Reduction::sum, t), 24);
  EXPECT_EQ(reduced<float>(Reduction::max, t), 12);
  EXPECT_EQ(reduced<float>(Reduction::min, t), -4);
  EXPECT_EQ(reduced<float>(Reduction::mean, t), 4);
  EXPECT_EQ(reduced<float>(Reduction::product, t), 3456);
  EXPECT_EQ(reduced<int64_t>(Reduction::argmax, t), 3);
  EXPECT_EQ(reduced<float>(Reduction::norm_l1, t), 34);
  EXPECT_EQ(reduced<float>(Reduction::norm_l2, {x.data(), Dtype::f32, {2}}), 5);
  const DeviceArray<int32_t> i(std::vector<int32_t>{INT32_MAX, INT32_MAX, 5});
  const Tensor ti(i.data(), Dtype::i32, {3});
  EXPECT_EQ(reduced<int64_t>(Reduction::sum, ti), 2 * int64_t(INT32_MAX) + 5);
  EXPECT_EQ(reduced<int32_t>(Reduction::min, ti), 5);
  const DeviceArray<uint16_t> h(1000, 0x3c00);  // ones in f16
  EXPECT_EQ(reduced<uint16_t>(Reduction::sum, {h.data(), Dtype::f16, {10, 100}}), 0x63d0);  // 1000
}

TEST(Reduce, ByName) {
  const DeviceArray<float> x(std::vector<float>{3, -4}), out(1);
  const DeviceArray<int64_t> index(1);
  const Tensor t(x.data(), Dtype::f32, {2}), to(out.data(), Dtype::f32, {1});
  const auto value = [&](const Status& s) {
    EXPECT_TRUE(s) << s.message();
    return out.values()[0];
  };
  EXPECT_EQ(value(sum(t, to, {})), -1);
  EXPECT_EQ(value(max(t, to, {})), 3);
  EXPECT_EQ(value(min(t, to, {})), -4);
  EXPECT_EQ(value(mean(t, to, {})), -.5f);
  EXPECT_EQ(value(product(t, to, {})), -12);
  EXPECT_EQ(value(norm_l1(t, to, {})), 7);
  EXPECT_EQ(value(norm_l2(t, to, {})), 5);
  ASSERT_TRUE(argmax(t, {index.data(), Dtype::i64, {}}, {}));
  EXPECT_EQ(index.values()[0], 0);
}

TEST(Reduce, DotAndCount) {
  const DeviceArray<int32_t> x(std::vector<int32_t>{1, 2, 3, 2}),
      y(std::vector<int32_t>{5, 6, 7, 8});
  const DeviceArray<int64_t> out(1);
  const Tensor tx(x.data(), Dtype::i32, {4}), ty(y.data(), Dtype::i32, {4}),
      to(out.data(), Dtype::i64, {1});
  with_workspace([&](const Workspace& w) { return dot(tx, ty, to, w); });
  EXPECT_EQ(out.values()[0], 54);
  with_workspace([&](const Workspace& w) { return count_equal(tx, 2, to, w); });
  EXPECT_EQ(out.values()[0], 2);
}

TEST(Reduce, AnyOrderOfDimensionsButNoGaps) {
  const DeviceArray<float> x(std::vector<float>{1, 2, 3, 4, 5, 6});
  Tensor t(x.data(), Dtype::f32, {2, 3});
  t.strides = {1, 2};
  EXPECT_EQ(reduced<float>(Reduction::sum, t), 21);
  const DeviceArray<float> out(1);
  const DeviceArray<int64_t> index(1);
  const Tensor to(out.data(), Dtype::f32, {1});
  EXPECT_EQ(argmax(t, {index.data(), Dtype::i64, {1}}, {}).message(),
            "argmax: x has strides (1, 2) for f32 (2, 3); it has to be contiguous");
  const Tensor contiguous(x.data(), Dtype::f32, {2, 3});
  EXPECT_EQ(dot(t, contiguous, to, {}).message(),
            "dot: y has strides (3, 1) but x has (1, 2); they have to be the same");
  t.shape = {2, 2};
  t.strides = {3, 1};
  EXPECT_EQ(sum(t, to, {}).message(),
            "sum: x has strides (3, 1) for f32 (2, 2); it must not have gaps");
}

TEST(Reduce, OfNothing) {
  const Tensor none(nullptr, Dtype::f32, {3, 0});
  EXPECT_EQ(reduced<float>(Reduction::sum, none), 0);
  EXPECT_EQ(reduced<float>(Reduction::max, none), -kInf);
  EXPECT_EQ(reduced<float>(Reduction::min, none), kInf);
  EXPECT_TRUE(std::isnan(reduced<float>(Reduction::mean, none)));
  EXPECT_EQ(reduced<float>(Reduction::product, none), 1);
  EXPECT_EQ(reduced<int64_t>(Reduction::argmax, none), -1);
}

TEST(Reduce, SaysWhatIsWrong) {
  const DeviceArray<float> x(16), out(16);
  const Tensor t(x.data(), Dtype::f32, {8}), to(out.data(), Dtype::f32, {1});
  const auto message = [](Reduction r, const Tensor& a, const Tensor& b) {
    return reduce(r, a, b, {}).message();
  };
  EXPECT_EQ(message(Reduction(99), t, to), "reduce: reduction 99 is none");
  EXPECT_EQ(message(Reduction::sum, t, {out.data(), Dtype::f32, {2}}),
            "sum: out is f32 (2); it has to have one element");
  EXPECT_EQ(message(Reduction::sum, {x.data(), Dtype::i32, {8}}, to),
            "sum: out is f32; the sum of i32 is i64");
  EXPECT_EQ(message(Reduction::argmax, t, to), "argmax: out is f32; the argmax of f32 is i64");
  EXPECT_EQ(message(Reduction::mean, {x.data(), Dtype::i32, {8}}, to),
            "mean: x is i32; it can be f32, f16, bf16");
  EXPECT_EQ(message(Reduction::sum, {x.data(), Dtype::u8, {8}}, to),
            "sum: x is u8; it can be f32, f16, bf16, i32");
  EXPECT_EQ(message(Reduction::sum, {nullptr, Dtype::f32, {8}}, to), "sum: x is null");
  EXPECT_EQ(message(Reduction::sum, t, {nullptr, Dtype::f32, {1}}), "sum: out is null");
  Tensor deep = t;
  deep.rank = 100000;
  EXPECT_EQ(message(Reduction::argmax, deep, to),
            "argmax: x has rank 100000; at most 8 dimensions are possible");
  EXPECT_EQ(message(Reduction::sum, {x.data(), Dtype::f32, {-8}}, to),
            "sum: x has a negative size: f32 (-8)");
  EXPECT_EQ(message(Reduction::sum, {reinterpret_cast<char*>(x.data()) + 3, Dtype::f32, {8}}, to),
            "sum: x is not aligned to its elements, which are 4 bytes");
  EXPECT_EQ(message(Reduction::sum, t, {x.data() + 7, Dtype::f32, {1}}),
            "sum: out and x overlap in memory");
  EXPECT_EQ(dot(t, {x.data(), Dtype::f32, {7}}, to, {}).message(),
            "dot: y is f32 (7) but x is f32 (8)");
  const DeviceArray<int64_t> count(1);
  EXPECT_EQ(
      count_equal({x.data(), Dtype::i32, {8}}, .5, {count.data(), Dtype::i64, {1}}, {}).message(),
      "count_equal: value is 0.5, which no i32 is");
  EXPECT_EQ(count_equal(t, 0, to, {}).message(),
            "count_equal: out is f32; the count of f32 is i64");
  // Asking for a workspace checks as much.
  size_t bytes = 0;
  EXPECT_EQ(sum(t, {nullptr, Dtype::f32, {1}}, Workspace::ask(bytes)).message(),
            "sum: out is null");
}

TEST(Reduce, TheWorkspaceAndAGraph) {
  const int64_t n = 100000;
  const DeviceArray<float> x(size_t(n), 1.f), out(1);
  const Tensor t(x.data(), Dtype::f32, {n}), to(out.data(), Dtype::f32, {1});
  size_t bytes = 0;
  ASSERT_TRUE(sum(t, to, Workspace::ask(bytes)));
  ASSERT_GT(bytes, 0u);
  const DeviceArray<char> workspace(bytes + 16);
  EXPECT_EQ(sum(t, to, {workspace.data(), bytes - 1}).message(),
            "sum: the workspace has " + std::to_string(bytes - 1) + " bytes, but takes " +
                std::to_string(bytes));
  EXPECT_EQ(sum(t, to, {nullptr, bytes}).message(), "sum: the workspace is null");
  EXPECT_EQ(sum(t, to, {workspace.data() + 1, bytes}).message(),
            "sum: the workspace is not aligned to 16 bytes");
  EXPECT_EQ(sum(t, to, {x.data() + 1000, bytes}).message(),
            "sum: the workspace and x overlap in memory");
  run_as_graph([&](cudaStream_t stream) { return sum(t, to, {workspace.data(), bytes}, stream); });
  EXPECT_EQ(out.values()[0], float(n));
}

// One by one, in an order in which numbers like those of try_axis are exact.
template <class Element>
double reduced_one_by_one(Reduction reduction, int64_t length, Element element) {
  double sum = 0, sizes = 0, squares = 0, product = 1, greatest = -kInf, least = kInf;
  int64_t place = -1;
  for (int64_t k = 0; k < length; ++k) {
    const double v = element(k);
    sum += v, sizes += std::fabs(v), squares += v * v, product *= v;
    if (place < 0 || v > greatest) greatest = v, place = k;
    least = std::min(least, v);
  }
  switch (reduction) {
    case Reduction::sum: return sum;
    case Reduction::max: return greatest;
    case Reduction::min: return least;
    case Reduction::mean: return sum / double(length);
    case Reduction::product: return product;
    case Reduction::argmax: return double(place);
    case Reduction::norm_l1: return sizes;
    case Reduction::norm_l2: return std::sqrt(squares);
  }
  return NAN;
}

// Element i is i % 13 - 5; reduced by the API, and one by one.
template <class Out = float>
void try_axis(Reduction reduction, const std::vector<int64_t>& shape, int axis, bool keep) {
  int64_t outer = 1, inner = 1;
  Tensor x, out;
  x.rank = int(shape.size());
  for (int d = 0; d < x.rank; ++d) x.shape[size_t(d)] = shape[size_t(d)];
  const int at = axis < 0 ? axis + x.rank : axis;
  for (int d = 0; d < at; ++d) outer *= shape[size_t(d)];
  for (int d = at + 1; d < x.rank; ++d) inner *= shape[size_t(d)];
  const int64_t length = shape[size_t(at)];
  for (int d = 0; d < x.rank; ++d) {
    if (d == at && !keep) continue;
    out.shape[size_t(out.rank++)] = d == at ? 1 : shape[size_t(d)];
  }
  for (Tensor* t : {&x, &out}) {
    int64_t stride = 1;
    for (int d = t->rank - 1; d >= 0; --d) {
      t->strides[size_t(d)] = stride;
      stride *= t->shape[size_t(d)];
    }
  }
  std::vector<float> values(size_t(outer * length * inner));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 13) - 5;
  const DeviceArray<float> from(values);
  const DeviceArray<Out> to(size_t(outer * inner), Out(-7));
  x.data = from.data();
  out.data = to.data();
  out.dtype = reduced_dtype(reduction, x.dtype);
  with_workspace([&](const Workspace& w) { return reduce_axis(reduction, x, axis, out, w); });
  const auto got = to.values();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const auto wanted = Out(reduced_one_by_one(reduction, length, [&](int64_t k) {
        return values[size_t((o * length + k) * inner + i)];
      }));
      ASSERT_EQ(got[size_t(o * inner + i)], wanted)
          << "reduction " << int(reduction) << ", axis " << axis << ": " << o << " " << i;
    }
}

TEST(ReduceAxis, EveryAxis) {
  for (const int axis : {0, 1, 2, 3, -1, -4}) {
    for (const Reduction r : {Reduction::sum, Reduction::max, Reduction::min, Reduction::mean,
                              Reduction::product, Reduction::norm_l1, Reduction::norm_l2})
      try_axis(r, {3, 4, 5, 6}, axis, axis % 2 == 0);
    try_axis<int64_t>(Reduction::argmax, {3, 4, 5, 6}, axis, axis % 2 == 0);
  }
  try_axis(Reduction::sum, {7}, 0, false);
  try_axis(Reduction::sum, {3, 0, 2}, 1, false);              // 0
  try_axis(Reduction::max, {3, 0}, 1, true);                  // -inf
  try_axis(Reduction::min, {3, 0}, 1, true);                  // inf
  try_axis(Reduction::product, {3, 0, 2}, 1, false);          // 1
  try_axis<int64_t>(Reduction::argmax, {3, 0, 2}, 1, false);  // -1
  try_axis<int64_t>(Reduction::argmax, {2, 40000}, 1, false);
  try_axis<int64_t>(Reduction::argmax, {5000, 3}, 0, false);
  try_axis(Reduction::sum, {0, 4}, 1, false);
  try_axis(Reduction::sum, {2, 40000}, 1, false);
  try_axis(Reduction::sum, {5000, 3}, 0, false);
}

TEST(ReduceAxis, StridesThatCanBeServed) {
  // (2, 3, 4) in memory of (2, 5, 6): rows and planes with gaps, along the middle.
  std::vector<float> values(2 * 5 * 6);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  const DeviceArray<float> x(values), out(2 * 5, -1.f);
  Tensor t(x.data(), Dtype::f32, {2, 3, 4}), to(out.data(), Dtype::f32, {2, 4});
  t.strides = {30, 6, 1};
  to.strides = {5, 1};
  with_workspace([&](const Workspace& w) { return reduce_axis(Reduction::sum, t, 1, to, w); });
  const auto got = out.values();
  for (size_t o = 0; o < 2; ++o) {
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got[o * 5 + i], float(3 * (o * 30 + i) + 18));
    EXPECT_EQ(got[o * 5 + 4], -1);
  }
}

TEST(ReduceAxis, SaysWhatIsWrong) {
  const DeviceArray<float> x(64), out(64);
  Tensor t(x.data(), Dtype::f32, {2, 3, 4}), to(out.data(), Dtype::f32, {2, 4});
  const auto message = [](Reduction r, const Tensor& a, int axis, const Tensor& b) {
    return reduce_axis(r, a, axis, b, {}).message();
  };
  EXPECT_EQ(message(Reduction(99), t, 1, to), "reduce_axis: reduction 99 is none");
  EXPECT_EQ(message(Reduction::argmax, t, 1, to),
            "argmax_axis: out is f32; the argmax of f32 is i64");
  EXPECT_EQ(message(Reduction::min, t, 1, {out.data(), Dtype::f16, {2, 4}}),
            "min_axis: out is f16 but x is f32");
  EXPECT_EQ(message(Reduction::sum, t, 3, to), "sum_axis: axis is 3, but x is f32 (2, 3, 4)");
  EXPECT_EQ(message(Reduction::sum, t, -4, to), "sum_axis: axis is -4, but x is f32 (2, 3, 4)");
  EXPECT_EQ(message(Reduction::sum, t, 0, to),
            "sum_axis: out is f32 (2, 4) but must be f32 (3, 4): x is f32 (2, 3, 4)");
  EXPECT_EQ(message(Reduction::sum, t, 1, {out.data(), Dtype::f32, {2, 3, 1}}),
            "sum_axis: out is f32 (2, 3, 1) but must be f32 (2, 4): x is f32 (2, 3, 4)");
  EXPECT_EQ(message(Reduction::sum, t, 1, {x.data() + 1, Dtype::f32, {2, 4}}),
            "sum_axis: out and x overlap in memory");
  EXPECT_EQ(message(Reduction::sum, {x.data(), Dtype::i32, {2, 3, 4}}, 1, to),
            "sum_axis: x is i32; it can be f32, f16, bf16");
  t.strides = {24, 8, 2};
  EXPECT_EQ(message(Reduction::sum, t, 1, to),
            "sum_axis: x has strides (24, 8, 2) for f32 (2, 3, 4); the dimensions before axis 1 "
            "have to merge to one stride, and those behind it have to be contiguous");
  t.strides = {12, 4, 1};
  to.strides = {2, 1};
  EXPECT_EQ(message(Reduction::sum, t, 1, to),
            "sum_axis: out has strides (2, 1), by which its own elements overlap");
}

TEST(SegmentedReduce, SumsAndMaxima) {
  const DeviceArray<int32_t> x(std::vector<int32_t>{1, 2, 3, 4, 5});
  const DeviceArray<int64_t> offsets(std::vector<int64_t>{0, 2, 2, 5}), sums(3);
  const DeviceArray<int32_t> short_offsets(std::vector<int32_t>{0, 2, 2, 5}), maxima(3);
  const Tensor t(x.data(), Dtype::i32, {5}), at(offsets.data(), Dtype::i64, {4}),
      short_at(short_offsets.data(), Dtype::i32, {4}), to(sums.data(), Dtype::i64, {3}),
      most(maxima.data(), Dtype::i32, {3});
  with_workspace(
      [&](const Workspace& w) { return segmented_reduce(Reduction::sum, t, at, to, w); });
  EXPECT_EQ(sums.values(), (std::vector<int64_t>{3, 0, 12}));
  with_workspace(
      [&](const Workspace& w) { return segmented_reduce(Reduction::max, t, short_at, most, w); });
  EXPECT_EQ(maxima.values(), (std::vector<int32_t>{2, INT32_MIN, 5}));
}

TEST(SegmentedReduce, MinimaAndMeansOfF16) {
  const DeviceArray<uint16_t> x(std::vector<uint16_t>{0x3c00, 0x4000, 0xc200, 0x4400, 0x4500}),
      out(3, 0xffff);  // x: 1, 2, -3, 4, 5
  const DeviceArray<int32_t> offsets(std::vector<int32_t>{0, 2, 2, 5});
  const Tensor t(x.data(), Dtype::f16, {5}), at(offsets.data(), Dtype::i32, {4}),
      to(out.data(), Dtype::f16, {3});
  const auto reduced = [&](Reduction r) {
    with_workspace([&](const Workspace& w) { return segmented_reduce(r, t, at, to, w); });
    return out.values();
  };
  EXPECT_EQ(reduced(Reduction::min), (std::vector<uint16_t>{0x3c00, 0x7c00, 0xc200}));
  const auto means = reduced(Reduction::mean);
  EXPECT_EQ(means[0], 0x3e00);                    // 1.5
  EXPECT_GT(means[1] & 0x7fff, 0x7c00);           // NaN
  EXPECT_EQ(means[2], 0x4000);                    // 2
  EXPECT_EQ(reduced(Reduction::sum)[2], 0x4600);  // 6
}

TEST(SegmentedReduce, SaysWhatIsWrong) {
  const DeviceArray<float> x(8), out(8);
  const DeviceArray<int64_t> offsets(8);
  const Tensor t(x.data(), Dtype::f32, {8}), at(offsets.data(), Dtype::i64, {4}),
      to(out.data(), Dtype::f32, {3});
  const auto message = [](Reduction r, const Tensor& a, const Tensor& b, const Tensor& c) {
    return segmented_reduce(r, a, b, c, {}).message();
  };
  EXPECT_EQ(message(Reduction::product, t, at, to),
            "segmented_reduce: there is no product of segments; there are sum, max, min and mean");
  EXPECT_EQ(message(Reduction::mean, {x.data(), Dtype::i32, {8}}, at, to),
            "segmented_mean: x is i32; it can be f32, f16, bf16");
  EXPECT_EQ(message(Reduction::sum, t, {offsets.data(), Dtype::i64, {3}}, to),
            "segmented_sum: out is f32 (3) but must be f32 (2): offsets is i64 (3)");
  EXPECT_EQ(message(Reduction::sum, {x.data(), Dtype::i32, {8}}, at, to),
            "segmented_sum: out is f32; the sum of i32 is i64");
  EXPECT_EQ(message(Reduction::sum, t, {offsets.data(), Dtype::u32, {4}}, to),
            "segmented_sum: offsets is u32; it can be i64, i32");
  EXPECT_EQ(message(Reduction::sum, t, {nullptr, Dtype::i64, {4}}, to),
            "segmented_sum: offsets is null");
  EXPECT_TRUE(segmented_reduce(Reduction::sum, t, {offsets.data(), Dtype::i64, {1}},
                               {nullptr, Dtype::f32, {0}}, {}));
}

TEST(Normalize, Rows) {
  const std::vector<float> values = {3, -4, 9, 0, 0, 9};  // rows of two in three columns
  const DeviceArray<float> x(values), out(4, -1.f);
  Tensor t(x.data(), Dtype::f32, {2, 2});
  t.strides = {3, 1};
  const Tensor to(out.data(), Dtype::f32, {2, 2});
  with_workspace([&](const Workspace& w) { return l2_normalize(t, 1e-12f, to, w); });
  EXPECT_EQ(out.values(), (std::vector<float>{3 / 5.f, -4 / 5.f, 0, 0}));
  with_workspace([&](const Workspace& w) { return l1_normalize(t, 1e-12f, t, w); });
  EXPECT_EQ(x.values(), (std::vector<float>{3 / 7.f, -4 / 7.f, 9, 0, 0, 9}));
  EXPECT_EQ(l2_normalize(t, -1, to, {}).message(),
            "l2_normalize: epsilon is -1; it has to be at least 0");
  EXPECT_EQ(l2_normalize(t, 0, {x.data() + 1, Dtype::f32, {2, 2}}, {}).message(),
            "l2_normalize: out and x overlap in memory without being the same tensor");
  const Tensor none(nullptr, Dtype::f32, {0, 5});
  EXPECT_TRUE(l2_normalize(none, 0, none, {}));
}

TEST(Normalize, Clip) {
  const DeviceArray<float> x(std::vector<float>{3, 0, 0, -4}), norm(1, -1.f);
  const Tensor t(x.data(), Dtype::f32, {2, 2}), of_all(norm.data(), Dtype::f32, {1});
  with_workspace([&](const Workspace& w) { return clip_by_global_norm(t, 10, t, of_all, w); });
  EXPECT_EQ(norm.values()[0], 5);
  EXPECT_EQ(x.values(), (std::vector<float>{3, 0, 0, -4}));
  with_workspace([&](const Workspace& w) { return clip_by_global_norm(t, 1, t, of_all, w); });
  EXPECT_NEAR(x.values()[0], .6, 1e-6);
  EXPECT_NEAR(x.values()[3], -.8, 1e-6);
  const DeviceArray<float> other(4);
  Tensor turned(other.data(), Dtype::f32, {2, 2});
  turned.strides = {1, 2};
  EXPECT_EQ(
      clip_by_global_norm(t, 1, turned, of_all, {}).message(),
      "clip_by_global_norm: out has strides (1, 2) but x has (2, 1); they have to be the same");
  const Tensor none(nullptr, Dtype::f32, {0});
  ASSERT_TRUE(clip_by_global_norm(none, 1, none, of_all, {}));
  EXPECT_EQ(norm.values()[0], 0);
  EXPECT_EQ(clip_by_global_norm(t, NAN, t, of_all, {}).message(),
            "clip_by_global_norm: max_norm is nan; it has to be at least 0");
  EXPECT_EQ(clip_by_global_norm(t, 1, t, {x.data(), Dtype::f32, {1}}, {}).message(),
            "clip_by_global_norm: norm and x overlap in memory");
  EXPECT_EQ(clip_by_global_norm(t, 1, t, {norm.data(), Dtype::f16, {1}}, {}).message(),
            "clip_by_global_norm: norm is f16; it can be f32");
}

}  // namespace
}  // namespace ridge
