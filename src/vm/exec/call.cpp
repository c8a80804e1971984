// Calls, returns and jumps through tables.
#include <algorithm>
#include <cstring>

#include "vm/exec/block.h"
#include "vm/exec/grid.h"
#include "vm/isa/internal.h"
#include "vm/isa/memory.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kFrameAlign = 16;

// Copies `bytes` of local memory at `from` to `to` for the active lanes, by words; both are 4-byte
// aligned in practice, and the padding of smaller values may be copied along.
void copy_local(Warp& w, uint32_t from, uint32_t to, uint32_t bytes) {
  for (uint32_t k = 0; k < bytes; k += 4) {
    const auto* words = reinterpret_cast<const uint32_t*>(local_byte(w, from + k, 0));
    each_lane<false>(reinterpret_cast<uint32_t*>(local_byte(w, to + k, 0)), w.mask,
                     [&](int i) { return words[i]; });
  }
}

// Lanes that come to one call at different times share the activation, as the divergent lanes of a
// kernel share its registers: a .sync instruction in the function finds all of them in one frame.
Frame* activation(Warp& w, const Code* callee, const Inst* return_pc) {
  uint32_t top = w.frame->local_base + w.frame->code->local_bytes;
  if (w.frame->stack_tops)
    each_active(w.mask, [&](int i) { top = std::max(top, w.frame->stack_tops[i]); });
  const uint32_t local_base = (top + kFrameAlign - 1) / kFrameAlign * kFrameAlign;
  for (const auto& f : w.frames)
    if (f->caller == w.frame && f->return_pc == return_pc && f->code == callee &&
        f->local_base >= local_base && !(f->lanes & w.mask))
      return f.get();
  if (w.spare_frames.empty()) w.spare_frames.push_back(std::make_unique<Frame>());
  auto frame = std::move(w.spare_frames.back());
  w.spare_frames.pop_back();
  frame->code = callee;
  frame->registers = frame->storage.at_least(callee->frame_bytes);
  frame->local_base = local_base;
  frame->caller = w.frame;
  frame->return_pc = return_pc;
  w.frames.push_back(std::move(frame));
  return w.frames.back().get();
}

// a = register with the function's address (kNoOperand: direct), b = call site, c = join offset of
// an indirect call.
const Inst* call(Warp& w, const Inst* inst) {
  const CallSite& site = w.frame->code->calls[inst->b];
  if (site.provided) return site.provided(w, inst, site);
  Code* callee = nullptr;
  if (site.function) {
    callee = w.frame->code->kernel->functions.at(site.function).get();
  } else {
    const uint64_t* address = w.src<uint64_t>(inst->a);
    const int first = __builtin_ctz(w.mask);
    uint32_t same = 0;
    each_active(w.mask, [&](int i) { same |= uint32_t(address[i] == address[first]) << i; });
    // Lanes that call different functions do so one function at a time and meet behind the call.
    if (same != w.mask) return diverge(w, same, inst, inst, inst + int32_t(inst->c));
    callee = decode_address(*w.frame->code->kernel, address[first]);
    if (!callee)
      return raise(w, inst, FaultKind::invalid_pc, uint32_t(first), address[first], 0,
                   "call of an invalid function pointer");
  }
  Frame* frame = activation(w, callee, inst + 1);
  frame->lanes |= w.mask;
  if (frame->local_base + callee->local_bytes > w.local_size || w.frames.size() > 4096)
    return raise(w, inst, FaultKind::hardware_stack, uint32_t(__builtin_ctz(w.mask)), 0, 0,
                 "stack overflow");
  for (size_t k = 0; k < site.arguments.size() && k < callee->params.size(); ++k)
    copy_local(w, w.frame->local_base + site.arguments[k],
               frame->local_base + callee->params[k].offset, callee->params[k].bytes);
  w.fragments[w.current].frame = frame;
  enter_frame(w, frame);
  return callee->insts.data();
}

const Inst* ret(Warp& w, const Inst*) {
  Frame* frame = w.frame;
  Frame* caller = frame->caller;
  const Inst* pc = frame->return_pc;
  // The function's registers end here, so ptxas waits for what is still to be written to them.
  if (!w.products.empty()) w.products.finish(w);
  const CallSite& site = caller->code->calls[(pc - 1)->b];
  for (size_t k = 0; k < site.results.size() && k < frame->code->results.size(); ++k)
    copy_local(w, frame->local_base + frame->code->results[k].offset,
               caller->local_base + site.results[k], frame->code->results[k].bytes);
  frame->lanes &= ~w.mask;
  w.fragments[w.current].frame = caller;
  enter_frame(w, caller);
  if (!frame->lanes) {
    const auto f = std::ranges::find(w.frames, frame, &std::unique_ptr<Frame>::get);
    frame->stack_tops.reset();
    w.spare_frames.push_back(std::move(*f));
    w.frames.erase(f);
  }
  return pc;
}

const Inst* branch_table(Warp& w, const Inst* inst) {
  const Code& code = *w.frame->code;
  const auto& table = code.tables[inst->b];
  const uint32_t* index = w.src<uint32_t>(inst->a);
  const int first = __builtin_ctz(w.mask);
  if (index[first] >= table.size())
    return raise(w, inst, FaultKind::invalid_pc, uint32_t(first), index[first], 0,
                 "branch index outside its table");
  uint32_t same = 0;
  each_active(w.mask, [&](int i) { same |= uint32_t(index[i] == index[first]) << i; });
  const Inst* target = code.insts.data() + table[index[first]];
  if (same != w.mask)
    return diverge(w, same, target, inst, inst->c ? inst + int32_t(inst->c) : nullptr);
  if (target <= inst && --w.budget <= 0) return yield(w, target);
  return target;
}

}  // namespace

uint32_t param_bytes(const Warp& w) { return uint32_t(w.block->grid->launch->params.size()); }

namespace internal {
const Handlers kCall = {call, call};
const Handlers kReturn = {ret, ret};
const Handlers kBranchTable = {branch_table, branch_table};
}  // namespace internal

}  // namespace ridge::vm
