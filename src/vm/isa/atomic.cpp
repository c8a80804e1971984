// atom and red. Global memory is shared by all workers, so global atomics are the host's; a block
// runs on one worker, so shared and local ones are plain. Lanes are served in order, which is one
// of the orders hardware may take.
#include <bit>
#include <cmath>

#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/internal.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

// Fields: d = destination (kNoOperand for red), a, b = address, c = operand, x[0] = second operand
// of cas.

// Floating-point additions of global memory flush subnormals in f32, and leave a f64 NaN as it is;
// those of shared memory do neither.
struct Add {
  template <class T>
  T operator()(T old, T b, T) const {
    if constexpr (std::is_integral_v<T>) return wrap_add(old, b);
    else return sum(old, b);
  }
  template <class T>
  static T in_global(T old, T b) {
    if constexpr (std::is_same_v<T, float>) return flush(sum(flush(old), flush(b)));
    else if constexpr (std::is_same_v<T, double>)
      return b != b ? b : old != old ? old : sum(old, b);
    else return wrap_add(old, b);
  }
  static float sum(float old, float b) { return canonical(old + b); }
  static double sum(double old, double b) {
    if (old != old) return double_of(bits_of(old) | kQuiet64);
    if (b != b) return double_of(bits_of(b) | kQuiet64);
    const double r = old + b;
    return r == r ? r : double_of(kNan64);
  }
};
struct Min {
  auto operator()(auto old, auto b, auto) const { return b < old ? b : old; }
};
struct Max {
  auto operator()(auto old, auto b, auto) const { return old < b ? b : old; }
};
struct And {
  auto operator()(auto old, auto b, auto) const { return old & b; }
};
struct Or {
  auto operator()(auto old, auto b, auto) const { return old | b; }
};
struct Xor {
  auto operator()(auto old, auto b, auto) const { return old ^ b; }
};
struct Inc {
  auto operator()(auto old, auto b, auto) const { return old >= b ? 0 : old + 1; }
};
struct Dec {
  auto operator()(auto old, auto b, auto) const { return old == 0 || old > b ? b : old - 1; }
};
struct Exch {
  auto operator()(auto, auto b, auto) const { return b; }
};
struct Cas {
  auto operator()(auto old, auto b, auto c) const { return old == b ? c : old; }
};

// Half-precision additions: two halves of a word, or one.
template <bool Brain16>
uint16_t add16(uint16_t x, uint16_t y) {
  if constexpr (Brain16) return float_to_brain(brain_to_float(x) + brain_to_float(y));
  else return float_to_half(half_to_float(x) + half_to_float(y));
}
template <bool Brain16>
struct AddHalf {
  uint16_t operator()(uint16_t old, uint16_t b, uint16_t) const { return add16<Brain16>(old, b); }
};
template <bool Brain16>
struct AddPair {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    return uint32_t(add16<Brain16>(uint16_t(old), uint16_t(b))) |
           uint32_t(add16<Brain16>(uint16_t(old >> 16), uint16_t(b >> 16))) << 16;
  }
};

// The lesser or greater of two halves: -0 is below +0, and a number beats a NaN.
template <bool Brain16, bool Max>
uint16_t minmax16(uint16_t x, uint16_t y) {
  constexpr uint16_t kInfinity = Brain16 ? 0x7f80 : 0x7c00;
  const auto is_nan = [](uint16_t v) { return (v & 0x7fff) > kInfinity; };
  const auto order = [](uint16_t v) { return uint16_t(v & 0x8000 ? ~v : v | 0x8000); };
  if (is_nan(x)) return is_nan(y) ? kNan16 : y;
  if (is_nan(y)) return x;
  return (Max ? order(x) > order(y) : order(x) < order(y)) ? x : y;
}
template <bool Brain16, bool Max>
struct MinMaxHalf {
  uint16_t operator()(uint16_t old, uint16_t b, uint16_t) const {
    return minmax16<Brain16, Max>(old, b);
  }
};
template <bool Brain16, bool Max>
struct MinMaxPair {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    return uint32_t(minmax16<Brain16, Max>(uint16_t(old), uint16_t(b))) |
           uint32_t(minmax16<Brain16, Max>(uint16_t(old >> 16), uint16_t(b >> 16))) << 16;
  }
};

template <class T>
struct BitsOf {
  using U = T;
};
template <>
struct BitsOf<float> {
  using U = uint32_t;
};
template <>
struct BitsOf<double> {
  using U = uint64_t;
};

template <class T, class Op>
T update_global(uint64_t address, T b, T c) {
  using U = std::make_unsigned_t<typename BitsOf<T>::U>;
  auto* p = reinterpret_cast<U*>(address);
  U seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (true) {
    const T old = std::bit_cast<T>(seen);
    T result;
    if constexpr (std::is_same_v<Op, Add>) result = Add::in_global(old, b);
    else result = Op()(old, b, c);
    const U wanted = std::bit_cast<U>(result);
    if (__atomic_compare_exchange_n(p, &seen, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}
template <>
uint32_t update_global<uint32_t, Add>(uint64_t address, uint32_t b, uint32_t) {
  return __atomic_fetch_add(reinterpret_cast<uint32_t*>(address), b, __ATOMIC_SEQ_CST);
}

template <class T, class Op>
T update_plain(void* p, T b, T c) {
  const T old = load_as<T>(p);
  const T wanted = Op()(old, b, c);
  std::memcpy(p, &wanted, sizeof wanted);
  return old;
}

// `update(lane, place, is_global)` for each active lane, when all their places are good.
template <Space S, class Update>
bool each_place(Warp& w, const Inst* inst, uint32_t bytes, Update update) {
  const int32_t offset = int32_t(inst->b);
  const auto in_global = [&](const uint64_t* address) {
    const GlobalPlaces places = check_global(w, inst, address, offset, bytes, "atomic");
    if (!places) return false;
    each_active(w.mask, [&](int i) { update(i, places[i], std::true_type()); });
    return true;
  };
  const auto in_shared = [&](const uint32_t* address, int32_t shift) {
    if (!check_window(w, inst, address, shift, bytes, w.shared_size, "shared atomic")) return false;
    each_active(w.mask, [&](int i) {
      update(i, w.shared + uint32_t(address[i] + shift), std::false_type());
    });
    return true;
  };
  if constexpr (S == Space::global) {
    return in_global(w.src<uint64_t>(inst->a));
  } else if constexpr (S == Space::shared) {
    return in_shared(w.src<uint32_t>(inst->a), offset);
  } else {
    const uint64_t* address = w.src<uint64_t>(inst->a);
    return by_space(w, address, offset, [&](Space space, const uint32_t* relative) {
      if (space == Space::global) return in_global(address);
      if (space == Space::shared) return in_shared(relative, 0);
      const int lane = __builtin_ctz(w.mask);
      raise(w, inst, FaultKind::invalid_address_space, lane, address[lane] + offset, bytes,
            "atomic outside global and shared memory");
      return false;
    });
  }
}

template <class T, class Op, Space S, bool IsRed>
const Inst* atom(Warp& w, const Inst* inst) {
  constexpr bool kWide = std::is_same_v<Op, Cas>;
  w.polls = true;
  const T* b = w.src<T>(inst->c);
  const T* c = b;
  if constexpr (kWide) c = w.src<T>(wide(inst).x[0]);
  const bool ok = each_place<S>(w, inst, sizeof(T), [&](int i, void* place, auto is_global) {
    T old;
    if constexpr (is_global) old = update_global<T, Op>(uint64_t(place), b[i], c[i]);
    else old = update_plain<T, Op>(place, b[i], c[i]);
    if constexpr (!IsRed) w.reg<T>(inst->d)[i] = old;
  });
  return ok ? inst + (kWide ? 2 : 1) : nullptr;
}

// 128 bits, in halves (emit_wide_atomic). The host's own instruction does all 16 bytes at once.
using U128 = unsigned __int128;

__attribute__((target("cx16"))) U128 swap_128(U128* p, U128 seen, U128 wanted) {
  return __sync_val_compare_and_swap(p, seen, wanted);
}

template <class Op, Space S>
const Inst* atom_128(Warp& w, const Inst* inst) {
  const auto& x = wide(inst).x;
  w.polls = true;
  const auto value = [&](uint32_t low, uint32_t high, int i) {
    return U128(w.src<uint64_t>(high)[i]) << 64 | w.src<uint64_t>(low)[i];
  };
  const bool ok = each_place<S>(w, inst, sizeof(U128), [&](int i, void* place, auto is_global) {
    const U128 b = value(inst->c, x[1], i);
    U128 c = 0, old = 0;
    if constexpr (std::is_same_v<Op, Cas>) c = value(x[2], x[3], i);
    if constexpr (is_global) {
      auto* p = static_cast<U128*>(place);
      for (U128 seen = 0; (old = swap_128(p, seen, Op()(seen, b, c))) != seen;) seen = old;
    } else {
      old = update_plain<U128, Op>(place, b, c);
    }
    w.reg<uint64_t>(inst->d)[i] = uint64_t(old);
    w.reg<uint64_t>(x[0])[i] = uint64_t(old >> 64);
  });
  return ok ? inst + 2 : nullptr;
}
template <class Op>
Handlers select_128(const Form& form) {
  switch (form.space) {
    case Space::global: return {atom_128<Op, Space::global>, atom_128<Op, Space::global>, true};
    case Space::shared: return {atom_128<Op, Space::shared>, atom_128<Op, Space::shared>, true};
    case Space::generic: return {atom_128<Op, Space::generic>, atom_128<Op, Space::generic>, true};
    default: return {};
  }
}

template <class T, class Op, bool IsRed>
Handlers by_space_of(const Form& form) {
  constexpr bool kWide = std::is_same_v<Op, Cas>;
  switch (form.space) {
    case Space::global:
      return {atom<T, Op, Space::global, IsRed>, atom<T, Op, Space::global, IsRed>, kWide};
    case Space::shared:
      return {atom<T, Op, Space::shared, IsRed>, atom<T, Op, Space::shared, IsRed>, kWide};
    case Space::generic:
      return {atom<T, Op, Space::generic, IsRed>, atom<T, Op, Space::generic, IsRed>, kWide};
    default: return {};
  }
}

template <class Op, class Set, bool IsRed>
Handlers select(const Form& form) {
  return detail::Pick<Set>::of(form.type(),
                               [&]<Type K>() { return by_space_of<LaneT<K>, Op, IsRed>(form); });
}
template <bool IsRed>
Handlers select_half_add(const Form& form) {
  switch (form.type()) {
    case Type::f16: return by_space_of<uint16_t, AddHalf<false>, IsRed>(form);
    case Type::bf16: return by_space_of<uint16_t, AddHalf<true>, IsRed>(form);
    case Type::f16x2: return by_space_of<uint32_t, AddPair<false>, IsRed>(form);
    case Type::bf16x2: return by_space_of<uint32_t, AddPair<true>, IsRed>(form);
    default: return {};
  }
}

// Vectors of global memory: the handlers of one element. Each element is an atomic operation of its
// own, so the decoder writes one instruction for each.
template <class T, class Op, bool IsRed>
Handlers in_global() {
  return {atom<T, Op, Space::global, IsRed>, atom<T, Op, Space::global, IsRed>};
}
template <bool Brain16, bool IsRed>
Handlers select_element(int op, bool pair) {
  switch (op * 2 + pair) {
    case 0: return in_global<uint16_t, AddHalf<Brain16>, IsRed>();
    case 1: return in_global<uint32_t, AddPair<Brain16>, IsRed>();
    case 2: return in_global<uint16_t, MinMaxHalf<Brain16, false>, IsRed>();
    case 3: return in_global<uint32_t, MinMaxPair<Brain16, false>, IsRed>();
    case 4: return in_global<uint16_t, MinMaxHalf<Brain16, true>, IsRed>();
    default: return in_global<uint32_t, MinMaxPair<Brain16, true>, IsRed>();
  }
}
template <bool IsRed>
Handlers select_vector(const Form& form) {
  const int op = form.index_of({"add", "min", "max"});
  switch (form.type()) {
    case Type::f32: return in_global<float, Add, IsRed>();
    case Type::f16: return select_element<false, IsRed>(op, false);
    case Type::bf16: return select_element<true, IsRed>(op, false);
    case Type::f16x2: return select_element<false, IsRed>(op, true);
    case Type::bf16x2: return select_element<true, IsRed>(op, true);
    default: return {};
  }
}

// The whole vector, before any of its elements: a, b = address, c = bytes.
const Inst* check_vector(Warp& w, const Inst* inst) {
  const auto places =
      check_global(w, inst, w.src<uint64_t>(inst->a), int32_t(inst->b), inst->c, "atomic");
  return places ? inst + 1 : nullptr;
}

using Adds = TypeSet<Type::u32, Type::s32, Type::u64, Type::s64, Type::f32, Type::f64>;
using MinMax = TypeSet<Type::u32, Type::s32, Type::u64, Type::s64>;
using U32 = TypeSet<Type::u32>;
using Words = TypeSet<Type::b32, Type::b64>;
using CasWords = TypeSet<Type::b16, Type::b32, Type::b64>;

#define RIDGE_SEMANTICS \
  "{relaxed|acquire|release|acq_rel}{%scope}{global|shared|shared::cta|shared::cluster}{%hint}"
#define RIDGE_VECTOR "{relaxed|acquire|release|acq_rel}{%scope}[global]{%hint}"
constexpr Facts kAtom{
    .access = AccessKind::atomic, .encoding = Encoding::memory, .across = Across::varies};
constexpr Facts kRed{.access = AccessKind::reduction, .encoding = Encoding::memory};
constexpr InstrDef kRows[] = {
    {"atom" RIDGE_VECTOR "[add][v2|v4][f32]", "d4,[a],b4", Unit::memory, kAtom,
     select_vector<false>},
    {"atom" RIDGE_VECTOR "[add|min|max][noftz][v2|v4|v8][f16|bf16]", "d4,[a],b4", Unit::memory,
     kAtom, select_vector<false>},
    {"atom" RIDGE_VECTOR "[add|min|max][noftz][v2|v4][f16x2|bf16x2]", "d4,[a],b4", Unit::memory,
     kAtom, select_vector<false>},
    {"red" RIDGE_VECTOR "[add][v2|v4][f32]", "[a],b4", Unit::memory, kRed, select_vector<true>},
    {"red" RIDGE_VECTOR "[add|min|max][noftz][v2|v4|v8][f16|bf16]", "[a],b4", Unit::memory, kRed,
     select_vector<true>},
    {"red" RIDGE_VECTOR "[add|min|max][noftz][v2|v4][f16x2|bf16x2]", "[a],b4", Unit::memory, kRed,
     select_vector<true>},
    {"atom" RIDGE_SEMANTICS "[add][u32|s32|u64|s64|f32|f64]", "d,[a],b", Unit::memory, kAtom,
     select<Add, Adds, false>},
    {"atom" RIDGE_SEMANTICS "[add]{noftz}[f16|bf16|f16x2|bf16x2]", "d,[a],b", Unit::memory, kAtom,
     select_half_add<false>},
    {"atom" RIDGE_SEMANTICS "[min][%int32_64]", "d,[a],b", Unit::memory, kAtom,
     select<Min, MinMax, false>},
    {"atom" RIDGE_SEMANTICS "[max][%int32_64]", "d,[a],b", Unit::memory, kAtom,
     select<Max, MinMax, false>},
    {"atom" RIDGE_SEMANTICS "[inc][u32]", "d,[a],b", Unit::memory, kAtom, select<Inc, U32, false>},
    {"atom" RIDGE_SEMANTICS "[dec][u32]", "d,[a],b", Unit::memory, kAtom, select<Dec, U32, false>},
    {"atom" RIDGE_SEMANTICS "[and][b32|b64]", "d,[a],b", Unit::memory, kAtom,
     select<And, Words, false>},
    {"atom" RIDGE_SEMANTICS "[or][b32|b64]", "d,[a],b", Unit::memory, kAtom,
     select<Or, Words, false>},
    {"atom" RIDGE_SEMANTICS "[xor][b32|b64]", "d,[a],b", Unit::memory, kAtom,
     select<Xor, Words, false>},
    {"atom" RIDGE_SEMANTICS "[exch][b32|b64]", "d,[a],b", Unit::memory, kAtom,
     select<Exch, Words, false>},
    {"atom" RIDGE_SEMANTICS "[cas][b16|b32|b64]", "d,[a],b,c", Unit::memory, kAtom,
     select<Cas, CasWords, false>},
    {"atom" RIDGE_SEMANTICS "[exch][b128]", "d4,[a],b4", Unit::memory, kAtom, select_128<Exch>},
    {"atom" RIDGE_SEMANTICS "[cas][b128]", "d4,[a],b4,c4", Unit::memory, kAtom, select_128<Cas>},
    {"red" RIDGE_SEMANTICS "[add][u32|s32|u64|s64|f32|f64]", "[a],b", Unit::memory, kRed,
     select<Add, Adds, true>},
    {"red" RIDGE_SEMANTICS "[add]{noftz}[f16|bf16|f16x2|bf16x2]", "[a],b", Unit::memory, kRed,
     select_half_add<true>},
    {"red" RIDGE_SEMANTICS "[min][%int32_64]", "[a],b", Unit::memory, kRed,
     select<Min, MinMax, true>},
    {"red" RIDGE_SEMANTICS "[max][%int32_64]", "[a],b", Unit::memory, kRed,
     select<Max, MinMax, true>},
    {"red" RIDGE_SEMANTICS "[inc][u32]", "[a],b", Unit::memory, kRed, select<Inc, U32, true>},
    {"red" RIDGE_SEMANTICS "[dec][u32]", "[a],b", Unit::memory, kRed, select<Dec, U32, true>},
    {"red" RIDGE_SEMANTICS "[and][b32|b64]", "[a],b", Unit::memory, kRed, select<And, Words, true>},
    {"red" RIDGE_SEMANTICS "[or][b32|b64]", "[a],b", Unit::memory, kRed, select<Or, Words, true>},
    {"red" RIDGE_SEMANTICS "[xor][b32|b64]", "[a],b", Unit::memory, kRed, select<Xor, Words, true>},
};
#undef RIDGE_VECTOR
#undef RIDGE_SEMANTICS

}  // namespace

std::span<const InstrDef> atomic_rows() { return kRows; }

namespace internal {
const Handlers kCheckVector = {check_vector, check_vector};
}

}  // namespace ridge::vm
