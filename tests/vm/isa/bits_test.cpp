// Bit instructions against their definitions, bit by bit.
#include "lane_harness.h"

namespace ridge::vm::test {
namespace {

template <class U>
bool bit(U x, int i) {
  return x >> i & 1;
}

template <class T>
T bfe_reference(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  constexpr int kTop = 8 * sizeof(T) - 1;
  const int64_t position = sizeof(T) == 4 ? b & 0xff : b, length = sizeof(T) == 4 ? c & 0xff : c;
  const bool sign = std::is_signed_v<T> && length != 0 &&
                    bit(U(a), int(std::min<int64_t>(position + length - 1, kTop)));
  U d = 0;
  for (int i = 0; i <= kTop; ++i)
    d |= U(i < length && position + i <= kTop ? bit(U(a), int(position) + i) : sign) << i;
  return T(d);
}

template <class U>
U bfi_reference(U a, U b, uint32_t c, uint32_t d) {
  U f = b;
  const uint64_t position = sizeof(U) == 4 ? c & 0xff : c, length = sizeof(U) == 4 ? d & 0xff : d;
  for (uint64_t i = 0; i < length && position + i < 8 * sizeof(U); ++i) {
    const uint64_t at = position + i;
    f = U((f & ~(U(1) << at)) | U(bit(a, int(i))) << at);
  }
  return f;
}

template <class T>
int highest(T a) {
  using U = std::make_unsigned_t<T>;
  for (int i = 8 * sizeof(T) - 1; i >= 0; --i)
    if (bit(U(a), i) != (a < 0)) return i;
  return -1;
}

template <class T>
void expect_find(const std::string& t) {
  expect_lanes<uint32_t, T>("bfind." + t, [](T a) { return uint32_t(highest(a)); });
  expect_lanes<uint32_t, T>("bfind.shiftamt." + t, [](T a) {
    return highest(a) < 0 ? 0xffffffffu : uint32_t(8 * sizeof(T) - 1 - highest(a));
  });
  expect_lanes<T, T, uint32_t, uint32_t>("bfe." + t, bfe_reference<T>, 300);
}

TEST(Bits, FindAndExtract) {
  expect_find<uint32_t>("u32");
  expect_find<int32_t>("s32");
  expect_find<uint64_t>("u64");
  expect_find<int64_t>("s64");
}

template <class U>
void expect_counts(const std::string& t) {
  constexpr int kBits = 8 * sizeof(U);
  expect_lanes<uint32_t, U>("popc." + t, [](U a) {
    uint32_t n = 0;
    for (int i = 0; i < kBits; ++i) n += bit(a, i);
    return n;
  });
  expect_lanes<uint32_t, U>("clz." + t, [](U a) {
    uint32_t n = 0;
    while (n < kBits && !bit(a, kBits - 1 - int(n))) ++n;
    return n;
  });
  expect_lanes<U, U>("brev." + t, [](U a) {
    U d = 0;
    for (int i = 0; i < kBits; ++i) d |= U(bit(a, i)) << (kBits - 1 - i);
    return d;
  });
  expect_lanes<U, U, U, uint32_t, uint32_t>("bfi." + t, bfi_reference<U>, 300);
}
TEST(Bits, CountReverseInsert) {
  expect_counts<uint32_t>("b32");
  expect_counts<uint64_t>("b64");
}

TEST(Bits, Masks) {
  using U = uint32_t;
  const auto ones = [](uint64_t begin, uint64_t length) {
    U d = 0;
    for (uint64_t i = 0; i < 32; ++i) d |= U(i >= begin && i < begin + length) << i;
    return d;
  };
  expect_lanes<U, U, U>("bmsk.clamp.b32", [&](U a, U b) { return ones(a, b); });
  expect_lanes<U, U, U>("bmsk.wrap.b32", [&](U a, U b) { return ones(a & 31, b & 31); });
  const auto extend = [](U a, uint32_t width, bool is_signed) {
    U d = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      const bool sign = is_signed && width != 0 && bit(a, int(width) - 1);
      d |= U(i < width ? bit(a, int(i)) : sign) << i;
    }
    return d;
  };
  expect_lanes<U, U, U>("szext.clamp.u32",
                        [&](U a, U b) { return extend(a, std::min(b, 32u), false); });
  expect_lanes<U, U, U>("szext.clamp.s32",
                        [&](U a, U b) { return extend(a, std::min(b, 32u), true); });
  expect_lanes<U, U, U>("szext.wrap.u32", [&](U a, U b) { return extend(a, b & 31, false); });
  expect_lanes<U, U, U>("szext.wrap.s32", [&](U a, U b) { return extend(a, b & 31, true); });
}

TEST(Bits, FindNthSet) {
  Inputs inputs(3);
  const auto fill = [&]<class S>(int source) {
    auto lanes = inputs.lanes<S>();
    for (auto& v : lanes) {
      if (source == 1) v = S(uint32_t(v) & 31);
      if (source == 2) v = S(int32_t(uint32_t(v) & 63) - 32);
    }
    return lanes;
  };
  const auto fns = [](uint32_t mask, uint32_t base, int32_t offset) -> uint32_t {
    if (offset == 0) return bit(mask, int(base)) ? base : 0xffffffffu;
    int seen = 0;
    for (int at = int(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1)
      if (bit(mask, at) && ++seen == std::abs(offset)) return uint32_t(at);
    return 0xffffffffu;
  };
  expect_lanes_from<uint32_t, uint32_t, uint32_t, int32_t>("fns.b32", fns, fill, 300);
}

TEST(Bits, DotProducts) {
  using U = uint32_t;
  const auto part = [](U x, int width, int i, bool is_signed) {
    const int64_t v = x >> (width * i) & ((1u << width) - 1);
    return is_signed && v >> (width - 1) ? v - (int64_t(1) << width) : v;
  };
  for (bool sa : {false, true})
    for (bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      expect_lanes<U, U, U, U>("dp4a" + types, [&](U a, U b, U c) {
        int64_t sum = c;
        for (int i = 0; i < 4; ++i) sum += part(a, 8, i, sa) * part(b, 8, i, sb);
        return U(sum);
      });
      for (int high : {0, 1})
        expect_lanes<U, U, U, U>((high ? "dp2a.hi" : "dp2a.lo") + types, [&](U a, U b, U c) {
          int64_t sum = c;
          for (int i = 0; i < 2; ++i) sum += part(a, 16, i, sa) * part(b, 8, i + 2 * high, sb);
          return U(sum);
        });
    }
}

}  // namespace
}  // namespace ridge::vm::test
