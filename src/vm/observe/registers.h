// Which registers an instruction reads and writes.
#pragma once

#include "vm/decode/code.h"
#include "vm/decode/decoder.h"
#include "vm/observe/machine.h"

namespace ridge::vm::observe {

template <class F>
void each_register(const Operand& op, F f) {
  if (op.reg >= 0) f(size_t(op.reg));
  if (op.second >= 0) f(size_t(op.second));
  for (const Operand& e : op.elems) each_register(e, f);
}

// What an instruction writes comes first; so do the results of a call, which no table has.
inline const Operand* written_by(const Instruction& ins) {
  if (ins.operands.empty()) return nullptr;
  const Match* const match = match_of(ins);
  if (!match) return &ins.operands[0];
  const auto& specs = operand_specs(*match->row);
  return !specs.empty() && specs[0].dest ? &ins.operands[0] : nullptr;
}

}  // namespace ridge::vm::observe
