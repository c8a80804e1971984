// Runs single instructions on a bare warp: registers are numbered slots, a spelling is looked up in
// the tables as the decoder would, and both handlers are held against a scalar reference, inactive
// lanes included.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm::test {

template <class T>
using Lanes = std::array<T, kWarpSize>;

inline constexpr int kNoSlot = -1;

class LaneHarness {
 public:
  static constexpr int kSlots = 16;

  LaneHarness() {
    warp_.base[0] = registers_.data();
    warp_.base[1] = constants_.data();
    warp_.mask = kAllLanes;
  }
  Warp& warp() { return warp_; }

  template <class T>
  void put(int slot, const Lanes<T>& values) {
    std::memcpy(&registers_[offset(slot)], values.data(), sizeof(values));
  }
  template <class T>
  Lanes<T> get(int slot) const {
    Lanes<T> values;
    std::memcpy(values.data(), &registers_[offset(slot)], sizeof(values));
    return values;
  }
  void put_pred(int slot, uint32_t bits) { std::memcpy(&registers_[offset(slot)], &bits, 4); }
  uint32_t get_pred(int slot) const {
    uint32_t bits;
    std::memcpy(&bits, &registers_[offset(slot)], 4);
    return bits;
  }

  static uint32_t offset(int slot) { return uint32_t(slot) * 256; }
  // A source operand: the slot's offset, with kNegatedBit for a predicate's complement.
  static uint32_t negated(int slot) { return offset(slot) | kNegatedBit; }

  // Executes `spelling` under `mask` with destination slot d and source operands (offsets);
  // `second` is the slot of the destination after '|'. A row whose second destination is optional
  // gets kNoOperand when none is given.
  void run(const std::string& spelling, int d, std::initializer_list<uint32_t> sources,
           uint32_t mask = kAllLanes, int second = kNoSlot) {
    std::string error;
    const Match* match = find_instruction(spelling, &error);
    ASSERT_NE(match, nullptr) << error;
    Inst code[2];
    Wide more;
    code[0].d = d == kNoSlot ? kNoOperand : offset(d);
    uint32_t* fields[] = {&code[0].a, &code[0].b, &code[0].c, &more.x[0],
                          &more.x[1], &more.x[2], &more.x[3]};
    size_t n = 0;
    for (uint32_t source : sources) *fields[n++] = source;
    if (match->row->operands.find('|') != std::string_view::npos)
      *fields[n] = second == kNoSlot ? kNoOperand : offset(second);
    for (int i = 0; i < 3; ++i) more.x[4 + i] |= selectors[i];
    more.flags = match->handlers.flags;
    std::memcpy(static_cast<void*>(&code[1]), &more, sizeof more);
    warp_.mask = mask;
    const Handler handler = mask == kAllLanes ? match->handlers.full : match->handlers.masked;
    const Inst* next = handler(warp_, code);
    EXPECT_EQ(next, code + (match->handlers.wide ? 2 : 1)) << spelling;
  }

  uint32_t selectors[3] = {};  // of video operands d, a, b

 private:
  Warp warp_;
  alignas(64) std::array<uint8_t, kSlots * 256> registers_{};
  alignas(64) std::array<uint8_t, 256> constants_{};
};

// Edge values first, then random ones of all magnitudes; every lane of every round has its own.
class Inputs {
 public:
  explicit Inputs(uint64_t seed) : random_(seed) {}

  uint32_t mask() { return uint32_t(random_()) | 1u; }
  uint64_t bits() { return random_(); }

  template <class T>
  T integer() {
    using U = std::make_unsigned_t<T>;
    constexpr U kTop = U(U(1) << (8 * sizeof(T) - 1));
    const U edges[] = {0,           1, 2,  3,  U(-1), U(-2), kTop, U(kTop - 1),
                       U(kTop + 1), 7, 31, 32, 33,    255,   256};
    const uint64_t r = random_();
    if (r % 3 == 0) return T(edges[(r >> 8) % std::size(edges)]);
    return T(U(random_() >> ((r >> 8) % (8 * sizeof(T)) + 64 - 8 * sizeof(T))));
  }
  template <class T>
  Lanes<T> lanes() {
    Lanes<T> values;
    for (T& v : values) v = integer<T>();
    return values;
  }
  // A float's bits: zeros, subnormals, infinities and NaNs among them.
  float real32() {
    const uint32_t edges[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x00000001,
                              0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff,
                              0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001};
    const uint64_t r = random_();
    const uint32_t u = r % 2 ? edges[(r >> 8) % std::size(edges)] : uint32_t(r >> 32);
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
  double real64() {
    const uint64_t edges[] = {0,
                              1ull << 63,
                              0x3ff0000000000000,
                              1,
                              0x8000000000000001,
                              0x000fffffffffffff,
                              0x7fefffffffffffff,
                              0x7ff0000000000000,
                              0xfff0000000000000,
                              0x7ff8000000000000};
    const uint64_t r = random_();
    const uint64_t u = r % 2 ? edges[(r >> 8) % std::size(edges)] : random_();
    double f;
    std::memcpy(&f, &u, 8);
    return f;
  }
  uint16_t half_bits() {
    const uint16_t edges[] = {0,      0x8000, 0x3c00, 0x0001, 0x8001, 0x03ff,
                              0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                              0x7f80, 0x007f, 0x807f, 0x7fc0, 0x3f80};
    const uint64_t r = random_();
    return r % 2 ? edges[(r >> 8) % std::size(edges)] : uint16_t(r >> 32);
  }

 private:
  std::mt19937_64 random_;
};

template <class T>
std::string show(T value) {
  if constexpr (std::is_integral_v<T>) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx",
                  (unsigned long long)(std::make_unsigned_t<T>(value)));
    return text;
  } else {
    return ::testing::PrintToString(value);
  }
}

// Holds d = f(a…) for every lane, full and masked, over `rounds` rounds. R is what the destination
// holds, T… the sources; lanes come from `fill`, called as fill.template operator()<T>(source
// index).
template <class R, class... T, class F, class Fill>
void expect_lanes_from(const std::string& spelling, F f, Fill fill, int rounds = 60) {
  Inputs masks(7);
  for (int round = 0; round < rounds; ++round) {
    const uint32_t mask = round % 2 ? masks.mask() : kAllLanes;
    LaneHarness h;
    const auto in = [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Lanes<T>...>{fill.template operator()<T>(int(I))...};
    }
    (std::index_sequence_for<T...>{});
    const Lanes<R> before = [&] {
      Lanes<R> old;
      for (int i = 0; i < kWarpSize; ++i) old[i] = R(0x5a5a + i);
      return old;
    }();
    h.put(0, before);
    [&]<size_t... I>(std::index_sequence<I...>) {
      (h.put(int(I) + 1, std::get<I>(in)), ...);
      h.run(spelling, 0, {LaneHarness::offset(int(I) + 1)...}, mask);
    }
    (std::index_sequence_for<T...>{});
    if (::testing::Test::HasFatalFailure()) return;
    const Lanes<R> got = h.get<R>(0);
    for (int i = 0; i < kWarpSize; ++i) {
      const R want = mask >> i & 1 ? std::apply([&](const auto&... v) { return R(f(v[i]...)); }, in)
                                   : before[i];
      std::string inputs;
      std::apply([&](const auto&... v) { ((inputs += " " + show(v[i])), ...); }, in);
      ASSERT_EQ(show(got[i]), show(want))
          << spelling << inputs << " lane " << i << " mask " << show(mask);
    }
  }
}

// The same with integers of every magnitude.
template <class R, class... T, class F>
void expect_lanes(const std::string& spelling, F f, int rounds = 60) {
  Inputs inputs(std::hash<std::string>{}(spelling));
  expect_lanes_from<R, T...>(
      spelling, f, [&]<class S>(int) { return inputs.lanes<S>(); }, rounds);
}

}  // namespace ridge::vm::test
