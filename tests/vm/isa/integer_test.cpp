// Integer arithmetic and the carry chain against 128-bit arithmetic.
#include "lane_harness.h"

namespace ridge::vm::test {
namespace {

using I128 = __int128;
using U128 = unsigned __int128;

template <class T>
std::string name() {
  return std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}
template <class T>
I128 exact(T x) {
  return I128(x);
}
// The low bits of an exact result.
template <class T>
T low(I128 x) {
  return T(U128(x));
}
I128 clamp(I128 x, I128 least, I128 most) { return x < least ? least : x > most ? most : x; }

template <class T>
class IntegerTest : public ::testing::Test {};
using IntTypes = ::testing::Types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>;
TYPED_TEST_SUITE(IntegerTest, IntTypes);

TYPED_TEST(IntegerTest, SumsAndProducts) {
  using T = TypeParam;
  const std::string t = name<T>();
  expect_lanes<T, T, T>("add." + t, [](T a, T b) { return low<T>(exact(a) + exact(b)); });
  expect_lanes<T, T, T>("sub." + t, [](T a, T b) { return low<T>(exact(a) - exact(b)); });
  expect_lanes<T, T, T>("mul.lo." + t, [](T a, T b) { return low<T>(I128(U128(a) * U128(b))); });
  const auto hi = [](T a, T b) {
    if (std::is_signed_v<T>) return low<T>((I128(a) * I128(b)) >> (8 * sizeof(T)));
    return T((U128(a) * U128(b)) >> (8 * sizeof(T)));
  };
  expect_lanes<T, T, T>("mul.hi." + t, hi);
  expect_lanes<T, T, T, T>("mad.lo." + t,
                           [](T a, T b, T c) { return low<T>(I128(U128(a) * U128(b) + U128(c))); });
  expect_lanes<T, T, T, T>("mad.hi." + t,
                           [=](T a, T b, T c) { return low<T>(exact(hi(a, b)) + exact(c)); });
  expect_lanes<T, T, T, T>("sad." + t, [](T a, T b, T c) {
    return low<T>(exact(c) + (a < b ? exact(b) - exact(a) : exact(a) - exact(b)));
  });
  expect_lanes<T, T, T>("min." + t, [](T a, T b) { return std::min(a, b); });
  expect_lanes<T, T, T>("max." + t, [](T a, T b) { return std::max(a, b); });
}

TYPED_TEST(IntegerTest, Division) {
  using T = TypeParam;
  const std::string t = name<T>();
  expect_lanes<T, T, T>(
      "div." + t, [](T a, T b) { return b == 0 ? T(-1) : low<T>(exact(a) / exact(b)); }, 400);
  expect_lanes<T, T, T>(
      "rem." + t, [](T a, T b) { return b == 0 ? T(-1) : low<T>(exact(a) % exact(b)); }, 400);
}

TYPED_TEST(IntegerTest, Sign) {
  using T = TypeParam;
  if constexpr (std::is_signed_v<T>) {
    expect_lanes<T, T>("neg." + name<T>(), [](T a) { return low<T>(-exact(a)); });
    expect_lanes<T, T>("abs." + name<T>(),
                       [](T a) { return low<T>(a < 0 ? -exact(a) : exact(a)); });
  }
}

TYPED_TEST(IntegerTest, Wide) {
  using T = TypeParam;
  if constexpr (sizeof(T) < 8) {
    using W = std::conditional_t<sizeof(T) == 2,
                                 std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                 std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    expect_lanes<W, T, T>("mul.wide." + name<T>(),
                          [](T a, T b) { return low<W>(exact(a) * exact(b)); });
    expect_lanes<W, T, T, W>("mad.wide." + name<T>(),
                             [](T a, T b, W c) { return low<W>(exact(a) * exact(b) + exact(c)); });
  }
}

TEST(Integer, Saturation) {
  constexpr I128 kMin = INT32_MIN, kMax = INT32_MAX;
  using T = int32_t;
  expect_lanes<T, T, T>("add.sat.s32", [](T a, T b) { return T(clamp(exact(a) + b, kMin, kMax)); });
  expect_lanes<T, T, T>("sub.sat.s32", [](T a, T b) { return T(clamp(exact(a) - b, kMin, kMax)); });
  expect_lanes<T, T, T, T>("mad.hi.sat.s32", [](T a, T b, T c) {
    return T(clamp((exact(a) * b >> 32) + c, kMin, kMax));
  });
  expect_lanes<T, T, T>("min.relu.s32", [](T a, T b) { return std::max(std::min(a, b), 0); });
  expect_lanes<T, T, T>("max.s32.relu", [](T a, T b) { return std::max(std::max(a, b), 0); });
}

TEST(Integer, TwentyFourBits) {
  const auto s24 = [](int32_t x) {
    return I128(x & 0x800000 ? (x & 0xffffff) - 0x1000000 : x & 0xffffff);
  };
  expect_lanes<int32_t, int32_t, int32_t>(
      "mul24.lo.s32", [&](int a, int b) { return low<int32_t>(s24(a) * s24(b)); });
  expect_lanes<int32_t, int32_t, int32_t>(
      "mul24.hi.s32", [&](int a, int b) { return low<int32_t>(s24(a) * s24(b) >> 16); });
  expect_lanes<uint32_t, uint32_t, uint32_t>("mul24.lo.u32", [](uint32_t a, uint32_t b) {
    return uint32_t(U128(a & 0xffffff) * (b & 0xffffff));
  });
  expect_lanes<uint32_t, uint32_t, uint32_t, uint32_t>(
      "mad24.hi.u32", [](uint32_t a, uint32_t b, uint32_t c) {
        return uint32_t(U128(a & 0xffffff) * (b & 0xffffff) >> 16) + c;
      });
  expect_lanes<int32_t, int32_t, int32_t, int32_t>("mad24.hi.sat.s32", [&](int a, int b, int c) {
    return int32_t(clamp(I128(low<int32_t>(s24(a) * s24(b) >> 16)) + c, INT32_MIN, INT32_MAX));
  });
}

TEST(Integer, PackedHalves) {
  const auto pack = [](int lo, int hi) {
    return uint32_t(uint16_t(lo)) | uint32_t(uint16_t(hi)) << 16;
  };
  using U = uint32_t;
  for (const char* t : {"u16x2", "s16x2"}) {
    const bool is_signed = t[0] == 's';
    const auto part = [=](U x, int h) {
      return is_signed ? int(int16_t(x >> 16 * h)) : int(uint16_t(x >> 16 * h));
    };
    const std::string s = t;
    expect_lanes<U, U, U>("add." + s, [&](U a, U b) {
      return pack(part(a, 0) + part(b, 0), part(a, 1) + part(b, 1));
    });
    expect_lanes<U, U, U>("min." + s, [&](U a, U b) {
      return pack(std::min(part(a, 0), part(b, 0)), std::min(part(a, 1), part(b, 1)));
    });
    expect_lanes<U, U, U>("max." + s, [&](U a, U b) {
      return pack(std::max(part(a, 0), part(b, 0)), std::max(part(a, 1), part(b, 1)));
    });
    if (is_signed)
      expect_lanes<U, U, U>("min.s16x2.relu", [&](U a, U b) {
        return pack(std::max(0, std::min(part(a, 0), part(b, 0))),
                    std::max(0, std::min(part(a, 1), part(b, 1))));
      });
  }
}

// --- extended precision ---

template <class T>
void expect_carry(const std::string& spelling, bool in, bool out, auto sum) {
  using U = std::make_unsigned_t<T>;
  Inputs inputs(11);
  for (int round = 0; round < 60; ++round) {
    const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
    const uint32_t carry = uint32_t(inputs.bits());
    LaneHarness h;
    const auto a = inputs.lanes<T>(), b = inputs.lanes<T>(), c = inputs.lanes<T>();
    h.put(0, a), h.put(1, a), h.put(2, b), h.put(3, c);
    h.warp().carry = carry;
    const bool mad = spelling[0] == 'm';
    if (mad) h.run(spelling, 0, {h.offset(1), h.offset(2), h.offset(3)}, mask);
    else h.run(spelling, 0, {h.offset(1), h.offset(2)}, mask);
    const auto got = h.template get<T>(0);
    for (int i = 0; i < kWarpSize; ++i) {
      const U128 flag = carry >> i & 1;
      // One bit past the width is the carry or borrow.
      const U128 exact = sum(a[i], b[i], c[i], in ? flag : 0);
      const bool active = mask >> i & 1;
      ASSERT_EQ(U(got[i]), active ? U(exact) : U(a[i])) << spelling << " lane " << i;
      const bool flag_after = exact >> (8 * sizeof(T)) & 1;
      ASSERT_EQ(h.warp().carry >> i & 1, active && out ? flag_after : bool(flag))
          << spelling << " lane " << i;
    }
  }
}
template <class T>
void expect_carries() {
  using U = std::make_unsigned_t<T>;
  const std::string t = name<T>();
  const auto add = [](T a, T b, T, U128 f) { return U128(U(a)) + U(b) + f; };
  const auto sub = [](T a, T b, T, U128 f) { return U128(U(a)) - U(b) - f; };
  const auto lo = [](T a, T b, T c, U128 f) { return U128(U(U(a) * U(b))) + U(c) + f; };
  const auto hi = [](T a, T b, T c, U128 f) {
    const U high = std::is_signed_v<T> ? U(I128(a) * I128(b) >> (8 * sizeof(T)))
                                       : U(U128(a) * U128(b) >> (8 * sizeof(T)));
    return U128(high) + U(c) + f;
  };
  expect_carry<T>("add.cc." + t, false, true, add);
  expect_carry<T>("addc." + t, true, false, add);
  expect_carry<T>("addc.cc." + t, true, true, add);
  expect_carry<T>("sub.cc." + t, false, true, sub);
  expect_carry<T>("subc." + t, true, false, sub);
  expect_carry<T>("subc.cc." + t, true, true, sub);
  expect_carry<T>("mad.lo.cc." + t, false, true, lo);
  expect_carry<T>("madc.lo." + t, true, false, lo);
  expect_carry<T>("madc.lo.cc." + t, true, true, lo);
  expect_carry<T>("mad.hi.cc." + t, false, true, hi);
  expect_carry<T>("madc.hi." + t, true, false, hi);
  expect_carry<T>("madc.hi.cc." + t, true, true, hi);
}
TEST(Carry, U32) { expect_carries<uint32_t>(); }
TEST(Carry, S32) { expect_carries<int32_t>(); }
TEST(Carry, U64) { expect_carries<uint64_t>(); }
TEST(Carry, S64) { expect_carries<int64_t>(); }

}  // namespace
}  // namespace ridge::vm::test
