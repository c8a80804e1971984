#include "vm/observe/follow.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "vm/observe/address.h"

namespace ridge::vm::observe {
namespace {

// A plain load or store of PTX.
struct Item {
  const Instruction* ins;
  Action action;
  Space space;
  uint32_t bytes;  // a lane, as written
  uint64_t begin;  // the constant of its address
  const std::vector<std::pair<uint32_t, uint64_t>>* unknowns;
  std::set<uint32_t> widths;            // of the machine code at its line; empty: it has nothing
  std::vector<MachineAccess> accesses;  // what is done for it: the model's until known better
  bool settled = false, unclear = false;

  bool is_beside(const Item& o) const {  // at a known distance
    return action == o.action && space == o.space && *unknowns == *o.unknowns;
  }
  bool is_within(uint64_t start, uint32_t size) const {
    return begin - start <= size && begin - start + bytes <= size;
  }
};

bool fits(Space space, Reach reach) {
  if (space == Space::generic || reach == Reach::none) return true;
  return (space == Space::shared && reach == Reach::shared) ||
         (space == Space::global && reach == Reach::global) ||
         (space == Space::local && reach == Reach::local);
}

class Follower {
 public:
  Follower(MachineCode& code, const Function& function,
           const std::unordered_map<const Variable*, uint32_t>& shared, const Disassembly& machine)
      : code_(code), function_(function), addresses_(function, shared), machine_(machine) {}

  void run() {
    collect();
    join_by_the_model();
    compare();
    for (Item& item : items_) settle_alone(item);
    for (Item& item : items_)
      if (!item.settled && !item.unclear && !item.widths.empty()) settle_wide(item);
    for (Item& item : items_)
      if (!item.settled && !item.unclear) settle_absent(item);
    spread_doubt();
    for (const Item& item : items_)
      if (item.unclear) code_.unclear.insert(item.ins);
      else code_.changed[item.ins] = item.accesses;
  }

 private:
  const std::vector<MachineInstruction>& emitted(const Instruction& ins) const {
    static const std::vector<MachineInstruction> none;
    const auto found = machine_.find(ins.line);
    return found == machine_.end() ? none : found->second;
  }

  void collect() {
    std::map<std::pair<uint32_t, Action>, uint32_t> at_line;
    for (const Instruction& ins : function_.instructions) {
      const Match* match = ins.match;
      if (!match) continue;
      const Facts& facts = match->facts();
      const Space space = match->form.space;
      if (facts.access == AccessKind::atomic || facts.access == AccessKind::reduction) {
        atomic(ins, *match);
        continue;
      }
      if (!facts.is_plain_access() || space == Space::param || space == Space::constant) continue;
      Item item;
      item.ins = &ins;
      item.action = facts.access == AccessKind::load ? Action::load : Action::store;
      item.space = space;
      item.bytes = uint32_t(size_of(match->form.type()) * match->form.vector);
      const Sum& at = addresses_.of(ins);
      item.begin =
          space == Space::shared || space == Space::local ? uint32_t(at.constant) : at.constant;
      item.unknowns = &at.terms;
      for (const MachineInstruction& one : emitted(ins))
        if (one.action == item.action && !one.matrices && fits(space, one.reach))
          item.widths.insert(one.bytes);
      const auto model = code_.changed.find(&ins);
      item.accesses = model == code_.changed.end()
                          ? std::vector{MachineAccess{&ins, 0, uint8_t(item.bytes)}}
                          : model->second;
      ++at_line[{ins.line, item.action}];
      index_[&ins] = items_.size();
      items_.push_back(std::move(item));
    }
    for (Item& item : items_)  // whose is it? compilers write one instruction per line
      if (at_line[{item.ins->line, item.action}] > 1) item.unclear = true;
  }

  // Those on shared memory are one kind of instruction, whether their result is read or not.
  void atomic(const Instruction& ins, const Match& match) {
    bool reduces = false, returns = false, compares = false;
    for (const MachineInstruction& one : emitted(ins)) {
      reduces |= one.action == Action::reduction;
      returns |= one.action == Action::atomic;
      compares |= one.compares;
    }
    MachineAtomic& model = code_.atomics[&ins];
    const bool is_loop = compares && match.form.operation != Operation::cas;
    const bool may_loop = model.way == MachineAtomic::Way::loop || model.loops_in_shared;
    if (is_loop != may_loop || reduces == returns) code_.unclear.insert(&ins);
    else if (match.form.space != Space::shared && match.facts().access == AccessKind::atomic)
      model.is_reduction = reduces;
  }

  // Items that the model has in common accesses.
  void join_by_the_model() {
    parent_.resize(items_.size());
    std::iota(parent_.begin(), parent_.end(), size_t(0));
    for (size_t i = 0; i < items_.size(); ++i)
      for (const MachineAccess& access : items_[i].accesses)
        parent_[root(i)] = root(index_.at(access.lead));
  }
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  // Where the machine code has the widths that the model has, the model is right.
  void compare() {
    std::map<size_t, std::pair<std::set<uint32_t>, std::set<uint32_t>>> widths;
    for (size_t i = 0; i < items_.size(); ++i) {
      auto& [ours, theirs] = widths[root(i)];
      for (const MachineAccess& access : items_[i].accesses) ours.insert(access.bytes);
      theirs.insert(items_[i].widths.begin(), items_[i].widths.end());
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      const auto& [ours, theirs] = widths[root(i)];
      items_[i].settled = ours == theirs && !items_[i].unclear;
    }
  }

  void settle_alone(Item& item) {
    if (item.settled || item.unclear || item.widths.empty()) return;
    const uint32_t width = *item.widths.begin();
    if (item.widths.size() > 1 || width < item.bytes) item.unclear = true;
    else if (width == item.bytes) settle(item, {item.ins, 0, uint8_t(width)});
  }

  // Wider than as written: it does the work of neighbours that have nothing of their own.
  void settle_wide(Item& item) {
    const uint32_t width = *item.widths.begin();
    std::vector<Item*> best;
    uint64_t best_start = 0;
    uint32_t most = 0;
    const bool aligned = addresses_.alignment({*item.unknowns, 0}) >= width;
    const auto consider = [&](uint64_t start) {
      std::vector<Item*> members;
      uint32_t covered = 0;  // one bit per byte
      for (Item& other : items_) {
        if (other.settled || other.unclear || !other.is_beside(item)) continue;
        if (!other.is_within(start, width)) continue;
        if (!other.widths.empty() && *other.widths.begin() != width) continue;
        members.push_back(&other);
        covered |= uint32_t((uint64_t(1) << other.bytes) - 1) << (other.begin - start);
      }
      const auto count = uint32_t(std::popcount(covered));
      if (count > most) most = count, best = members, best_start = start;
    };
    consider(item.begin / width * width);
    for (uint32_t back = 0; !aligned && back < width; back += item.bytes)
      consider(item.begin - back);
    const bool enough = item.action == Action::load ? 2 * most > width : most == width;
    const bool one_by_one = enough && std::ranges::all_of(best, [&](const Item* member) {
                              return dominates(*best[0]->ins, *member->ins);
                            });
    if (!one_by_one) {  // with accesses of other turns, or of another way to come here
      item.unclear = true;
      return;
    }
    const MachineAccess access{best[0]->ins, int32_t(best_start - best[0]->begin), uint8_t(width)};
    for (Item* member : best) settle(*member, access);
  }

  // Nothing at its line: another's access does its work, or it is gone with its whole kind. Else
  // its code may be shared with another's.
  void settle_absent(Item& item) {
    for (const Item& other : items_) {
      if (&other == &item || !other.settled || !other.is_beside(item)) continue;
      for (const MachineAccess& access : other.accesses)
        if (access.lead == other.ins && item.is_within(other.begin + access.start, access.bytes) &&
            dominates(*other.ins, *item.ins))
          return settle(item, access);
    }
    const bool kind_remains = std::ranges::any_of(items_, [&](const Item& other) {
      return other.ins->match == item.ins->match && !other.widths.empty();
    });
    if (kind_remains) {
      item.unclear = true;
      return;
    }
    item.accesses.clear();
    item.settled = true;
  }

  static void settle(Item& item, const MachineAccess& access) {
    item.accesses = {access};
    item.settled = true;
  }

  // What belongs together, by the model or by the machine code, is clear or not as a whole.
  void spread_doubt() {
    for (bool more = true; more;) {
      more = false;
      const auto doubt = [&](Item& item) {
        more |= !item.unclear;
        item.unclear = true;
      };
      std::set<size_t> doubted;
      for (size_t i = 0; i < items_.size(); ++i)
        if (items_[i].unclear) doubted.insert(root(i));
      for (size_t i = 0; i < items_.size(); ++i) {
        if (doubted.count(root(i))) doubt(items_[i]);
        for (const MachineAccess& access : items_[i].accesses) {
          Item& lead = items_[index_.at(access.lead)];
          if (items_[i].unclear) doubt(lead);
          else if (lead.unclear) doubt(items_[i]);
        }
      }
    }
  }

  // Whether every way to `later` leads through `first`.
  bool dominates(const Instruction& first, const Instruction& later) const {
    const auto& all = function_.instructions;
    const auto avoid = size_t(&first - all.data()), goal = size_t(&later - all.data());
    if (avoid == goal) return true;
    std::vector<bool> seen(all.size());
    std::vector<size_t> todo = {0};
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      if (i >= all.size() || i == avoid || seen[i]) continue;
      if (i == goal) return false;
      seen[i] = true;
      for (const Operand& op : all[i].operands) {
        if (op.kind == Operand::Kind::label) todo.push_back(op.target);
        if (op.kind == Operand::Kind::table && all[i].match &&
            all[i].match->facts().flow == Flow::table)
          for (const uint32_t target : function_.tables[op.target].targets) todo.push_back(target);
      }
      const bool leaves = all[i].match && all[i].match->facts().leaves();
      if (!leaves || all[i].guard >= 0) todo.push_back(i + 1);
    }
    return true;
  }

  MachineCode& code_;
  const Function& function_;
  const Addresses addresses_;
  const Disassembly& machine_;
  std::vector<Item> items_;  // in the order of the PTX
  std::unordered_map<const Instruction*, size_t> index_;
  std::vector<size_t> parent_;  // by item
};

}  // namespace

void follow(MachineCode& code, const Function& function,
            const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
            const Disassembly& machine) {
  Follower(code, function, shared_offsets, machine).run();
}

}  // namespace ridge::vm::observe
