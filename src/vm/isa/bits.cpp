// Counting, finding and moving bits; bit fields; byte dot products.
#include <algorithm>
#include <bit>

#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

constexpr auto popc = [](auto a) { return uint32_t(std::popcount(a)); };
constexpr auto clz = [](auto a) { return uint32_t(std::countl_zero(a)); };

// The highest bit that differs from the sign (the highest set bit of an unsigned value), or all
// ones.
constexpr auto bfind = []<class T>(T a) {
  const Unsigned<T> x = Unsigned<T>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return uint32_t(8 * sizeof(T) - 1) - uint32_t(std::countl_zero(x));  // none set: -1
};
constexpr auto bfind_shift = []<class T>(T a) {
  const uint32_t position = bfind(a);
  return position == 0xffffffffu ? position : uint32_t(8 * sizeof(T) - 1) - position;
};

constexpr auto brev = []<class T>(T a) {
  uint64_t x = sizeof(T) == 4 ? uint64_t(a) << 32 : uint64_t(a);
  x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return T(__builtin_bswap64(x));
};

// All ones from bit n up; nothing when n is past the top.
template <class U>
constexpr U ones_from(uint64_t n) {
  return n < 8 * sizeof(U) ? U(U(-1) << n) : U(0);
}

// Position and length of a field. PTX says their low 8 bits count; the hardware's 64-bit forms take
// all 32.
template <class U>
constexpr uint64_t field_amount(uint32_t x) {
  return sizeof(U) == 4 ? x & 0xff : x;
}

// Bits past the top read as the field's sign bit: the value's own when the field reaches beyond it.
constexpr auto bfe = []<class T>(T a, uint32_t b, uint32_t c) {
  using U = Unsigned<T>;
  constexpr uint64_t kTop = 8 * sizeof(T) - 1;
  const uint64_t position = field_amount<U>(b), length = field_amount<U>(c);
  const U low = position <= kTop ? U(U(a) >> position) : U(0);
  U field = low & U(~ones_from<U>(length));
  if (std::is_signed_v<T> && length != 0) {
    const uint64_t sign_at = std::min(position + length - 1, kTop);
    // Bits that came from a.
    const uint64_t kept = position <= kTop ? std::min(length, kTop + 1 - position) : 0;
    if (U(a) >> sign_at & 1) field |= ones_from<U>(kept);
  }
  return T(field);
};

constexpr auto bfi = []<class U>(U a, U b, uint32_t c, uint32_t length) {
  const uint64_t position = field_amount<U>(c);
  const U field = U(~ones_from<U>(field_amount<U>(length)));
  const U mask = position < 8 * sizeof(U) ? U(field << position) : U(0);
  const U moved = position < 8 * sizeof(U) ? U(a << position) : U(0);
  return U((b & ~mask) | (moved & mask));
};

template <bool Clamp>
constexpr auto bmsk = [](uint32_t a, uint32_t b) {
  if (Clamp) return ones_from<uint32_t>(a) & ~ones_from<uint32_t>(uint64_t(a) + b);
  const uint32_t begin = a & 31, length = b & 31;
  return ones_from<uint32_t>(begin) & ~ones_from<uint32_t>(begin + length);
};

template <bool Clamp>
constexpr auto szext = []<class T>(T a, uint32_t b) {
  if (Clamp && b >= 32) return a;
  const uint32_t width = b & 31;
  if (width == 0) return T(0);
  return T(T(uint32_t(a) << (32 - width)) >> (32 - width));
};

// The offset-th set bit of mask, counted from base upwards or, for a negative offset, downwards; -1
// when there is none. The hardware answers 0 for the one offset whose magnitude does not fit.
constexpr auto fns = [](uint32_t mask, uint32_t base, int32_t offset) -> uint32_t {
  if (offset == INT32_MIN) return 0;
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
  int32_t left = offset < 0 ? -offset : offset;
  const int step = offset < 0 ? -1 : 1;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return uint32_t(at);
  return 0xffffffffu;
};

// --- handlers ---

template <class Set, auto Op>
Handlers lane_u32_u32(const Form& form) {  // two u32 sources after the first
  return detail::Pick<Set>::of(form.type(), []<Type K>() -> Handlers {
    return {lane_mixed_handler<LaneT<K>, uint32_t, uint32_t, Op, true>,
            lane_mixed_handler<LaneT<K>, uint32_t, uint32_t, Op, false>};
  });
}

template <class U, bool Full>
const Inst* bfi_handler(Warp& w, const Inst* inst) {
  const U* a = w.src<U>(inst->a);
  const U* b = w.src<U>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  const uint32_t* length = w.src<uint32_t>(wide(inst).x[0]);
  each_lane<Full>(w.reg<U>(inst->d), w.mask,
                  [&](int i) { return bfi(a[i], b[i], c[i], length[i]); });
  return inst + 2;
}
Handlers select_bfi(const Form& form) {
  if (form.type() == Type::b32)
    return {bfi_handler<uint32_t, true>, bfi_handler<uint32_t, false>, true};
  return {bfi_handler<uint64_t, true>, bfi_handler<uint64_t, false>, true};
}

Handlers select_fns(const Form&) {
  return {lane_mixed_handler<uint32_t, uint32_t, int32_t, fns, true>,
          lane_mixed_handler<uint32_t, uint32_t, int32_t, fns, false>};
}

// A signed or unsigned byte (half) of a word, as an int32.
template <class Part>
constexpr int32_t part(uint32_t word, int index) {
  return int32_t(Part(word >> (8 * sizeof(Part) * index)));
}

template <class A, class B>
constexpr auto dp4a = [](uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 4; ++i) c += uint32_t(part<A>(a, i) * part<B>(b, i));
  return c;
};
// Halves of a times the low (or high) bytes of b.
template <class A, class B, bool High>
constexpr auto dp2a = [](uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 2; ++i) c += uint32_t(part<A>(a, i) * part<B>(b, i + (High ? 2 : 0)));
  return c;
};

template <auto SS, auto SU, auto US, auto UU>
Handlers by_signs(const Form& form) {
  using Word = TypeSet<Type::u32, Type::s32>;
  const bool a = form.types[0] == Type::s32, b = form.types[1] == Type::s32;
  Form words;
  words.types[0] = Type::u32;
  if (a) return b ? lane<Word, SS>(words) : lane<Word, SU>(words);
  return b ? lane<Word, US>(words) : lane<Word, UU>(words);
}
template <bool High>
constexpr auto select_dp2a = by_signs<dp2a<int16_t, int8_t, High>, dp2a<int16_t, uint8_t, High>,
                                      dp2a<uint16_t, int8_t, High>, dp2a<uint16_t, uint8_t, High>>;
constexpr auto select_dp4a = by_signs<dp4a<int8_t, int8_t>, dp4a<int8_t, uint8_t>,
                                      dp4a<uint8_t, int8_t>, dp4a<uint8_t, uint8_t>>;

using B32 = TypeSet<Type::b32>;

constexpr InstrDef kRows[] = {
    {"popc[%bits32_64]", "d:u32,a", Unit::alu, kRegs, lane<Bits32_64, popc>},
    {"clz[%bits32_64]", "d:u32,a", Unit::alu, kRegs, lane<Bits32_64, clz>},
    {"bfind[%int32_64]", "d:u32,a", Unit::alu, kRegs, lane<Int32_64, bfind>},
    {"bfind[shiftamt][%int32_64]", "d:u32,a", Unit::alu, kRegs, lane<Int32_64, bfind_shift>},
    {"brev[%bits32_64]", "d,a", Unit::alu, kRegs, lane<Bits32_64, brev>},
    {"bfe[%int32_64]", "d,a,b:u32,c:u32", Unit::alu, kRegs, lane_u32_u32<Int32_64, bfe>},
    {"bfi[%bits32_64]", "d,a,b,c:u32,e:u32", Unit::alu, kRegs, select_bfi},
    {"bmsk[clamp][b32]", "d,a,b", Unit::alu, kRegs, lane<B32, bmsk<true>>},
    {"bmsk[wrap][b32]", "d,a,b", Unit::alu, kRegs, lane<B32, bmsk<false>>},
    {"szext[clamp][%int32]", "d,a,b:u32", Unit::alu, kRegs,
     lane_with<Int32, uint32_t, szext<true>>},
    {"szext[wrap][%int32]", "d,a,b:u32", Unit::alu, kRegs,
     lane_with<Int32, uint32_t, szext<false>>},
    {"fns[b32]", "d,a,b:u32,c:s32", Unit::alu, kRegs, select_fns},
    {"dp4a[%int32][%int32]", "d,a:0,b:1,c", Unit::alu, kRegs, select_dp4a},
    {"dp2a[lo][%int32][%int32]", "d,a:0,b:1,c", Unit::alu, kRegs, select_dp2a<false>},
    {"dp2a[hi][%int32][%int32]", "d,a:0,b:1,c", Unit::alu, kRegs, select_dp2a<true>},
};

}  // namespace

std::span<const InstrDef> bit_rows() { return kRows; }

}  // namespace ridge::vm
