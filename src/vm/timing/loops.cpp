#include "vm/timing/loops.h"

#include <algorithm>
#include <bit>

#include "vm/observe/registers.h"

namespace ridge::vm::timing {
namespace {

constexpr uint32_t kTurnsToBelieve = 6;

// Which instruction of the function a decoded one stands for, if it is a plain comparison.
const Instruction* comparison(const observe::Plan& plan, const observe::Step& step) {
  if (step.entries != 1) return nullptr;
  const observe::Entry& entry = plan.entries[step.entry];
  if (!entry.source || !entry.match || entry.match->root != "setp") return nullptr;
  const Type type = entry.match->form.type();
  const bool is_whole = type == Type::s32 || type == Type::u32 || type == Type::s64 ||
                        type == Type::u64 || type == Type::b32 || type == Type::b64;
  return is_whole ? entry.source : nullptr;
}

struct Range {  // of a loop's instructions
  uint32_t first, last;
  int32_t guard;  // the predicate of the branch back
  uint32_t length() const { return last - first + 1; }
  bool holds(const Range& r) const { return first <= r.first && r.last <= last; }
};
std::vector<Range> ranges_of(const Function& function) {
  std::vector<Range> all;
  const auto& body = function.instructions;
  for (uint32_t i = 0; i < body.size(); ++i) {
    if (!body[i].match || body[i].match->facts().flow != Flow::jump) continue;
    for (const Operand& op : body[i].operands)
      if (op.kind == Operand::Kind::label && op.target <= i)
        all.push_back({op.target, i, body[i].guard});
  }
  return all;
}

// Whether the branch that ends the loop goes by what the instruction at `at` writes: no later one,
// as the comparison of a loop behind it, writes the same predicate.
bool decides(const Function& function, const Range& loop, uint32_t at) {
  const auto writes = [&](const Instruction& ins) {
    const Operand* const to = observe::written_by(ins);
    return to && to->reg == loop.guard;
  };
  const auto body = function.instructions.begin();
  return loop.first <= at && at < loop.last && writes(body[at]) &&
         std::none_of(body + at + 1, body + loop.last, writes);
}

// Whether it asks for what other blocks write.
bool asks(const observe::Entry& entry) {
  if (!entry.match || !entry.source || entry.as_written.reach != observe::Reach::global)
    return false;
  return entry.as_written.action == observe::Action::atomic ||
         (entry.as_written.action == observe::Action::load &&
          entry.match->form.order != Order::weak);
}

int64_t value_of(const Loops::End& end, const Warp& w, uint32_t operand, uint32_t lane) {
  if (end.is_wide) return w.src<int64_t>(operand)[lane];
  if (end.is_signed) return w.src<int32_t>(operand)[lane];
  return int64_t(w.src<uint32_t>(operand)[lane]);
}

}  // namespace

Loops::Loops(const Code& code, const observe::Plan& plan) {
  const auto& body = code.function->instructions;
  const std::vector<Range> all = ranges_of(*code.function);
  const auto tells = [&](const Range& loop) {
    return loop.guard >= 0 && std::ranges::none_of(all, [&](const Range& other) {
             if (&other == &loop) return false;
             const bool follows = other.first > loop.last && 2 * other.length() > loop.length();
             return follows || other.holds(loop);
           });
  };
  for (uint32_t step = 0; step < plan.steps.size(); ++step) {
    const Instruction* const ins = comparison(plan, plan.steps[step]);
    if (!ins) continue;
    const auto at = uint32_t(ins - body.data());
    for (const Range& loop : all) {
      if (!tells(loop) || !decides(*code.function, loop, at)) continue;
      const Type type = ins->match->form.type();
      ends_[step] = {loop.length(), size_of(type) == 8, type == Type::s32 || type == Type::s64};
    }
  }
}

bool asks_others(const observe::Plan& plan) { return std::ranges::any_of(plan.entries, asks); }

bool may_wait(const Code& code, const observe::Plan& plan) {
  const std::vector<Range> loops = ranges_of(*code.function);
  const Instruction* const first = code.function->instructions.data();
  return std::ranges::any_of(plan.entries, [&](const observe::Entry& entry) {
    const auto at = uint32_t(entry.source - first);
    return asks(entry) && std::ranges::any_of(
                              loops, [&](const Range& r) { return r.first <= at && at <= r.last; });
  });
}

void Foreseen::note(const Loops::End& end, const Warp& w, const Inst* inst, double executed) {
  const auto lane = uint32_t(std::countr_zero(w.mask));
  const int64_t a = value_of(end, w, inst->a, lane), b = value_of(end, w, inst->b, lane);
  const auto known = std::ranges::find(loops_, inst, &Loop::at);
  if (known == loops_.end()) {
    loops_.push_back({.at = inst,
                      .length = end.length,
                      .value = a,
                      .bound = b,
                      .first = executed,
                      .last = executed});
    return;
  }
  const int64_t step = (a - known->value) - (b - known->bound);
  ++known->turns;
  known->alike = step == known->step ? known->alike + 1 : 1;
  known->step = step;
  known->last = executed;
  known->value = a;
  known->bound = b;
}

bool Foreseen::knows(double& left) const {
  const auto longest = std::ranges::max_element(loops_, {}, &Loop::length);
  if (longest == loops_.end() || longest->alike < kTurnsToBelieve || longest->step == 0)
    return false;
  const double ahead = double(longest->bound - longest->value) / double(longest->step);
  if (ahead < 0) return false;
  left = ahead * (longest->last - longest->first) / double(longest->turns);
  return true;
}

}  // namespace ridge::vm::timing
