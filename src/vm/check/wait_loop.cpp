#include "vm/check/wait_loop.h"

#include <algorithm>

namespace ridge::vm::check {
namespace {

using Members = std::vector<bool>;

// The natural loop of the jump back from `tail` to `head`: all that leads to the jump.
Members loop_of(const Listing& l, const std::vector<std::vector<uint32_t>>& before, uint32_t tail,
                uint32_t head) {
  Members members(l.size(), false);
  members[head] = true;
  std::vector<uint32_t> open{tail};
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    if (members[i]) continue;
    members[i] = true;
    open.insert(open.end(), before[i].begin(), before[i].end());
  }
  return members;
}

bool only_waits(const Listing& l, uint32_t i) {
  const Facts& facts = l.facts(i);
  if (facts.sync == Sync::token_wait || facts.flow == Flow::jump) return true;
  // nanosleep converges and does no more.
  return facts.access == AccessKind::none && facts.sync == Sync::none && !facts.exchanges &&
         facts.flow == Flow::next;
}

// Whether it uses what the turn before has left, or the time.
bool differs_by_turn(const Listing& l, const Members& loop, uint32_t i) {
  for (const Operand& op : l.at(i).operands)
    if (op.kind == Operand::Kind::special) return true;
  for (const int32_t reg : l.uses(i))
    for (const uint32_t writer : l.writers(reg))
      if (loop[writer] && writer >= i) return true;
  return false;
}

}  // namespace

WaitLoop wait_loop(const Listing& l, uint32_t wait) {
  std::vector<std::vector<uint32_t>> before(l.size());
  for (uint32_t i = 0; i < l.size(); ++i)
    for (const uint32_t next : l.next(i)) before[next].push_back(i);
  Members smallest;
  for (uint32_t i = 0; i < l.size(); ++i)
    for (const uint32_t head : l.next(i)) {
      if (!l.is_back_edge(i, head)) continue;
      Members members = loop_of(l, before, i, head);
      if (members[wait] && (smallest.empty() ||
                            std::ranges::count(members, true) < std::ranges::count(smallest, true)))
        smallest = std::move(members);
    }
  WaitLoop loop{std::move(smallest), true};
  for (uint32_t i = 0; i < loop.members.size(); ++i) {
    if (!loop.members[i]) continue;
    if (!only_waits(l, i)) return {};
    loop.endless &= !differs_by_turn(l, loop.members, i);
  }
  return loop;
}

}  // namespace ridge::vm::check
