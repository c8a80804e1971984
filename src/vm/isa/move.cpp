// Data movement between registers: mov, cvta, isspacep, prefetch and the decoder's own width
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

template <uint64_t Window>
const Inst* isspacep(Warp& w, const Inst* inst) {
  const uint64_t* a = w.src<uint64_t>(inst->a);
  uint32_t bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint64_t window = (a[i] - kSharedWindow) >> 32;
    const bool in_window = window < 3 && uint32_t(a[i] - kSharedWindow) < kWindowSize;
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
    case Space::shared: return {isspacep<kSharedWindow>, isspacep<kSharedWindow>};
    case Space::local: return {isspacep<kLocalWindow>, isspacep<kLocalWindow>};
    case Space::param: return {isspacep<kParamWindow>, isspacep<kParamWindow>};
    default: return {};
  }
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
constexpr InstrDef kRows[] = {
    {"mov[%move|pred]", "d,a", Unit::move, kMove, select_mov},
    {"cvta{to}[global|shared|shared::cta|shared::cluster|local|const|param|param::entry][u64]",
     "d,a", Unit::alu, kRegs, select_cvta},
    {"isspacep[global|shared|shared::cta|shared::cluster|local|const|param|param::entry]",
     "d:pred,a:b64", Unit::alu, kRegs, select_isspacep},
    {"prefetch{global|local}[L1|L2|L2::evict_last|L2::evict_normal]", "[a]", Unit::memory, kHint,
     select_prefetch},
    {"prefetchu[L1]", "[a]", Unit::memory, kHint, select_prefetch},
    {"cp[async][bulk][prefetch][L2][global]{%hint}", "[a]:global,b:u32", Unit::memory, kHint,
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
