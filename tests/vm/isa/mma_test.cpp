// Every shape and type of mma and mma.sp against a plain product, on integers small enough for
// every result to be exact. Elements are put into registers by the formulas of the PTX
// documentation, with g = lane / 4 and t = lane % 4.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "run_fragments.h"
#include "vm/isa/half.h"

namespace ridge::vm::test {
namespace {

using Matrix = std::vector<std::vector<double>>;
Matrix matrix(int rows, int columns) {
  return Matrix(size_t(rows), std::vector<double>(size_t(columns)));
}

struct Kind {
  std::string name;
  int bits;
  int low, high;  // integers it holds exactly, and whose products stay exact in any accumulator
};
const std::map<std::string, Kind> kKinds = {
    {"f16", {"f16", 16, -8, 8}},    {"bf16", {"bf16", 16, -8, 8}}, {"tf32", {"tf32", 32, -8, 8}},
    {"f64", {"f64", 64, -99, 99}},  {"e4m3", {"e4m3", 8, -4, 4}},  {"e5m2", {"e5m2", 8, -4, 4}},
    {"s8", {"s8", 8, -128, 127}},   {"u8", {"u8", 8, 0, 255}},     {"s4", {"s4", 4, -8, 7}},
    {"u4", {"u4", 4, 0, 15}},       {"b1", {"b1", 1, 0, 1}},       {"f32", {"f32", 32, -99, 99}},
    {"s32", {"s32", 32, -999, 999}}};

uint64_t encode(const std::string& kind, double x) {
  if (kind == "f64") return bits_of(x);
  if (kind == "f32" || kind == "tf32") return bits_of(float(x));
  if (kind == "f16") return float_to_half(float(x));
  if (kind == "bf16") return float_to_brain(float(x));
  if (kind == "e4m3") return round_to(kFormatE4m3, x, Round::rn);
  if (kind == "e5m2") return round_to(kFormatE5m2, x, Round::rn);
  const int bits = kKinds.at(kind).bits;
  return uint64_t(int64_t(x)) & ((1ull << bits) - 1);
}
double decode_sum(const std::string& kind, uint64_t bits) {
  if (kind == "f64") return double_of(bits);
  if (kind == "f32") return float_of(uint32_t(bits));
  if (kind == "f16") return half_to_float(uint16_t(bits));
  return int32_t(uint32_t(bits));
}

struct Form {
  int m, n, k;
  std::string d, a, b, c;
  std::string tail;  // ".and.popc"
  bool satfinite = false;
};
std::string spelling_of(const Form& f, const std::string& root) {
  return root + ".sync.aligned.m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" +
         std::to_string(f.k) + ".row.col." + (f.satfinite ? "satfinite." : "") + f.d + "." + f.a +
         "." + f.b + "." + f.c + f.tail;
}

std::mt19937& random() {
  static std::mt19937 generator(20260101);
  return generator;
}
double any(const std::string& kind) {
  const Kind& k = kKinds.at(kind);
  return k.low + int(random()() % uint32_t(k.high - k.low + 1));
}
Matrix any_matrix(int rows, int columns, const std::string& kind) {
  Matrix x = matrix(rows, columns);
  for (auto& row : x)
    for (double& e : row) e = any(kind);
  return x;
}

// A, `k` columns wide as stored: rows g and g + 8 by turns, four lanes share a row.
Registers place_a(const Matrix& a, int m, int k, const std::string& kind) {
  const int bits = kKinds.at(kind).bits, per = bits == 64 ? 1 : 32 / bits;
  const int elements = m * k / 32;
  Registers r(size_t(elements / per), bits == 64);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      const int g = lane / 4, t = lane % 4, word = i / per;
      const int row = g + (m == 16 && word % 2 ? 8 : 0);
      const int column = (m == 16 ? word / 2 : word) * 4 * per + t * per + i % per;
      r.put(lane, i, bits, encode(kind, a[size_t(row)][size_t(column)]));
    }
  return r;
}
Registers place_b(const Matrix& b, int k, const std::string& kind) {
  const int bits = kKinds.at(kind).bits, per = bits == 64 ? 1 : 32 / bits;
  const int elements = k * 8 / 32;
  Registers r(size_t(elements / per), bits == 64);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      const int row = i / per * 4 * per + lane % 4 * per + i % per;
      r.put(lane, i, bits, encode(kind, b[size_t(row)][size_t(lane / 4)]));
    }
  return r;
}
// Element i of C and D.
std::pair<int, int> place_c(int lane, int i) {
  return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2};
}
size_t sum_count(const Form& f, const std::string& kind) {
  return size_t(f.m * f.n / (kind == "f16" ? 64 : 32));
}

void check(const Form& f, const std::string& root, const Matrix& a, const Matrix& b, Registers& ra,
           Registers& rb, Registers* metadata = nullptr, uint32_t selector = 0) {
  const std::string spelling = spelling_of(f, root);
  const int bits_c = kKinds.at(f.c).bits, bits_d = kKinds.at(f.d).bits;
  Matrix c = any_matrix(f.m, f.n, f.c);
  if (f.c == "f16")
    for (auto& row : c)
      for (double& e : row) e = int(e) % 50;
  Registers rc(sum_count(f, f.c), bits_c == 64), rd(sum_count(f, f.d), bits_d == 64);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < f.m * f.n / 32; ++i) {
      const auto [row, column] = place_c(lane, i);
      rc.put(lane, i, bits_c, encode(f.c, c[size_t(row)][size_t(column)]));
    }
  std::vector<Registers*> sources = {&ra, &rb, &rc};
  if (metadata) sources.push_back(metadata);
  run(spelling, rd, sources, metadata ? std::vector<uint32_t>{selector} : std::vector<uint32_t>{});
  if (testing::Test::HasFatalFailure()) return;
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < f.m * f.n / 32; ++i) {
      const auto [row, column] = place_c(lane, i);
      double sum = c[size_t(row)][size_t(column)];
      for (int k = 0; k < f.k; ++k) {
        const double x = a[size_t(row)][size_t(k)], y = b[size_t(k)][size_t(column)];
        sum += f.tail == ".and.popc"   ? double(int(x) & int(y))
               : f.tail == ".xor.popc" ? double(int(x) ^ int(y))
                                       : x * y;
      }
      const double got = decode_sum(f.d, rd.get(lane, i, bits_d));
      if (got != sum && wrong++ < 3)
        ADD_FAILURE() << spelling << " (" << row << ", " << column << ") is " << got << ", not "
                      << sum;
    }
}

void check_dense(const Form& f) {
  const Matrix a = any_matrix(f.m, f.k, f.a), b = any_matrix(f.k, f.n, f.b);
  Registers ra = place_a(a, f.m, f.k, f.a), rb = place_b(b, f.k, f.b);
  check(f, "mma", a, b, ra, rb);
}

TEST(Mma, FloatShapes) {
  for (int k : {8, 16}) {
    check_dense({16, 8, k, "f32", "f16", "f16", "f32", ""});
    check_dense({16, 8, k, "f16", "f16", "f16", "f16", ""});
    check_dense({16, 8, k, "f32", "bf16", "bf16", "f32", ""});
  }
  for (int k : {4, 8}) check_dense({16, 8, k, "f32", "tf32", "tf32", "f32", ""});
  for (int k : {16, 32})
    for (const char* a : {"e4m3", "e5m2"})
      for (const char* b : {"e4m3", "e5m2"})
        for (const char* sum : {"f16", "f32"}) check_dense({16, 8, k, sum, a, b, sum, ""});
}

TEST(Mma, DoubleShapes) {
  check_dense({8, 8, 4, "f64", "f64", "f64", "f64", ""});
  for (int k : {4, 8, 16}) check_dense({16, 8, k, "f64", "f64", "f64", "f64", ""});
}

TEST(Mma, IntegerShapes) {
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"})
      for (bool satfinite : {false, true}) {
        check_dense({8, 8, 16, "s32", a, b, "s32", "", satfinite});
        for (int k : {16, 32}) check_dense({16, 8, k, "s32", a, b, "s32", "", satfinite});
      }
  for (const char* a : {"s4", "u4"})
    for (const char* b : {"s4", "u4"}) {
      check_dense({8, 8, 32, "s32", a, b, "s32", ""});
      for (int k : {32, 64}) check_dense({16, 8, k, "s32", a, b, "s32", ""});
    }
  for (const char* tail : {".and.popc", ".xor.popc"}) {
    check_dense({8, 8, 128, "s32", "b1", "b1", "s32", tail});
    for (int k : {128, 256}) check_dense({16, 8, k, "s32", "b1", "b1", "s32", tail});
  }
}

TEST(Mma, IntegersWrapOrSaturate) {
  const Form f{8, 8, 16, "s32", "u8", "u8", "s32", ""};
  Matrix a = matrix(8, 16), b = matrix(16, 8);
  a[0][0] = b[0][0] = 255;
  Registers ra = place_a(a, 8, 16, "u8"), rb = place_b(b, 16, "u8"), rc(2, false), rd(2, false);
  rc.put(0, 0, 32, 0x7fffffff);
  run(spelling_of(f, "mma"), rd, {&ra, &rb, &rc});
  EXPECT_EQ(rd.get(0, 0, 32), 0x7fffffffu + 255u * 255u);
  Form saturating = f;
  saturating.satfinite = true;
  run(spelling_of(saturating, "mma"), rd, {&ra, &rb, &rc});
  EXPECT_EQ(rd.get(0, 0, 32), 0x7fffffffu);
}

// --- sparse A ---

void check_sparse(const Form& f, const std::string& root, uint32_t selector) {
  const int bits = kKinds.at(f.a).bits;
  const Matrix b = any_matrix(f.k, f.n, f.b);
  Matrix a = matrix(f.m, f.k), stored = matrix(f.m, f.k / 2);
  Registers metadata(1, false);
  const int group = bits == 32 ? 2 : bits == 4 ? 8 : 4;  // columns
  for (int row = 0; row < f.m; ++row)
    for (int first = 0; first < f.k; first += group) {
      // Two of four units: elements, or pairs of 4-bit ones; of tf32, one of two.
      uint32_t p = random()() % 3, q = p + 1 + random()() % (3 - p);
      if (bits == 32) p = random()() % 2 * 2, q = p + 1;  // 0100 or 1110
      const int unit = bits == 4 ? 2 : 1, units = bits == 32 ? 1 : 2;
      for (int u = 0; u < units; ++u)
        for (int e = 0; e < unit; ++e) {
          const double x = any(f.a);
          const int column = first + (bits == 32 ? int(p) / 2 : int(u ? q : p) * unit) + e;
          a[size_t(row)][size_t(column)] = x;
          stored[size_t(row)][size_t(first / 2 + u * unit + e)] = x;
        }
      const uint32_t four = p | q << 2;
      // Bits of this row, counted from the first group.
      const int bit = first / group * 4, g = row % 8, upper = row / 8;
      int lane, shift;
      if (bits >= 16 && f.k * bits == 256) {  // lane `selector` of the four
        lane = 4 * g + int(selector);
        shift = bit + 16 * upper;
      } else if (bits >= 16) {  // a pair of lanes
        lane = 4 * g + 2 * int(selector) + bit / 16;
        shift = bit % 16 + 16 * upper;
      } else if (f.k * bits == 256) {  // a pair of lanes, one per row
        lane = 4 * g + 2 * int(selector) + upper;
        shift = bit;
      } else {
        lane = 4 * g + bit / 32 * 2 + upper;
        shift = bit % 32;
      }
      metadata[0][size_t(lane)] |= uint64_t(four) << shift;
    }
  Registers ra = place_a(stored, f.m, f.k / 2, f.a), rb = place_b(b, f.k, f.b);
  check(f, root, a, b, ra, rb, &metadata, selector);
}

TEST(Mma, SparseShapes) {
  for (const std::string root : {"mma.sp", "mma.sp::ordered_metadata"}) {
    for (uint32_t selector : {0, 1, 2, 3}) {
      for (const char* sum : {"f16", "f32"})
        check_sparse({16, 8, 16, sum, "f16", "f16", sum, ""}, root, selector);
      check_sparse({16, 8, 16, "f32", "bf16", "bf16", "f32", ""}, root, selector);
      check_sparse({16, 8, 8, "f32", "tf32", "tf32", "f32", ""}, root, selector);
    }
    for (uint32_t selector : {0, 1}) {
      for (const char* sum : {"f16", "f32"})
        check_sparse({16, 8, 32, sum, "f16", "f16", sum, ""}, root, selector);
      check_sparse({16, 8, 32, "f32", "bf16", "bf16", "f32", ""}, root, selector);
      check_sparse({16, 8, 16, "f32", "tf32", "tf32", "f32", ""}, root, selector);
      check_sparse({16, 8, 32, "s32", "s8", "u8", "s32", ""}, root, selector);
      check_sparse({16, 8, 64, "s32", "u4", "s4", "s32", ""}, root, selector);
    }
    check_sparse({16, 8, 64, "s32", "s8", "s8", "s32", ""}, root, 0);
    check_sparse({16, 8, 64, "s32", "u8", "s8", "s32", "", true}, root, 0);
    check_sparse({16, 8, 128, "s32", "s4", "u4", "s32", ""}, root, 0);
    for (const char* a : {"e4m3", "e5m2"})
      for (const char* b : {"e4m3", "e5m2"})
        check_sparse({16, 8, 64, "f32", a, b, "f32", ""}, root, 0);
  }
}

// --- m8n8k4 on f16: four products, each by two quads ---

TEST(Mma, QuadPairs) {
  for (const bool a_row : {false, true})
    for (const bool b_row : {false, true})
      for (const std::string d : {"f32", "f16"})
        for (const std::string c : {"f32", "f16"}) {
          if (d == "f16" && c == "f32") continue;
          Matrix a[4], b[4], sum[4];
          for (int q = 0; q < 4; ++q) {
            a[q] = any_matrix(8, 4, "f16");
            b[q] = any_matrix(4, 8, "f16");
            sum[q] = any_matrix(8, 8, "f16");
          }
          const auto place = [](const std::string& kind, int lane, int i) {
            const int upper = lane < 16 ? 0 : 4;
            if (kind == "f16") return std::pair(lane % 4 + upper, i);
            return std::pair((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1));
          };
          Registers ra(2, false), rb(2, false), rc(c == "f16" ? 4 : 8, false),
              rd(d == "f16" ? 4 : 8, false);
          for (int lane = 0; lane < 32; ++lane) {
            const int q = lane % 16 / 4, in = lane % 4, upper = lane < 16 ? 0 : 4;
            for (int i = 0; i < 4; ++i) {
              const double x =
                  a_row ? a[q][size_t(in + upper)][size_t(i)] : a[q][size_t(i + upper)][size_t(in)];
              const double y =
                  b_row ? b[q][size_t(in)][size_t(i + upper)] : b[q][size_t(i)][size_t(in + upper)];
              ra.put(lane, i, 16, encode("f16", x));
              rb.put(lane, i, 16, encode("f16", y));
            }
            for (int i = 0; i < 8; ++i) {
              const auto [row, column] = place(c, lane, i);
              rc.put(lane, i, c == "f16" ? 16 : 32, encode(c, sum[q][size_t(row)][size_t(column)]));
            }
          }
          const std::string spelling = "mma.sync.aligned.m8n8k4." +
                                       std::string(a_row ? "row." : "col.") +
                                       (b_row ? "row." : "col.") + d + ".f16.f16." + c;
          run(spelling, rd, {&ra, &rb, &rc});
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 8; ++i) {
              const int q = lane % 16 / 4;
              const auto [row, column] = place(d, lane, i);
              double want = sum[q][size_t(row)][size_t(column)];
              for (int k = 0; k < 4; ++k)
                want += a[q][size_t(row)][size_t(k)] * b[q][size_t(k)][size_t(column)];
              EXPECT_EQ(decode_sum(d, rd.get(lane, i, d == "f16" ? 16 : 32)), want)
                  << spelling << " lane " << lane << " element " << i;
            }
        }
}

// --- what is not exact: the accumulator ---

// One row times one column, and C, of m16n8k16 on f16.
float dot(const std::vector<double>& a, const std::vector<double>& b, float c,
          const std::string& kind = "f16") {
  Matrix ma = matrix(16, 16), mb = matrix(16, 8);
  for (size_t k = 0; k < a.size(); ++k) {
    ma[0][k] = a[k];
    mb[k][0] = b[k];
  }
  Registers ra = place_a(ma, 16, 16, kind), rb = place_b(mb, 16, kind), rc(4, false), rd(4, false);
  rc.put(0, 0, 32, bits_of(c));
  run(spelling_of({16, 8, 16, "f32", kind, kind, "f32", ""}, "mma"), rd, {&ra, &rb, &rc});
  return float_of(uint32_t(rd.get(0, 0, 32)));
}

TEST(MmaAccumulator, KeepsTwoBitsBelowF32) {
  // 2^-24 and 2^-25 beside 1 are kept while adding, 2^-26 is not; the result is cut off.
  const double tiny = 0x1p-12;
  EXPECT_EQ(dot({1, tiny, tiny}, {1, tiny, tiny}, 0), 1 + 0x1p-23f);
  EXPECT_EQ(dot({1, tiny, tiny, tiny, tiny}, {1, tiny / 2, tiny / 2, tiny / 2, tiny / 2}, 0),
            1 + 0x1p-23f);
  EXPECT_EQ(
      dot({1, tiny, tiny, tiny, tiny, tiny, tiny, tiny, tiny},
          {1, tiny / 4, tiny / 4, tiny / 4, tiny / 4, tiny / 4, tiny / 4, tiny / 4, tiny / 4}, 0),
      1.0f);
}
TEST(MmaAccumulator, CutsOffTowardsZero) {
  EXPECT_EQ(dot({0x1p-12}, {0x1.8p-12}, 1.0f), 1.0f);
  EXPECT_EQ(dot({-0x1p-12}, {0x1.8p-12}, -1.0f), -1.0f);
}
TEST(MmaAccumulator, AlignsToTheLargestTerm) {
  // A large term hides a small one even where it cancels.
  EXPECT_EQ(dot({0x1p14, -0x1p14, 1}, {1, 1, 0x1p-12}, 0), 0.0f);
  EXPECT_EQ(dot({0x1p13, -0x1p13, 1}, {1, 1, 0x1p-12}, 0), 0x1p-12f);
}
TEST(MmaAccumulator, SpecialValues) {
  const double inf = INFINITY;
  EXPECT_EQ(dot({inf, 1}, {1, 1}, 0), INFINITY);
  EXPECT_EQ(bits_of(dot({inf, 1}, {0, 1}, 0)), kNan32);
  EXPECT_EQ(bits_of(dot({inf, -inf}, {1, 1}, 0)), kNan32);
  EXPECT_EQ(bits_of(dot({1}, {1}, NAN)), kNan32);
  EXPECT_EQ(dot({1}, {1}, -INFINITY), -INFINITY);
  EXPECT_EQ(bits_of(dot({-0.0}, {1}, -0.0f)), 0u);
}
// Beyond what f32's exponents allow one product after the other.
TEST(MmaAccumulator, WideExponents) {
  EXPECT_EQ(dot({0x1p100, -0x1p100, 1}, {0x1p100, 0x1p100, 1}, 0, "bf16"), 0.0f);
  EXPECT_EQ(dot({0x1p100}, {0x1p100}, 0, "bf16"), INFINITY);
  EXPECT_EQ(dot({0x1p100}, {0x1p27}, 0, "bf16"), 0x1p127f);
  EXPECT_EQ(dot({0x1p-100, 0x1p-100}, {0x1p-40, 0x1p-49}, 0, "bf16"), 0x1p-140f + 0x1p-149f);
  EXPECT_EQ(dot({0x1p-100}, {0x1p-60}, 0, "bf16"), 0.0f);
  EXPECT_EQ(dot({0x1p60}, {0x1p60}, 0x1p121f, "bf16"), 0x1.8p121f);
}

TEST(Mma, RefusesWhatPtxHasNot) {
  std::string error;
  for (const char* spelling :
       {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f32.f16.f16",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sync.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
        "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
        "mma.sp.sync.aligned.m16n8k128.row.col.s32.s8.s8.s32",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite",
        "wmma.mma.sync.aligned.col.col.m8n8k32.s32.s4.s4.s32",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4", "wmma.load.b.sync.aligned.row.m8n8k128.b1",
        "ldmatrix.sync.aligned.m8n8.x4.global.b16", "ldmatrix.sync.aligned.m16n16.x1.trans.b8",
        "movmatrix.sync.aligned.m8n8.b16"})
    EXPECT_EQ(find_instruction(spelling, &error), nullptr) << spelling;
}

}  // namespace
}  // namespace ridge::vm::test
