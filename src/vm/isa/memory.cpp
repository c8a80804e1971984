// Loads and stores: ld, ldu, st, in every space. Caching and eviction hints, volatile and the
// memory-model qualifiers choose no other handler: blocks run on x86 cores, whose loads and stores
// are already acquire and release.
#include "vm/isa/groups.h"
#include "vm/isa/load_store.h"

namespace ridge::vm {
namespace {

template <class M, int V, Space S, bool Full>
const Inst* load(Warp& w, const Inst* inst) {
  const int32_t offset = int32_t(inst->b);
  bool ok;
  if constexpr (S == Space::global) {
    ok = load_global_at<M, V, Full>(w, inst, w.src<uint64_t>(inst->a), offset);
  } else if constexpr (S == Space::shared) {
    ok = load_shared_at<M, V, Full>(w, inst, w.src<uint32_t>(inst->a), offset);
  } else if constexpr (S == Space::local) {
    ok = load_local_at<M, V>(w, inst, w.src<uint32_t>(inst->a),
                             offset + (inst->c ? int32_t(w.frame->local_base) : 0));
  } else if constexpr (S == Space::param) {
    ok = load_param_at<M, V>(w, inst, w.src<uint32_t>(inst->a), offset);
  } else {
    const uint64_t* address = w.src<uint64_t>(inst->a);
    ok = by_space(w, address, offset, [&](Space space, const uint32_t* relative) {
      switch (space) {
        case Space::shared:
          return w.mask == kAllLanes ? load_shared_at<M, V, true>(w, inst, relative, 0)
                                     : load_shared_at<M, V, false>(w, inst, relative, 0);
        case Space::local: return load_local_at<M, V>(w, inst, relative, 0);
        case Space::param: return load_param_at<M, V>(w, inst, relative, 0);
        default:
          return w.mask == kAllLanes ? load_global_at<M, V, true>(w, inst, address, offset)
                                     : load_global_at<M, V, false>(w, inst, address, offset);
      }
    });
  }
  return ok ? after<V>(inst) : nullptr;
}

template <class M, int V, Space S, bool Full>
const Inst* store(Warp& w, const Inst* inst) {
  const int32_t offset = int32_t(inst->b);
  bool ok;
  if constexpr (S == Space::global) {
    ok = store_global_at<M, V, Full>(w, inst, w.src<uint64_t>(inst->a), offset);
  } else if constexpr (S == Space::shared) {
    ok = store_shared_at<M, V, Full>(w, inst, w.src<uint32_t>(inst->a), offset);
  } else if constexpr (S == Space::local) {
    ok = store_local_at<M, V>(w, inst, w.src<uint32_t>(inst->a),
                              offset + (inst->c ? int32_t(w.frame->local_base) : 0));
  } else {
    const uint64_t* address = w.src<uint64_t>(inst->a);
    ok = by_space(w, address, offset, [&](Space space, const uint32_t* relative) {
      switch (space) {
        case Space::shared:
          return w.mask == kAllLanes ? store_shared_at<M, V, true>(w, inst, relative, 0)
                                     : store_shared_at<M, V, false>(w, inst, relative, 0);
        case Space::local: return store_local_at<M, V>(w, inst, relative, 0);
        case Space::param:
          raise(w, inst, FaultKind::illegal_address, __builtin_ctz(w.mask),
                address[__builtin_ctz(w.mask)] + offset, sizeof(M) * V,
                "store to kernel parameters");
          return false;
        default:
          return w.mask == kAllLanes ? store_global_at<M, V, true>(w, inst, address, offset)
                                     : store_global_at<M, V, false>(w, inst, address, offset);
      }
    });
  }
  return ok ? after<V>(inst) : nullptr;
}

template <bool IsStore, class M, int V, Space S>
Handlers handlers() {
  if constexpr (IsStore) return {store<M, V, S, true>, store<M, V, S, false>, V > 1};
  else return {load<M, V, S, true>, load<M, V, S, false>, V > 1};
}

template <bool IsStore, class M, int V>
Handlers pick_space(const Form& form) {
  switch (form.space) {
    case Space::global:
    case Space::constant: return handlers<IsStore, M, V, Space::global>();
    case Space::shared: return handlers<IsStore, M, V, Space::shared>();
    case Space::local: return handlers<IsStore, M, V, Space::local>();
    case Space::generic: return handlers<IsStore, M, V, Space::generic>();
    case Space::param:
      // A kernel's own parameters. Those of functions and calls are local memory, and the decoder
      // says so by asking for the local form.
      if constexpr (IsStore) return handlers<true, M, V, Space::local>();
      else return handlers<false, M, V, Space::param>();
    default: return {};
  }
}

// The register that receives an 8- to 32-bit value may be wider; the decoder extends it in a second
// step, so only the value's own width matters here.
template <bool IsStore, int V>
Handlers pick_type(const Form& form) {
  switch (form.type()) {
    case Type::s8:
      if constexpr (!IsStore) return pick_space<false, int8_t, V>(form);
      [[fallthrough]];
    case Type::b8:
    case Type::u8: return pick_space<IsStore, uint8_t, V>(form);
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16: return pick_space<IsStore, uint16_t, V>(form);
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2: return pick_space<IsStore, uint32_t, V>(form);
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      if constexpr (V <= 2) return pick_space<IsStore, uint64_t, V>(form);
      return {};
    default: return {};
  }
}

template <bool IsStore>
Handlers select_memory(const Form& form) {
  switch (form.vector) {
    case 1: return pick_type<IsStore, 1>(form);
    case 2: return pick_type<IsStore, 2>(form);
    case 4: return pick_type<IsStore, 4>(form);
    default: return {};
  }
}

constexpr Facts kLoad{.access = AccessKind::load, .encoding = Encoding::memory};
constexpr Facts kStore{.access = AccessKind::store, .encoding = Encoding::memory};
constexpr InstrDef kRows[] = {
    {"ld{weak}{%space}{%cache}{%evict}{%l2evict}{%hint}{%prefetch}{v2|v4}[%any]", "d4,[a]",
     Unit::memory, kLoad, select_memory<false>},
    {"ld{weak}{global}{%cache}{nc}{%evict}{%l2evict}{%hint}{%prefetch}{v2|v4}[%any]", "d4,[a]",
     Unit::memory, kLoad, select_memory<false>},
    {"ld[volatile]{%space}{%prefetch}{v2|v4}[%any]", "d4,[a]", Unit::memory, kLoad,
     select_memory<false>},
    {"ld[relaxed|acquire][%scope]{%space}{%evict}{%l2evict}{%hint}{%prefetch}{v2|v4}[%any]",
     "d4,[a]", Unit::memory, kLoad, select_memory<false>},
    {"ld[mmio][relaxed][sys]{global}[%any]", "d4,[a]", Unit::memory, kLoad, select_memory<false>},
    {"ldu{global}{v2|v4}[%any]", "d4,[a]", Unit::memory, kLoad, select_memory<false>},
    {"st{weak}{%space}{%cache}{%evict}{%l2evict}{%hint}{v2|v4}[%any]", "[a],b4", Unit::memory,
     kStore, select_memory<true>},
    {"st[volatile]{%space}{v2|v4}[%any]", "[a],b4", Unit::memory, kStore, select_memory<true>},
    {"st[mmio][relaxed][sys]{global}[%any]", "[a],b4", Unit::memory, kStore, select_memory<true>},
    {"st[relaxed|release][%scope]{%space}{%evict}{%l2evict}{%hint}{v2|v4}[%any]", "[a],b4",
     Unit::memory, kStore, select_memory<true>},
};

}  // namespace

std::span<const InstrDef> memory_rows() { return kRows; }

}  // namespace ridge::vm
