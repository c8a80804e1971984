// atom and red. Global memory is shared by all workers, so global atomics are the host's; a block
// and its cluster run on one worker, so shared and local ones are plain. Lanes are served in order,
// which is one of the orders hardware may take.
#include "vm/isa/atomic_ops.h"
#include "vm/isa/groups.h"
#include "vm/isa/internal.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

// Fields: d = destination (kNoOperand for red), a, b = address, c = operand, x[0] = second operand
// of cas.

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
    uint8_t* places[kWarpSize];
    if (!find_shared(w, inst, address, shift, bytes, "shared atomic", places)) return false;
    each_active(w.mask, [&](int i) { update(i, places[i], std::false_type()); });
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
