// Who reads and writes each register of a function, to see what ptxas makes of its instructions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/observe/registers.h"

namespace ridge::vm::timing {

inline bool is(const Match& m, std::initializer_list<std::string_view> roots) {
  return std::ranges::find(roots, m.root) != roots.end();
}
inline bool is_wide_type(Type t) { return size_of(t) == 8; }

class Uses {
 public:
  explicit Uses(const Function& function) {
    for (const Instruction& ins : function.instructions) {
      const Operand* const to = observe::written_by(ins);
      const auto read = [&](size_t reg) { readers_[reg].push_back(&ins); };
      for (const Operand& op : ins.operands)
        if (&op != to) observe::each_register(op, read);
      if (ins.guard >= 0) read(size_t(ins.guard));
      if (to) observe::each_register(*to, [&](size_t reg) { writers_[reg].push_back(&ins); });
    }
  }
  // Whether there are readers of what `ins` writes, and `test` holds for all of them.
  template <class F>
  bool all_readers(const Instruction& ins, F test) const {
    const Operand* const to = observe::written_by(ins);
    const auto readers = to && to->reg >= 0 ? readers_.find(size_t(to->reg)) : readers_.end();
    if (readers == readers_.end()) return false;
    return std::ranges::all_of(readers->second,
                               [&](const Instruction* one) { return one->match && test(*one); });
  }
  size_t reader_count(const Instruction& ins) const {
    const Operand* const to = observe::written_by(ins);
    const auto readers = to && to->reg >= 0 ? readers_.find(size_t(to->reg)) : readers_.end();
    return readers == readers_.end() ? 0 : readers->second.size();
  }
  // Whether an operand of `ins` is written by an instruction for which `test` holds.
  template <class F>
  bool any_operand(const Instruction& ins, F test) const {
    const Operand* const to = observe::written_by(ins);
    for (const Operand& op : ins.operands) {
      const auto writers = &op == to || op.reg < 0 ? writers_.end() : writers_.find(size_t(op.reg));
      if (writers == writers_.end()) continue;
      for (const Instruction* one : writers->second)
        if (one->match && test(*one)) return true;
    }
    return false;
  }
  template <class F>
  bool any_writer(int32_t reg, F test) const {
    const auto writers = writers_.find(size_t(reg));
    return writers != writers_.end() &&
           std::ranges::any_of(writers->second,
                               [&](const Instruction* one) { return one->match && test(*one); });
  }

 private:
  std::unordered_map<size_t, std::vector<const Instruction*>> readers_, writers_;
};

inline bool is_add(const Instruction& ins) {
  return is(*ins.match, {"add", "sub"}) && ins.match->row->unit == Unit::alu;
}
inline bool is_add64(const Instruction& ins) {
  return is_add(ins) && is_wide_type(ins.match->form.type());
}
inline bool adds_constant(const Instruction& ins) {
  return is_add(ins) && ins.operands.size() == 3 && ins.operands[2].kind == Operand::Kind::imm;
}

}  // namespace ridge::vm::timing
