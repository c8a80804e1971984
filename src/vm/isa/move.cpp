// Data movement between registers: mov, cvta, isspacep, mapa, prefetch and the decoder's own width
// changes.
#include "vm/isa/groups.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

template <class T, bool Full>
const Inst* mov(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  each_lane<Full>(w.reg<T>(inst->d), w.mask, [&](int i) { return a[i]; });
  return inst + 1;
}
const Inst* mov_pred(Warp& w, const Inst* inst) {
  w.set_pred(inst->d, w.pred(inst->a));
  return inst + 1;
}
Handlers select_mov(const Form& form) {
  if (form.type() == Type::pred) return {mov_pred, mov_pred};
  switch (size_of(form.type())) {
    case 2: return {mov<uint16_t, true>, mov<uint16_t, false>};
    case 4: return {mov<uint32_t, true>, mov<uint32_t, false>};
    case 8: return {mov<uint64_t, true>, mov<uint64_t, false>};
    default: return {};
  }
}

// cvta: between an address in its own space and a generic one. Global and constant addresses are
// generic already.
template <uint64_t Window, bool ToGeneric, bool Full>
const Inst* cvta(Warp& w, const Inst* inst) {
  const uint64_t* a = w.src<uint64_t>(inst->a);
  each_lane<Full>(w.reg<uint64_t>(inst->d), w.mask,
                  [&](int i) { return ToGeneric ? a[i] + Window : a[i] - Window; });
  return inst + 1;
}
Handlers select_cvta(const Form& form) {
  const bool to_space = form.has("to");
  switch (form.space) {
    case Space::global:
    case Space::constant: return {cvta<0, true, true>, cvta<0, true, false>};
    case Space::shared:
      if (to_space) return {cvta<kSharedWindow, false, true>, cvta<kSharedWindow, false, false>};
      return {cvta<kSharedWindow, true, true>, cvta<kSharedWindow, true, false>};
    case Space::local:
      if (to_space) return {cvta<kLocalWindow, false, true>, cvta<kLocalWindow, false, false>};
      return {cvta<kLocalWindow, true, true>, cvta<kLocalWindow, true, false>};
    case Space::param:
      if (to_space) return {cvta<kParamWindow, false, true>, cvta<kParamWindow, false, false>};
      return {cvta<kParamWindow, true, true>, cvta<kParamWindow, true, false>};
    default: return {};
  }
}

// The block's own shared memory, or that of its cluster.
template <bool OfCluster>
const Inst* isspacep_shared(Warp& w, const Inst* inst) {
  const uint64_t* a = w.src<uint64_t>(inst->a);
  const uint64_t start = kSharedWindow + (OfCluster ? 0 : w.shared_start);
  const uint64_t size =
      OfCluster ? w.block->cluster->blocks.size() << kRankShift : size_t(kWindowSize);
  uint32_t bits = 0;
  for (int i = 0; i < kWarpSize; ++i) bits |= uint32_t(a[i] - start < size) << i;
  w.set_pred(inst->d, bits);
  return inst + 1;
}
template <uint64_t Window>
const Inst* isspacep(Warp& w, const Inst* inst) {
  const uint64_t* a = w.src<uint64_t>(inst->a);
  uint32_t bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint64_t window = (a[i] - kSharedWindow) >> 32;
    const bool in_window = window < 3 && uint32_t(a[i] - kSharedWindow) <
                                             (window == 0 ? kSharedWindowSize : kWindowSize);
    const bool is = Window ? in_window && a[i] - Window < kWindowSize : !in_window;
    bits |= uint32_t(is) << i;
  }
  w.set_pred(inst->d, bits);
  return inst + 1;
}
Handlers select_isspacep(const Form& form) {
  switch (form.space) {
    case Space::global:
    case Space::constant: return {isspacep<0>, isspacep<0>};
    case Space::shared:
      if (form.has("shared::cluster")) return {isspacep_shared<true>, isspacep_shared<true>};
      return {isspacep_shared<false>, isspacep_shared<false>};
    case Space::local: return {isspacep<kLocalWindow>, isspacep<kLocalWindow>};
    case Space::param: return {isspacep<kParamWindow>, isspacep<kParamWindow>};
    default: return {};
  }
}

// The same place in the shared memory of the block of rank b; and the rank of an address's block.
template <class T, bool Full>
const Inst* mapa(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  const uint32_t* rank = w.src<uint32_t>(inst->b);
  each_lane<Full>(w.reg<T>(inst->d), w.mask, [&](int i) {
    return T(a[i] & ~(T(0xff) << kRankShift)) | T(rank[i]) << kRankShift;
  });
  return inst + 1;
}
Handlers select_mapa(const Form& form) {
  if (form.type() == Type::u64) return {mapa<uint64_t, true>, mapa<uint64_t, false>};
  return {mapa<uint32_t, true>, mapa<uint32_t, false>};
}
template <class T, bool Full>
const Inst* getctarank(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  each_lane<Full>(w.reg<uint32_t>(inst->d), w.mask,
                  [&](int i) { return uint32_t(a[i]) >> kRankShift; });
  return inst + 1;
}
Handlers select_getctarank(const Form& form) {
  if (form.type() == Type::u64) return {getctarank<uint64_t, true>, getctarank<uint64_t, false>};
  return {getctarank<uint32_t, true>, getctarank<uint32_t, false>};
}

// There is no cache to fill; a prefetch of a bad address is not an error on hardware either.
const Inst* prefetch(Warp&, const Inst* inst) { return inst + 1; }
Handlers select_prefetch(const Form&) { return {prefetch, prefetch}; }

// A cache policy only ever comes back as an operand that changes nothing; PTX leaves its bits open.
const Inst* no_policy(Warp& w, const Inst* inst) {
  each_lane<false>(w.reg<uint64_t>(inst->d), w.mask, [](int) { return uint64_t(0); });
  return inst + 1;
}
Handlers select_policy(const Form&) { return {no_policy, no_policy}; }

#define RIDGE_PRIORITIES                                                  \
  "[L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged]" \
  "{L2::evict_first|L2::evict_unchanged}[b64]"
constexpr Facts kMove{.encoding = Encoding::move};
constexpr Facts kHint{.left_out = "caches have no priorities and prefetch nothing"};
constexpr Facts kBulkHint{.encoding = Encoding::copy, .left_out = kHint.left_out};
constexpr InstrDef kRows[] = {
    {"mov[%move|pred]", "d,a", Unit::move, kMove, select_mov},
    {"cvta{to}[global|shared|shared::cta|shared::cluster|local|const|param|param::entry][u64]",
     "d,a", Unit::alu, kRegs, select_cvta},
    {"isspacep[global|shared|shared::cta|shared::cluster|local|const|param|param::entry]",
     "d:pred,a:b64", Unit::alu, kRegs, select_isspacep},
    {"mapa{shared::cluster}[u32|u64]", "d,a,b:u32", Unit::alu, kRegs, select_mapa},
    {"getctarank{shared::cluster}[u32|u64]", "d:u32,a", Unit::alu, kRegs, select_getctarank},
    {"prefetch{global|local}[L1|L2|L2::evict_last|L2::evict_normal]", "[a]", Unit::memory, kHint,
     select_prefetch},
    {"prefetchu[L1]", "[a]", Unit::memory, kHint, select_prefetch},
    {"cp[async][bulk][prefetch][L2][global]{%hint}", "[a]:global,b:u32", Unit::memory, kBulkHint,
     select_prefetch},
    {"applypriority{global}[L2::evict_normal]", "[a],b:b32", Unit::memory, kHint, select_prefetch},
    {"discard{global}[L2]", "[a],b:b32", Unit::memory, kHint, select_prefetch},
    {"createpolicy[fractional]" RIDGE_PRIORITIES, "d", Unit::memory, kHint, select_policy},
    {"createpolicy[fractional]" RIDGE_PRIORITIES, "d,a:f32", Unit::memory, kHint, select_policy},
    {"createpolicy[range]{global}" RIDGE_PRIORITIES, "d,[a],b:u32,c:u32", Unit::memory, kHint,
     select_policy},
    {"createpolicy[cvt][L2][b64]", "d,a", Unit::memory, kHint, select_policy},
};
#undef RIDGE_PRIORITIES

}  // namespace

std::span<const InstrDef> move_rows() { return kRows; }

}  // namespace ridge::vm
