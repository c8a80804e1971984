#include "vm/observe/uniform.h"

#include <algorithm>
#include <string_view>

#include "vm/isa/shuffle.h"
#include "vm/observe/registers.h"

namespace ridge::vm::observe {
namespace {

// Special registers with a value for the whole warp. (%warpid is not among them: ptxas does not
// take it, or a thread's index divided by 32, for one.)
bool is_of_grid(std::string_view name) {
  for (const char* word : {"%ctaid", "%nctaid", "%ntid", "%gridid", "%smid", "%nsmid", "%nwarpid",
                           "%total_smem_size", "%dynamic_smem_size"})
    if (name.starts_with(word)) return true;
  return false;
}

bool is_branch(const Instruction& ins) {
  return ins.match && ins.match->facts().flow == Flow::jump && !ins.operands.empty() &&
         ins.operands[0].kind == Operand::Kind::label;
}

}  // namespace

Uniform::Uniform(const Function& function)
    : function_(function),
      writes_(function.registers.size()),
      varying_(function.registers.size()),
      divergent_(function.instructions.size()) {
  for (const Instruction& ins : function.instructions) {
    written_.push_back(written_by(ins));
    if (written_.back()) each_register(*written_.back(), [&](size_t r) { ++writes_[r]; });
  }
  while (pass()) find_divergent();
}

bool Uniform::operator()(const Operand& op) const {
  if (op.kind == Operand::Kind::special) return is_of_grid(op.text);
  bool uniform = true;
  each_register(op, [&](size_t r) { uniform &= !varying_[r]; });
  return uniform;
}

bool Uniform::varies(const Instruction& ins) const {
  if (!ins.match) return true;
  const Facts& facts = ins.match->facts();
  if (facts.access == AccessKind::load && ins.match->form.space == Space::local) return true;
  switch (facts.across) {
    case Across::varies: return true;
    case Across::same: return false;
    case Across::shuffled:  // from one lane for all of them
      return shuffle_mode(ins.match->form) != Shuffle::idx || ins.operands.size() < 3 ||
             !(*this)(ins.operands[2]);
    case Across::operands: break;
  }
  if (ins.guard >= 0 && varying_[size_t(ins.guard)]) return true;
  return !std::all_of(ins.operands.begin() + 1, ins.operands.end(),
                      [&](const Operand& op) { return (*this)(op); });
}

bool Uniform::pass() {
  bool learnt = false;
  for (size_t i = 0; i < function_.instructions.size(); ++i) {
    const Instruction& ins = function_.instructions[i];
    const Operand* const to = written_[i];
    if (!to) continue;
    const bool varying = varies(ins);
    each_register(*to, [&](size_t r) {
      // Lanes that went another way have another write's value.
      if (varying_[r] || !(varying || (writes_[r] > 1 && divergent_[i]))) return;
      varying_[r] = true;
      learnt = true;
    });
  }
  return learnt;
}

// From a branch that parts lanes to where it leads, with its else; a loop that lanes leave one
// after the other is all of it such a place.
void Uniform::find_divergent() {
  const auto& all = function_.instructions;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_branch(all[i]) || all[i].guard < 0 || !varying_[size_t(all[i].guard)]) continue;
    const size_t target = std::min<size_t>(all[i].operands[0].target, all.size());
    size_t begin = std::min(i, target), end = std::max(i, target);
    if (target > i + 1 && is_branch(all[target - 1]) && all[target - 1].guard < 0)
      end = std::max(end, std::min<size_t>(all[target - 1].operands[0].target, all.size()));
    std::fill(divergent_.begin() + long(begin), divergent_.begin() + long(end), true);
  }
}

}  // namespace ridge::vm::observe
