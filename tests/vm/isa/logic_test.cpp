// Logic, shifts and byte permutation against their definitions.
#include "lane_harness.h"

namespace ridge::vm::test {
namespace {

template <class T>
class LogicTest : public ::testing::Test {};
using BitTypes = ::testing::Types<uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(LogicTest, BitTypes);

TYPED_TEST(LogicTest, BitwiseAndShifts) {
  using U = TypeParam;
  using S = std::make_signed_t<U>;
  constexpr uint32_t kBits = 8 * sizeof(U);
  const std::string n = std::to_string(kBits);
  expect_lanes<U, U, U>("and.b" + n, [](U a, U b) { return U(a & b); });
  expect_lanes<U, U, U>("or.b" + n, [](U a, U b) { return U(a | b); });
  expect_lanes<U, U, U>("xor.b" + n, [](U a, U b) { return U(a ^ b); });
  expect_lanes<U, U>("not.b" + n, [](U a) { return U(~a); });
  expect_lanes<U, U>("cnot.b" + n, [](U a) { return U(a == 0 ? 1 : 0); });
  const auto right = [&](U a, uint32_t by) {
    for (uint32_t i = 0; i < std::min(by, kBits); ++i) a = U(a >> 1);
    return a;
  };
  expect_lanes<U, U, uint32_t>("shl.b" + n, [&](U a, uint32_t by) {
    for (uint32_t i = 0; i < std::min(by, kBits); ++i) a = U(a << 1);
    return a;
  });
  expect_lanes<U, U, uint32_t>("shr.b" + n, right);
  expect_lanes<U, U, uint32_t>("shr.u" + n, right);
  expect_lanes<S, S, uint32_t>("shr.s" + n, [&](S a, uint32_t by) {
    for (uint32_t i = 0; i < std::min(by, kBits); ++i) a = S(a >> 1);
    return a;
  });
}

TEST(Logic, Predicates) {
  Inputs inputs(1);
  for (int round = 0; round < 50; ++round) {
    LaneHarness h;
    const uint32_t a = uint32_t(inputs.bits()), b = uint32_t(inputs.bits()),
                   old = uint32_t(inputs.bits());
    const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
    const auto expect = [&](const char* spelling, std::initializer_list<uint32_t> sources,
                            uint32_t want) {
      h.put_pred(0, old), h.put_pred(1, a), h.put_pred(2, b);
      h.run(spelling, 0, sources, mask);
      EXPECT_EQ(h.get_pred(0), (old & ~mask) | (want & mask)) << spelling;
    };
    expect("and.pred", {h.offset(1), h.offset(2)}, a & b);
    expect("or.pred", {h.offset(1), h.negated(2)}, a | ~b);
    expect("xor.pred", {h.offset(1), h.offset(2)}, a ^ b);
    expect("not.pred", {h.offset(1)}, ~a);
  }
}

uint32_t lut_reference(uint32_t a, uint32_t b, uint32_t c, uint32_t lut) {
  uint32_t d = 0;
  for (int i = 0; i < 32; ++i) {
    const uint32_t row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    d |= (lut >> row & 1) << i;
  }
  return d;
}

TEST(Logic, Lop3) {
  Inputs inputs(2);
  for (uint32_t lut = 0; lut < 256; ++lut) {
    const auto fill = [&]<class T>(int source) {
      Lanes<T> lanes = inputs.lanes<T>();
      if (source == 3) lanes.fill(T(lut));
      return lanes;
    };
    using U = uint32_t;
    expect_lanes_from<U, U, U, U, U>("lop3.b32", lut_reference, fill, 2);
  }
}

TEST(Logic, Lop3WithPredicate) {
  Inputs inputs(2);
  for (int round = 0; round < 100; ++round) {
    LaneHarness h;
    const uint32_t lut = uint32_t(inputs.bits() & 255), q = uint32_t(inputs.bits());
    const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
    const auto a = inputs.lanes<uint32_t>(), b = inputs.lanes<uint32_t>(),
               c = inputs.lanes<uint32_t>();
    Lanes<uint32_t> luts;
    luts.fill(lut);
    const bool is_and = round % 4 < 2;
    h.put(1, a), h.put(2, b), h.put(3, c), h.put(4, luts), h.put_pred(5, q), h.put_pred(6, 0);
    h.run(is_and ? "lop3.and.b32" : "lop3.or.b32", 0,
          {h.offset(1), h.offset(2), h.offset(3), h.offset(4), h.negated(5)}, mask, 6);
    for (int i = 0; i < kWarpSize; ++i) {
      if (!(mask >> i & 1)) continue;
      const uint32_t d = lut_reference(a[i], b[i], c[i], lut);
      EXPECT_EQ(h.get<uint32_t>(0)[size_t(i)], d);
      const bool other = !(q >> i & 1);
      EXPECT_EQ(h.get_pred(6) >> i & 1, is_and ? d != 0 && other : d != 0 || other);
    }
    EXPECT_EQ(h.get_pred(6) & ~mask, 0u);
  }
}

TEST(Logic, FunnelShift) {
  using U = uint32_t;
  const auto left = [](U a, U b, uint32_t n) {
    return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
  };
  const auto right = [](U a, U b, uint32_t n) {
    return n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
  };
  expect_lanes<U, U, U, U>("shf.l.wrap.b32", [&](U a, U b, U c) { return left(a, b, c & 31); });
  expect_lanes<U, U, U, U>("shf.l.clamp.b32",
                           [&](U a, U b, U c) { return left(a, b, std::min(c, 32u)); });
  expect_lanes<U, U, U, U>("shf.r.wrap.b32", [&](U a, U b, U c) { return right(a, b, c & 31); });
  expect_lanes<U, U, U, U>("shf.r.clamp.b32",
                           [&](U a, U b, U c) { return right(a, b, std::min(c, 32u)); });
}

TEST(Logic, Permute) {
  using U = uint32_t;
  const auto byte = [](U a, U b, U index) {
    return (index < 4 ? a >> (8 * index) : b >> (8 * (index - 4))) & 0xff;
  };
  expect_lanes<U, U, U, U>("prmt.b32", [&](U a, U b, U c) {
    U d = 0;
    for (int i = 0; i < 4; ++i) {
      const U nibble = c >> (4 * i) & 15;
      U value = byte(a, b, nibble & 7);
      if (nibble & 8) value = value >> 7 ? 0xff : 0;
      d |= value << (8 * i);
    }
    return d;
  });
  // Result byte i of each mode, for a selector s.
  const struct {
    const char* mode;
    U (*index)(U i, U s);
  } modes[] = {
      {"f4e", [](U i, U s) { return s + i; }},
      {"b4e", [](U i, U s) { return (s - i) & 7; }},
      {"rc8", [](U, U s) { return s; }},
      {"ecl", [](U i, U s) { return std::max(i, s); }},
      {"ecr", [](U i, U s) { return std::min(i, s); }},
      {"rc16", [](U i, U s) { return 2 * (s & 1) + (i & 1); }},
  };
  for (const auto& mode : modes)
    expect_lanes<U, U, U, U>(std::string("prmt.b32.") + mode.mode, [&](U a, U b, U c) {
      U d = 0;
      for (U i = 0; i < 4; ++i) d |= byte(a, b, mode.index(i, c & 3)) << (8 * i);
      return d;
    });
}

}  // namespace
}  // namespace ridge::vm::test
