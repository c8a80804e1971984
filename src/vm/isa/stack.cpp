// The stack of a thread: alloca, stacksave, stackrestore. It grows upwards in local memory from
// behind the function's variables; each lane has its own end, and functions it calls start behind
// that.
#include <algorithm>

#include "vm/decode/code.h"
#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kLeastAlign = 8;

uint32_t* tops(Warp& w) {
  Frame& frame = *w.frame;
  if (!frame.stack_tops) {
    frame.stack_tops.reset(new uint32_t[kWarpSize]);
    std::fill_n(frame.stack_tops.get(), kWarpSize, frame.local_base + frame.code->local_bytes);
  }
  return frame.stack_tops.get();
}

// d = where the piece starts in local memory; a = its bytes, b = its alignment.
template <class T>
const Inst* allocate(Warp& w, const Inst* inst) {
  const T* bytes = w.src<T>(inst->a);
  const uint32_t* align = inst->b == kNoOperand ? nullptr : w.src<uint32_t>(inst->b);
  uint32_t* top = tops(w);
  T* d = w.reg<T>(inst->d);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t unit = std::max(align ? align[i] : 0, kLeastAlign);
    const uint64_t start = (top[i] + unit - 1) / unit * unit;
    if (bytes[i] > w.local_size || start + bytes[i] > w.local_size)
      return raise(w, inst, FaultKind::hardware_stack, uint32_t(i), 0, 0, "stack overflow");
    d[i] = T(start);
    top[i] = uint32_t(start + bytes[i]);
  }
  return inst + 1;
}

template <class T>
const Inst* save(Warp& w, const Inst* inst) {
  const uint32_t* top = tops(w);
  T* d = w.reg<T>(inst->d);
  each_active(w.mask, [&](int i) { d[i] = T(top[i]); });
  return inst + 1;
}

template <class T>
const Inst* restore(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  uint32_t* top = tops(w);
  const uint32_t lowest = w.frame->local_base + w.frame->code->local_bytes;
  each_active(w.mask, [&](int i) {
    top[i] = std::clamp(uint32_t(a[i]), lowest, std::max(lowest, w.local_size));
  });
  return inst + 1;
}

template <Handler H32, Handler H64>
Handlers select(const Form& form) {
  if (form.type() == Type::u32) return {H32, H32};
  return {H64, H64};
}

constexpr Facts kGrows{.grows_stack = true};
constexpr InstrDef kRows[] = {
    {"alloca[u32|u64]", "d,a", Unit::alu, kGrows, select<allocate<uint32_t>, allocate<uint64_t>>},
    {"alloca[u32|u64]", "d,a,b:u32", Unit::alu, kGrows,
     select<allocate<uint32_t>, allocate<uint64_t>>},
    {"stacksave[u32|u64]", "d", Unit::alu, kRegs, select<save<uint32_t>, save<uint64_t>>},
    {"stackrestore[u32|u64]", "a", Unit::alu, kRegs, select<restore<uint32_t>, restore<uint64_t>>},
};

}  // namespace

std::span<const InstrDef> stack_rows() { return kRows; }

}  // namespace ridge::vm
