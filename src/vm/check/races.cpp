#include "vm/check/races.h"

#include <algorithm>

#include "vm/report/sink.h"

namespace ridge::vm::check {
namespace {

bool is_meeting(const Listing& l, uint32_t i) { return l.facts(i).is_barrier(); }
bool is_barrier(const Listing& l, uint32_t i) {
  return is_meeting(l, i) && l.facts(i).sync != Sync::warp;
}

Relation::Ways ways(const Listing& l, uint32_t first, uint32_t second,
                    bool (*stops)(const Listing&, uint32_t)) {
  const auto stopped = [&](uint32_t i) { return stops(l, i); };
  return {l.paths(first, second, stopped), l.paths(second, first, stopped)};
}

// Several loads may be one instruction; which of them a race is about is not known.
bool is_all_at(const Listing& l, const SiteInfo& loads, const std::optional<Listing::Address>& at) {
  return std::ranges::all_of(loads.indices, [&](uint32_t i) { return l.address(i) == at; });
}

bool uses_rows(const KernelCode& kernel) {
  const auto is_row = [](const Operand& op) {
    return op.kind == Operand::Kind::special &&
           (op.text.ends_with("tid.y") || op.text.ends_with("tid.z")) &&
           op.text.find("ctaid") == std::string::npos && op.text.find("ntid") == std::string::npos;
  };
  for (const auto& [function, code] : kernel.functions)
    for (const Instruction& i : function->instructions)
      if (std::ranges::any_of(i.operands, is_row)) return true;
  return false;
}

std::string place_of(const SiteInfo& info) {
  if (info.file.empty()) return "ptx " + info.kernel + ":" + std::to_string(info.ptx_line);
  return info.file + ":" + std::to_string(info.line);
}

}  // namespace

RacePair& Races::pair_of(const Conflict& c) {
  auto& slot = pairs_[uint64_t(c.first) << 32 | c.second];
  if (!slot) {
    slot = std::make_unique<RacePair>();
    slot->widest = c;
    order_.push_back(slot.get());
  }
  return *slot;
}

bool Races::knows(uint32_t first, uint32_t second) {
  const std::lock_guard lock(mutex_);
  return pairs_.contains(uint64_t(first) << 32 | second);
}

bool Races::see(const Conflict& c) {
  const std::lock_guard lock(mutex_);
  RacePair& pair = pair_of(c);
  const bool more = ++pair.count == 1 || c.scope > pair.widest.scope;
  if (more) pair.widest = c;
  if (c.same_turn) (*c.same_turn ? pair.same_turn : pair.other_turn) = true;
  pair.rows_only &= c.rows;
  pair.named |= !c.several;
  return more;
}

void Races::describe(const Conflict& c, const Finding& example, const KernelCode* kernel,
                     bool several_rows) {
  const std::lock_guard lock(mutex_);
  RacePair& pair = pair_of(c);
  const bool first = pair.example.kind.empty();
  pair.example = example;
  if (!first) return;
  pair.at_first = sites_.info(c.first);
  pair.at_second = sites_.info(c.second);
  pair.idle_rows = several_rows && kernel && !uses_rows(*kernel);
  pair.relation = relate(pair);
  // Told at once, for programs that do not come to their end; told better then.
  pair.id = report::write(findings_.told(decide_cause({&pair}).finding));
}

Relation Races::relate(const RacePair& pair) const {
  Relation r;
  const SiteInfo &a = pair.at_first, &b = pair.at_second;
  if (!a.code || a.code != b.code || a.index == Listing::kNone || b.index == Listing::kNone)
    return r;
  const Listing& l = *sites_.of(*a.code).listing;
  r.known = true;
  r.past_barriers = ways(l, a.index, b.index, is_barrier);
  r.past_meetings = ways(l, a.index, b.index, is_meeting);
  const auto all = ways(l, a.index, b.index, [](const Listing&, uint32_t) { return false; });
  r.one_loop = (all.to_second.within_turn || all.to_second.by_turn) &&
               (all.to_first.within_turn || all.to_first.by_turn);
  const auto is_store = [&](const SiteInfo& s) {
    return l.facts(s.index).access == AccessKind::store;
  };
  for (const auto& [write, other] : {std::pair(&b, &a), std::pair(&a, &b)}) {
    if (!is_store(*write)) continue;
    r.claim |= is_claim(l, write->index);
    if (!r.update)
      if (const auto update = update_of(l, write->index);
          update && (is_store(*other) || is_all_at(l, *other, l.address(write->index))))
        r.update = update;
    if (l.facts(other->index).access == AccessKind::load && !r.update)
      for (const uint32_t load : other->indices)
        r.in_place |=
            l.address(load) != l.address(write->index) && is_computed_from(l, write->index, load);
  }
  r.looked_at_again =
      is_looked_at_again(l, a.index, b.index) || is_looked_at_again(l, b.index, a.index);
  for (uint32_t i = 0; i < l.size() && !r.fences; ++i)
    if (l.facts(i).access == AccessKind::atomic || l.facts(i).access == AccessKind::reduction) {
      const auto nothing = [](uint32_t) { return false; };
      const uint32_t write = pair.widest.first_writes ? a.index : b.index;
      r.fences = l.address(i) != l.address(write) && l.paths(write, i, nothing).within_turn;
    }
  return r;
}

void Races::finish() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<const RacePair*>> groups;
  std::vector<std::string> names;  // in the order seen
  for (const RacePair* pair : order_) {
    if (pair->example.kind.empty()) continue;
    std::string a = place_of(pair->at_first), b = place_of(pair->at_second);
    if (b < a) std::swap(a, b);
    const std::string name = pair->example.space + "|" + pair->example.kernel + "|" + a + "|" + b;
    if (!groups.contains(name)) names.push_back(name);
    groups[name].push_back(pair);
  }
  std::vector<Cause> causes;
  for (const std::string& name : names) causes.push_back(decide_cause(groups[name]));
  for (Cause& cause : join_causes(std::move(causes))) {
    report::Finding told = findings_.told(cause.finding);
    told.count = 0;
    for (const RacePair* pair : cause.pairs) {
      told.count += pair->count;
      if (pair != cause.pairs[0]) report::withdraw(pair->id);
    }
    report::rewrite(cause.pairs[0]->id, told);
  }
}

}  // namespace ridge::vm::check
