#include "ridge/movement.h"

#include <numeric>

#include "device_array.h"
#include "graph.h"

namespace ridge {
namespace {

template <class T>
std::vector<T> counting(size_t n) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), T(1));
  return v;
}
template <class T>
constexpr Dtype kDtype = sizeof(T) == 1   ? Dtype::u8
                         : sizeof(T) == 2 ? Dtype::f16
                         : sizeof(T) == 4 ? Dtype::i32
                                          : Dtype::i64;

// Moves (2, 3, 5) between every pair of layouts; `move` writes in(i, j, k) to out(i, j, k).
template <class T, class Move>
void move_all_layouts(Move move) {
  const std::array<int64_t, 3> shape = {2, 3, 5};
  struct Layout {
    std::array<int64_t, kMaxRank> strides;
    int64_t first;
  };
  const Layout layouts[] = {
      {{15, 5, 1}, 0},     // contiguous
      {{24, 8, 1}, 1},     // gaps between rows
      {{1, 2, 6}, 0},      // turned around
      {{15, 1, 3}, 2},     // matrices transposed
      {{5, 10, 1}, 0},     // rows in another order
      {{60, 20, 2}, 0},    // every second element
      {{-15, 5, -1}, 19},  // backwards in two dimensions
  };
  const size_t room = 128;
  const DeviceArray<T> in(counting<T>(room));
  const auto source = in.values();
  for (const Layout& from : layouts)
    for (const Layout& to : layouts) {
      const DeviceArray<T> out(room, T(0));
      Tensor a(in.data() + from.first, kDtype<T>, {2, 3, 5}), b = a;
      a.strides = from.strides;
      b.data = out.data() + to.first;
      b.strides = to.strides;
      const Status moved = move(a, b);
      ASSERT_TRUE(moved) << moved.message();
      std::vector<T> expected(room, T(0));
      for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j)
          for (int64_t k = 0; k < shape[2]; ++k) {
            const auto at = [&](const Layout& l) {
              return size_t(l.first + i * l.strides[0] + j * l.strides[1] + k * l.strides[2]);
            };
            expected[at(to)] = source[at(from)];
          }
      ASSERT_EQ(out.values(), expected) << &from - layouts << " to " << &to - layouts;
    }
}
Status copied(const Tensor& in, const Tensor& out) { return copy(in, out); }
TEST(Copy, LayoutsOfBytes) { move_all_layouts<uint8_t>(copied); }
TEST(Copy, LayoutsOfHalves) { move_all_layouts<uint16_t>(copied); }
TEST(Copy, LayoutsOfWords) { move_all_layouts<int32_t>(copied); }
TEST(Copy, LayoutsOfDoubleWords) { move_all_layouts<int64_t>(copied); }

// Into the transposed view of the output, in which all lies where a copy would put it.
Status transposed(const Tensor& in, Tensor out) {
  std::swap(out.shape[1], out.shape[2]);
  std::swap(out.strides[1], out.strides[2]);
  return transpose(in, out);
}
TEST(Transpose, LayoutsOfBytes) { move_all_layouts<uint8_t>(transposed); }
TEST(Transpose, LayoutsOfHalves) { move_all_layouts<uint16_t>(transposed); }
TEST(Transpose, LayoutsOfWords) { move_all_layouts<int32_t>(transposed); }

TEST(Copy, HalvesOfColumns) {
  const DeviceArray<int32_t> x(std::vector<int32_t>{1, 2, 0, 0, 3, 4, 0, 0});
  Tensor left(x.data(), Dtype::i32, {2, 2}), right(x.data() + 2, Dtype::i32, {2, 2});
  left.strides = right.strides = {4, 1};
  ASSERT_TRUE(copy(left, right));
  EXPECT_EQ(x.values(), (std::vector<int32_t>{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Copy, OneElementAndABroadcastOne) {
  const DeviceArray<double> x(std::vector<double>{7}), y(4);
  ASSERT_TRUE(copy({x.data(), Dtype::f64, {}}, {y.data(), Dtype::f64, {}}));
  EXPECT_EQ(y.values()[0], 7);
  Tensor spread(x.data(), Dtype::f64, {4});
  spread.strides[0] = 0;
  ASSERT_TRUE(copy(spread, {y.data(), Dtype::f64, {4}}));
  EXPECT_EQ(y.values(), (std::vector<double>{7, 7, 7, 7}));
}

TEST(Copy, SaysWhatIsWrong) {
  const DeviceArray<float> x(8), y(8);
  const Tensor t(x.data(), Dtype::f32, {8}), ty(y.data(), Dtype::f32, {8});
  EXPECT_EQ(copy(t, {y.data(), Dtype::f32, {7}}).message(),
            "copy: out is f32 (7) but in is f32 (8)");
  EXPECT_EQ(copy(t, {y.data(), Dtype::i32, {8}}).message(), "copy: out is i32 but in is f32");
  EXPECT_EQ(copy(t, t).message(), "copy: out and in overlap in memory");
  EXPECT_EQ(copy({nullptr, Dtype::f32, {8}}, ty).message(), "copy: in is null");
  EXPECT_EQ(copy({x.data(), Dtype::f32, {-8}}, ty).message(),
            "copy: in has a negative size: f32 (-8)");
  EXPECT_EQ(
      copy({reinterpret_cast<char*>(x.data()) + 4, Dtype::f64, {2}}, {y.data(), Dtype::f64, {2}})
          .message(),
      reinterpret_cast<uintptr_t>(x.data()) % 8 == 0
          ? "copy: in is not aligned to its elements, which are 8 bytes"
          : "");
  Tensor flat = ty;
  flat.strides[0] = 0;
  EXPECT_EQ(copy(t, flat).message(),
            "copy: out has strides (0), by which its own elements overlap");
  EXPECT_TRUE(copy({nullptr, Dtype::f32, {0, 4}}, {nullptr, Dtype::f32, {0, 4}}));
}

TEST(Transpose, OneAndMany) {
  const int64_t A = 2, B = 3, R = 33, C = 70;
  const auto values = counting<int32_t>(size_t(A * B * R * C));
  const DeviceArray<int32_t> in(values), out(values.size());
  ASSERT_TRUE(
      transpose({in.data(), Dtype::i32, {A, B, R, C}}, {out.data(), Dtype::i32, {A, B, C, R}}));
  const auto got = out.values();
  for (int64_t b = 0; b < A * B; ++b)
    for (int64_t r = 0; r < R; ++r)
      for (int64_t c = 0; c < C; ++c)
        ASSERT_EQ(got[size_t((b * C + c) * R + r)], values[size_t((b * R + r) * C + c)]);
  // A matrix with gaps on both sides; and one whose view is transposed already, so that rows stay.
  const DeviceArray<int32_t> gaps(size_t(C * (R + 3)), -1);
  Tensor from(in.data(), Dtype::i32, {R - 2, C - 5}), to(gaps.data(), Dtype::i32, {C - 5, R - 2});
  from.strides = {C, 1};
  to.strides = {R + 3, 1};
  ASSERT_TRUE(transpose(from, to));
  const auto other = gaps.values();
  for (int64_t c = 0; c < C; ++c)
    for (int64_t r = 0; r < R + 3; ++r)
      ASSERT_EQ(other[size_t(c * (R + 3) + r)],
                c < C - 5 && r < R - 2 ? values[size_t(r * C + c)] : -1);
  Tensor turned(in.data(), Dtype::i32, {C, R});
  turned.strides = {1, C};
  ASSERT_TRUE(transpose(turned, {out.data(), Dtype::i32, {R, C}}));
  const auto same = out.values();
  for (size_t i = 0; i < size_t(R * C); ++i) ASSERT_EQ(same[i], values[i]);
}

// One row or one column is a copy; matrices in two dimensions with gaps are walked.
TEST(Transpose, RowsColumnsAndManyMatrices) {
  const auto values = counting<int32_t>(2 * 3 * 7 * 40);
  const DeviceArray<int32_t> in(values), out(values.size());
  ASSERT_TRUE(
      transpose({in.data(), Dtype::i32, {6, 1, 280}}, {out.data(), Dtype::i32, {6, 280, 1}}));
  EXPECT_EQ(out.values(), values);
  const DeviceArray<int32_t> again(values.size());
  ASSERT_TRUE(transpose({in.data(), Dtype::i32, {1680, 1}}, {again.data(), Dtype::i32, {1, 1680}}));
  EXPECT_EQ(again.values(), values);
  const int64_t A = 2, B = 2, R = 7, C = 38;
  Tensor from(in.data(), Dtype::i32, {A, B, R, C});
  from.strides = {3 * R * 40, R * 40, 40, 1};
  ASSERT_TRUE(transpose(from, {out.data(), Dtype::i32, {A, B, C, R}}));
  const auto got = out.values();
  for (int64_t a = 0; a < A; ++a)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t r = 0; r < R; ++r)
        for (int64_t c = 0; c < C; ++c)
          ASSERT_EQ(got[size_t(((a * B + b) * C + c) * R + r)],
                    values[size_t(((a * 3 + b) * R + r) * 40 + c)]);
}

// Input and output lie between each other's elements without sharing any.
TEST(Movement, PartsOfOneTensor) {
  using V = std::vector<int32_t>;
  const DeviceArray<int32_t> x(V{1, 0, 2, 0, 3, 0});
  Tensor even(x.data(), Dtype::i32, {3}), odd(x.data() + 1, Dtype::i32, {3});
  even.strides[0] = odd.strides[0] = 2;
  ASSERT_TRUE(reverse(even, odd));
  EXPECT_EQ(x.values(), (V{1, 3, 2, 2, 3, 1}));
  const DeviceArray<int32_t> m(V{1, 2, 0, 0, 3, 4, 0, 0});
  Tensor a(m.data(), Dtype::i32, {2, 1}), b(m.data() + 1, Dtype::i32, {2, 1}),
      out(m.data() + 2, Dtype::i32, {2, 2});
  a.strides = b.strides = out.strides = {4, 1};
  ASSERT_TRUE(interleave(a, b, out));
  EXPECT_EQ(m.values(), (V{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Transpose, SaysWhatIsWrong) {
  const DeviceArray<float> x(12), y(12);
  const Tensor t(x.data(), Dtype::f32, {3, 4});
  EXPECT_EQ(transpose(t, {y.data(), Dtype::f32, {3, 4}}).message(),
            "transpose: out is f32 (3, 4) but must be f32 (4, 3): in is f32 (3, 4)");
  EXPECT_EQ(transpose({x.data(), Dtype::f32, {4}}, {y.data(), Dtype::f32, {4}}).message(),
            "transpose: in is f32 (4); it has to be (batch..., rows, cols)");
  EXPECT_EQ(transpose({x.data(), Dtype::f64, {2, 2}}, {y.data(), Dtype::f64, {2, 2}}).message(),
            "transpose: in is f64; it can be f32, f16, bf16, i32, u32, u8");
  EXPECT_EQ(transpose(t, {x.data(), Dtype::f32, {4, 3}}).message(),
            "transpose: out and in overlap in memory");
  EXPECT_TRUE(transpose({nullptr, Dtype::f32, {0, 4}}, {nullptr, Dtype::f32, {4, 0}}));
}

TEST(Reverse, OutOfPlaceInPlaceAndStrided) {
  using V = std::vector<int32_t>;
  const DeviceArray<int32_t> x(V{1, 2, 3, 4, 5}), y(5);
  const Tensor t(x.data(), Dtype::i32, {5}), ty(y.data(), Dtype::i32, {5});
  ASSERT_TRUE(reverse(t, ty));
  EXPECT_EQ(y.values(), (V{5, 4, 3, 2, 1}));
  ASSERT_TRUE(reverse(ty, ty));
  EXPECT_EQ(y.values(), (V{1, 2, 3, 4, 5}));
  Tensor odd(x.data(), Dtype::i32, {3});
  odd.strides[0] = 2;
  ASSERT_TRUE(reverse(odd, {y.data(), Dtype::i32, {3}}));
  EXPECT_EQ(y.values(), (V{5, 3, 1, 4, 5}));
  const DeviceArray<double> d(std::vector<double>{1, 2, 3}), e(3);
  const Tensor td(d.data(), Dtype::f64, {3});
  ASSERT_TRUE(reverse(td, {e.data(), Dtype::f64, {3}}));
  EXPECT_EQ(e.values(), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(reverse(td, td).message(),
            "reverse: in place, elements have up to 4 bytes; f64 have 8");
  EXPECT_EQ(reverse(odd, odd).message(), "reverse: in place, the stride must be 1; it is 2");
  EXPECT_EQ(reverse({x.data(), Dtype::i32, {4}}, {x.data() + 1, Dtype::i32, {4}}).message(),
            "reverse: out and in overlap in memory without being the same tensor");
  EXPECT_EQ(reverse({x.data(), Dtype::i32, {2, 2}}, {y.data(), Dtype::i32, {2, 2}}).message(),
            "reverse: in is i32 (2, 2); it has to be (n)");
  EXPECT_TRUE(reverse({nullptr, Dtype::i32, {0}}, {nullptr, Dtype::i32, {0}}));
}

TEST(Interleave, PlainStridedAndWide) {
  using V = std::vector<int32_t>;
  const DeviceArray<int32_t> a(V{1, 2, 3, 4}), b(V{5, 6, 7, 8}), out(8), gaps(12, -1);
  const Tensor ta(a.data(), Dtype::i32, {2, 2}), tb(b.data(), Dtype::i32, {2, 2});
  ASSERT_TRUE(interleave(ta, tb, {out.data(), Dtype::i32, {2, 4}}));
  EXPECT_EQ(out.values(), (V{1, 5, 2, 6, 3, 7, 4, 8}));
  Tensor to(gaps.data(), Dtype::i32, {2, 4});
  to.strides = {6, 1};
  ASSERT_TRUE(interleave(ta, tb, to));
  EXPECT_EQ(gaps.values(), (V{1, 5, 2, 6, -1, -1, 3, 7, 4, 8, -1, -1}));
  const DeviceArray<double> d(std::vector<double>{1, 2}), e(std::vector<double>{3, 4}), f(4);
  ASSERT_TRUE(interleave({d.data(), Dtype::f64, {2}}, {e.data(), Dtype::f64, {2}},
                         {f.data(), Dtype::f64, {4}}));
  EXPECT_EQ(f.values(), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(interleave(ta, tb, {out.data(), Dtype::i32, {4, 2}}).message(),
            "interleave: out is i32 (4, 2) but must be i32 (2, 4): a is i32 (2, 2)");
  EXPECT_EQ(interleave(ta, {b.data(), Dtype::i32, {4}}, to).message(),
            "interleave: b is i32 (4) but a is i32 (2, 2)");
  EXPECT_EQ(interleave({out.data(), Dtype::i32, {4}}, {a.data(), Dtype::i32, {4}},
                       {out.data(), Dtype::i32, {8}})
                .message(),
            "interleave: out and a overlap in memory");
  const Tensor none(nullptr, Dtype::u8, {0});
  EXPECT_TRUE(interleave(none, none, none));
}

TEST(Swap, PlainGapsAndWide) {
  using V = std::vector<int32_t>;
  const DeviceArray<int32_t> x(V{1, 2, 3, 4, 5, 6}), y(V{7, 8, 9, 10});
  Tensor tx(x.data(), Dtype::i32, {2, 2});
  tx.strides = {3, 1};
  const Tensor ty(y.data(), Dtype::i32, {2, 2});
  run_as_graph([&](cudaStream_t stream) { return swap(tx, ty, stream); }, 1);
  EXPECT_EQ(x.values(), (V{7, 8, 3, 9, 10, 6}));
  EXPECT_EQ(y.values(), (V{1, 2, 4, 5}));
  const DeviceArray<double> d(std::vector<double>{1, 2}), e(std::vector<double>{3, 4});
  ASSERT_TRUE(swap({d.data(), Dtype::f64, {2}}, {e.data(), Dtype::f64, {2}}));
  EXPECT_EQ(d.values(), (std::vector<double>{3, 4}));
  EXPECT_EQ(e.values(), (std::vector<double>{1, 2}));
  Tensor turned = ty;
  turned.strides = {1, 2};
  EXPECT_EQ(swap(tx, turned).message(),
            "swap: y has strides (1, 2); it must have stride 1 in the dimension in which x has its "
            "least stride");
  EXPECT_EQ(swap(ty, ty).message(), "swap: y and x overlap in memory");
  EXPECT_EQ(swap(tx, {y.data(), Dtype::i32, {4}}).message(),
            "swap: y is i32 (4) but x is i32 (2, 2)");
  EXPECT_TRUE(swap({nullptr, Dtype::u8, {0}}, {nullptr, Dtype::u8, {0}}));
}

TEST(Embedding, LooksUpAndAddsBack) {
  const int64_t V = 5, D = 3;
  const DeviceArray<float> table(counting<float>(size_t(V * D))), out(size_t(2 * 2 * 4), -1.f);
  const DeviceArray<int32_t> tokens(std::vector<int32_t>{4, 0, 99, 2, 4, 99});
  // Two by two tokens with a gap, rows of the output 4 apart.
  Tensor t(tokens.data(), Dtype::i32, {2, 2}), rows(out.data(), Dtype::f32, {2, 2, D});
  t.strides = {3, 1};
  rows.strides = {8, 4, 1};
  const Tensor tt(table.data(), Dtype::f32, {V, D});
  ASSERT_TRUE(embedding(t, tt, rows));
  EXPECT_EQ(out.values(),
            (std::vector<float>{13, 14, 15, -1, 1, 2, 3, -1, 7, 8, 9, -1, 13, 14, 15, -1}));

  const DeviceArray<float> dtable(size_t(V * D), 1.f);
  const Tensor td(dtable.data(), Dtype::f32, {V, D});
  size_t bytes = 0;
  ASSERT_TRUE(embedding_backward(t, rows, td, Workspace::ask(bytes)));
  const DeviceArray<char> workspace(bytes + 1);
  run_as_graph(
      [&](cudaStream_t stream) {
        return embedding_backward(t, rows, td, {workspace.data(), bytes}, stream);
      },
      1);
  EXPECT_EQ(dtable.values(), (std::vector<float>{2, 3, 4, 1, 1, 1, 8, 9, 10, 1, 1, 1, 27, 29, 31}));
  if (bytes > 0) {
    EXPECT_EQ(embedding_backward(t, rows, td, {workspace.data(), bytes - 1}).message(),
              "embedding_backward: the workspace has " + std::to_string(bytes - 1) +
                  " bytes, but takes " + std::to_string(bytes));
    EXPECT_EQ(embedding_backward(t, rows, td, {nullptr, bytes}).message(),
              "embedding_backward: the workspace is null");
  }
  EXPECT_EQ(embedding_backward(t, rows, td, {workspace.data() + 1, bytes}).message(),
            "embedding_backward: the workspace is not aligned to 16 bytes");
}

TEST(Embedding, SaysWhatIsWrong) {
  const DeviceArray<float> table(12), out(12);
  const DeviceArray<int32_t> tokens(8);
  const Tensor t(tokens.data(), Dtype::i32, {4}), tt(table.data(), Dtype::f32, {4, 3}),
      to(out.data(), Dtype::f32, {4, 3});
  EXPECT_EQ(embedding({tokens.data(), Dtype::i64, {4}}, tt, to).message(),
            "embedding: tokens is i64; it can be i32");
  EXPECT_EQ(embedding(t, {table.data(), Dtype::f32, {12}}, to).message(),
            "embedding: table is f32 (12); it has to be (vocab, dim)");
  EXPECT_EQ(
      embedding(t, tt, {out.data(), Dtype::f32, {3, 4}}).message(),
      "embedding: out is f32 (3, 4) but must be f32 (4, 3): tokens is i32 (4) and table is f32 "
      "(4, 3)");
  EXPECT_EQ(embedding(t, tt, {out.data(), Dtype::bf16, {4, 3}}).message(),
            "embedding: out is bf16 but table is f32");
  EXPECT_EQ(
      embedding(t, {table.data(), Dtype::i32, {4, 3}}, {out.data(), Dtype::i32, {4, 3}}).message(),
      "embedding: table is i32; it can be f32, f16, bf16");
  EXPECT_EQ(embedding(t, tt, {table.data(), Dtype::f32, {4, 3}}).message(),
            "embedding: out and table overlap in memory");
  EXPECT_EQ(embedding(t, {nullptr, Dtype::f32, {4, 3}}, to).message(), "embedding: table is null");
  EXPECT_EQ(embedding(t, {nullptr, Dtype::f32, {0, 3}}, to).message(),
            "embedding: table has no rows");
  Tensor steps = t;
  steps.strides[0] = 2;
  EXPECT_EQ(embedding(steps, tt, to).message(),
            "embedding: tokens has strides (2); it must have a dimension in which its stride is 1");
  EXPECT_EQ(embedding_backward(t, to, {table.data(), Dtype::bf16, {4, 3}}, {}).message(),
            "embedding_backward: dtable is bf16; it can be f32");
  const Tensor deep(tokens.data(), Dtype::i32, {1, 1, 1, 1, 1, 1, 1, 3});
  EXPECT_EQ(
      embedding(deep, tt, {out.data(), Dtype::f32, {1, 1, 1, 1, 1, 1, 1, 3}}).message(),
      "embedding: out would have 9 dimensions, but at most 8 are possible: tokens is i32 (1, 1, "
      "1, 1, 1, 1, 1, 3) and table is f32 (4, 3)");
  const Tensor none(nullptr, Dtype::i32, {0});
  EXPECT_TRUE(embedding(none, tt, {nullptr, Dtype::f32, {0, 3}}));
  EXPECT_TRUE(embedding_backward(none, {nullptr, Dtype::f32, {0, 3}}, tt, {}));
}

}  // namespace
}  // namespace ridge
