#include "vm/timing/spins.h"

#include <algorithm>
#include <unordered_set>

#include "vm/observe/registers.h"

namespace ridge::vm::timing {
namespace {

constexpr size_t kLongest = 64;  // PTX instructions

bool writes_memory(const Facts& facts) {
  return facts.access != AccessKind::none && facts.writes() && facts.sync != Sync::token_wait &&
         facts.access != AccessKind::atomic;
}

// Asks for what others write: a load that may not be kept in a register, or an atomic.
bool polls(const Match& match) {
  const AccessKind access = match.facts().access;
  return access == AccessKind::atomic ||
         (access == AccessKind::load && match.form.order != Order::weak);
}

// One loop from instruction `first` to the branch back at `last`.
class Loop {
 public:
  Loop(const Function& function, size_t first, size_t last)
      : code_(function.instructions), first_(first), last_(last) {
    for (size_t k = first; k <= last; ++k)
      if (const Operand* to = observe::written_by(code_[k]))
        observe::each_register(*to, [&](size_t reg) { written_.insert(reg); });
  }

  // What it asks, if all that it does is ask.
  std::vector<size_t> asks() const {
    std::vector<size_t> found;
    for (size_t k = first_; k <= last_; ++k) {
      const Match* match = code_[k].match;
      if (!match) continue;
      const Facts& facts = match->facts();
      if (writes_memory(facts) || facts.is_barrier() || facts.flow == Flow::call) return {};
      const bool asks = facts.sync == Sync::token_wait || (polls(*match) && stays(code_[k]));
      if (asks) found.push_back(k);
    }
    return found;
  }
  bool leaves_block(size_t k) const {
    const Match& match = *code_[k].match;
    return match.facts().sync != Sync::token_wait && match.form.space != Space::shared;
  }

 private:
  // The address is the same each time.
  bool stays(const Instruction& ins) const {
    bool same = true;
    for (const Operand& op : ins.operands)
      if (op.kind == Operand::Kind::address)
        observe::each_register(op, [&](size_t reg) { same &= !written_.contains(reg); });
    return same;
  }

  const std::vector<Instruction>& code_;
  size_t first_, last_;
  std::unordered_set<size_t> written_;
};

}  // namespace

Spins spins_of(const Code& code, const observe::Plan& plan) {
  const auto& list = code.function->instructions;
  std::vector<Spins::At> by_source(list.size());
  Spins out;
  uint16_t loops = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].match || list[i].match->facts().flow != Flow::jump) continue;
    for (const Operand& op : list[i].operands) {
      if (op.kind != Operand::Kind::label || op.target > i || i - op.target > kLongest) continue;
      const Loop loop(*code.function, op.target, i);
      const auto asks = loop.asks();
      if (asks.empty()) continue;
      for (size_t k = op.target; k <= i; ++k) by_source[k].loop = loops;
      for (const size_t k : asks) by_source[k].asks = true;
      ++loops;
      const auto outside =
          std::ranges::find_if(asks, [&](size_t k) { return loop.leaves_block(k); });
      if (outside != asks.end())
        out.notes.push_back("waits for other blocks (PTX line " +
                            std::to_string(list[*outside].line) +
                            "): the wait counts as one look, as if they were never late");
    }
  }
  for (const observe::Step& step : plan.steps) {
    const observe::Entry* entry = step.counts || step.touches ? &plan.entries[step.entry] : nullptr;
    const bool is_known =
        entry && entry->source >= list.data() && entry->source < list.data() + list.size();
    out.at.push_back(is_known ? by_source[size_t(entry->source - list.data())] : Spins::At{});
  }
  return out;
}

}  // namespace ridge::vm::timing
