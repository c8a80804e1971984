// The registers that an instruction reads and writes.
#pragma once

#include "vm/decode/code.h"
#include "vm/isa/operands.h"

namespace ridge::vm::observe {

template <class F>
void each_register(const Operand& op, F f) {
  if (op.reg >= 0) f(size_t(op.reg));
  if (op.second >= 0) f(size_t(op.second));
  for (const Operand& e : op.elems) each_register(e, f);
}

// What an instruction writes comes first; so do the results of a call.
inline const Operand* written_by(const Instruction& ins) {
  if (ins.operands.empty()) return nullptr;
  if (!ins.match || ins.match->facts().flow == Flow::call) return &ins.operands[0];
  const auto& specs = operand_specs(*ins.match->row);
  return !specs.empty() && specs[0].dest ? &ins.operands[0] : nullptr;
}

}  // namespace ridge::vm::observe
