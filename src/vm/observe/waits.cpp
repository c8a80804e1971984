#include "vm/observe/waits.h"

#include <unordered_map>

#include "vm/observe/registers.h"

namespace ridge::vm::observe {
namespace {

// Cycles until a result can be used, roughly: only which chain is the longest depends on it.
double latency_of(const Instruction& ins) {
  if (!ins.match) return 4;
  const Facts& facts = ins.match->facts();
  switch (facts.access) {
    case AccessKind::load:
    case AccessKind::atomic: {
      const Space space = ins.match->form.space;
      if (space == Space::param || space == Space::constant) return 4;
      return space == Space::shared ? 25 : 500;
    }
    case AccessKind::sample:
    case AccessKind::load_surface: return 500;
    case AccessKind::load_matrix: return 25;
    default: return facts.across == Across::shuffled || ins.match->form.approx ? 25 : 4;
  }
}

bool ends_block(const Instruction& ins) {
  return ins.match && (ins.match->facts().flow != Flow::next || ins.match->facts().is_barrier());
}

std::vector<bool> block_starts(const Function& function) {
  std::vector<bool> starts(function.instructions.size() + 1);
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& ins = function.instructions[i];
    if (ends_block(ins)) starts[i + 1] = true;
    for (const Operand& op : ins.operands)
      if (op.kind == Operand::Kind::label && op.target < starts.size()) starts[op.target] = true;
  }
  for (const BranchTable& table : function.tables)
    for (const uint32_t target : table.targets)
      if (target < starts.size()) starts[target] = true;
  return starts;
}

}  // namespace

std::vector<bool> waits_of(const Function& function) {
  const size_t count = function.instructions.size();
  const std::vector<bool> starts = block_starts(function);
  constexpr size_t kNone = ~size_t(0);
  std::vector<bool> waits(count);
  std::vector<double> begins(count, 0);       // when the instruction's operands are there
  std::vector<size_t> after(count, kNone);    // the instruction that it waits for last
  std::unordered_map<size_t, size_t> writer;  // register → the block's last that writes it
  size_t last = kNone;                        // of the block, to begin
  const auto end_block = [&] {
    for (size_t i = last == kNone ? kNone : after[last]; i != kNone; i = after[i]) waits[i] = true;
    writer.clear();
    last = kNone;
  };
  for (size_t i = 0; i < count; ++i) {
    if (starts[i]) end_block();
    const Instruction& ins = function.instructions[i];
    const Operand* const to = written_by(ins);
    const auto reads = [&](size_t reg) {
      const auto found = writer.find(reg);
      if (found == writer.end()) return;
      const size_t from = found->second;
      const double ready = begins[from] + latency_of(function.instructions[from]);
      if (ready > begins[i]) begins[i] = ready, after[i] = from;
    };
    if (ins.guard >= 0) reads(size_t(ins.guard));
    for (const Operand& op : ins.operands)
      if (&op != to) each_register(op, reads);
    if (to) each_register(*to, [&](size_t reg) { writer[reg] = i; });
    if (last == kNone || begins[i] > begins[last]) last = i;
  }
  end_block();
  return waits;
}

}  // namespace ridge::vm::observe
