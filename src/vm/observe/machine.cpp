#include "vm/observe/machine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vm/decode/flow.h"
#include "vm/isa/operands.h"
#include "vm/observe/address.h"

namespace ridge::vm::observe {
namespace {

constexpr uint32_t kWidest = 16;  // bytes per lane

// An element of a load or store, which may become a part of a wide one.
struct Piece {
  const Instruction* instruction;
  uint64_t begin;  // the constant of its address
};
struct Key {
  Space space;
  bool constant;     // ld.global.nc: nothing that the kernel stores disturbs it
  uint32_t element;  // bytes
  std::vector<std::pair<uint32_t, uint64_t>> unknowns;
  auto operator<=>(const Key&) const = default;
};
struct Pieces {
  Key key;
  std::vector<Piece> pieces;
};
using Open = std::map<Key, std::vector<Piece>>;

// The bodies of ifs that become predicated: straight, without anything that waits for other
// threads, and short. How short was found by compiling bodies of every length with ptxas 13.0
// (bench/model/ptxas_rules.py): up to 8 machine instructions, 6 in some places, or 20 if there is a
// load from global memory among them, whose latency then overlaps with others'. An else leaves one
// less.
class Predication {
 public:
  Predication(const Function& function, const Addresses& addresses)
      : all_(function.instructions), addresses_(addresses) {}

  void find(MachineCode& code) {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (!is_branch(i) || all_[i].guard < 0) continue;
      const size_t target = all_[i].operands[0].target;
      if (target <= i + 1 || target >= all_.size() || leaves(target)) continue;
      size_t last = target;
      const bool has_else = is_branch(target - 1) && all_[target - 1].guard < 0;
      if (has_else) last = all_[target - 1].operands[0].target;
      if (last < target || last >= all_.size()) continue;
      const size_t end = has_else ? target - 1 : target;
      if (!is_short(code, i + 1, end, has_else)) continue;
      if (has_else && !is_short(code, target, last, true)) continue;
      for (size_t k = i + 1; k < last; ++k) code.predicated[&all_[k]] = &all_[i];
    }
  }

 private:
  static constexpr uint32_t kMost = 8, kMostWithLoad = 20, kTooLong = 100;

  Flow flow_of(size_t i) const { return all_[i].match ? all_[i].match->facts().flow : Flow::next; }
  // A branch to the end is an exit, which takes its warps away.
  bool leaves(size_t i) const {
    const Flow flow = flow_of(i);
    return all_[i].guard < 0 && (flow == Flow::ret || flow == Flow::exit);
  }
  bool is_branch(size_t i) const {
    return flow_of(i) == Flow::jump && !all_[i].operands.empty() &&
           all_[i].operands[0].kind == Operand::Kind::label;
  }
  // Machine instructions, roughly: copies, parameters and the widening of integers are operands,
  // and a product of addresses is one instruction with the sum that takes it.
  static uint32_t length_of(const Match& match) {
    const Form& form = match.form;
    const bool is_wide = size_of(form.type()) == 8;
    const std::string_view root = match.root;
    if (form.space == Space::param || match.row->unit == Unit::move) return 0;
    if (root == "cvt" && is_integer(form.types[0]) && is_integer(form.types[1])) return 0;
    if (root == "mul" && form.wide) return 0;
    if (root == "mul" || root == "mad") return is_wide && form.lo ? 3 : 1;
    if (root == "div" || root == "rem" || root == "sqrt" || root == "rcp")
      return form.approx ? 2 : kTooLong;
    return 1;
  }
  static bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

  bool is_short(const MachineCode& code, size_t begin, size_t end, bool has_else) const {
    uint32_t length = has_else;
    bool loads = false;
    for (size_t k = begin; k < end; ++k) {
      if (k > begin && addresses_.begins_block(k)) return false;
      const Match* match = all_[k].match;
      if (!match) return false;
      const Facts& facts = match->facts();
      const bool goes_on = facts.flow == Flow::next || facts.flow == Flow::trap;
      if (!goes_on || facts.is_atomic() || facts.exchanges || facts.converges || facts.fences)
        return false;
      loads |= facts.access == AccessKind::load && match->form.space == Space::global;
      const auto changed = code.changed.find(&all_[k]);
      if (changed == code.changed.end()) length += length_of(*match);
      else
        for (const MachineAccess& access : changed->second) length += access.lead == &all_[k];
    }
    return length <= (loads ? kMostWithLoad : kMost);
  }

  const std::vector<Instruction>& all_;
  const Addresses& addresses_;
};

class Merger {
 public:
  Merger(const Function& function, const std::unordered_map<const Variable*, uint32_t>& shared)
      : function_(function), addresses_(function, shared), uniform_(function) {}

  MachineCode run(bool optimised) {
    find_reads();
    if (optimised) find_implied_alignments();
    for (size_t i = 0; i < function_.instructions.size(); ++i) {
      if (addresses_.begins_block(i)) close_all();
      const Instruction& ins = function_.instructions[i];
      if (!ins.match) continue;
      const Flow flow = ins.match->facts().flow;
      if (flow == Flow::call) close_all();
      else if (flow == Flow::next || flow == Flow::trap) visit(ins, *ins.match, optimised);
    }
    close_all();
    if (optimised) Predication(function_, addresses_).find(code_);
    return std::move(code_);
  }

 private:
  void find_reads() {
    read_.resize(function_.registers.size());
    const auto note = [&](const auto& self, const Operand& op) -> void {
      if (op.reg >= 0) read_[size_t(op.reg)] = true;
      for (const Operand& e : op.elems) self(self, e);
    };
    for (const Instruction& ins : function_.instructions) {
      if (ins.guard >= 0) read_[size_t(ins.guard)] = true;
      for (size_t k = 0; k < ins.operands.size(); ++k) {
        const auto* specs = ins.match ? &operand_specs(*ins.match->row) : nullptr;
        if (!specs || k >= specs->size() || !(*specs)[k].dest) note(note, ins.operands[k]);
      }
    }
  }
  bool is_read(const Operand& op) const {
    if (op.kind == Operand::Kind::vec)
      return std::any_of(op.elems.begin(), op.elems.end(),
                         [&](const Operand& e) { return is_read(e); });
    return op.reg >= 0 && read_[size_t(op.reg)];
  }

  void visit(const Instruction& ins, const Match& match, bool optimised) {
    const Facts& facts = match.facts();
    const Space space = match.form.space;
    if (facts.is_atomic()) {
      const bool read = facts.access == AccessKind::atomic && is_read(ins.operands[0]);
      code_.atomics[&ins] =
          optimised ? machine_atomic(ins, match.form, read, uniform_)
                    : MachineAtomic{.is_reduction = facts.access == AccessKind::reduction};
      disturb(space);
      return;
    }
    if (!optimised) return;
    switch (facts.access) {
      case AccessKind::load: return load(ins, match);
      case AccessKind::store: return store(ins, match);
      case AccessKind::load_matrix: return load_matrix(ins, match);
      case AccessKind::store_matrix: return disturb(Space::shared);
      case AccessKind::barrier_word: return facts.converges ? close_all() : disturb(space);
      default:
        if (match.row->unit == Unit::barrier) before_matrices_ = false;
        if (facts.access != AccessKind::none || facts.fences || match.row->unit == Unit::barrier)
          close_all();
    }
  }

  // The load or store as pieces of something wider, if it can be that.
  std::optional<Pieces> pieces_of(const Instruction& ins, const Match& match) {
    const Form& form = match.form;
    const Space space = form.space;
    uint32_t element = uint32_t(size_of(form.type())), count = uint32_t(form.vector);
    if (ins.guard >= 0 || form.order != Order::weak) return {};
    if (space != Space::shared && space != Space::global && space != Space::local) return {};
    const bool is_load = match.facts().access == AccessKind::load;
    const Operand& data = ins.operands[is_load ? 0 : 1];
    const bool packed = element * count % 4 == 0 && element < 4 && count > 1;  // into words
    if (packed) {
      count = element * count / 4;
      element = 4;
    } else if (element < 2 || element > 8 || !fits(data, element)) {
      return {};
    }
    const Sum& at = addresses_.of(ins);
    Pieces out{Key{space, form.read_only, element, at.terms}, {}};
    const bool narrow = space != Space::global;
    for (uint32_t k = 0; k < count; ++k) {
      const uint64_t begin = at.constant + k * element;
      const bool read =
          packed || !is_load || data.kind != Operand::Kind::vec || is_read(data.elems[k]);
      if (read && (packed || !is_load || is_read(data)))
        out.pieces.push_back({&ins, narrow ? uint32_t(begin) : begin});
    }
    return out;
  }
  // Registers of another width extend what is loaded.
  bool fits(const Operand& op, uint32_t bytes) const {
    if (op.kind == Operand::Kind::vec)
      return std::all_of(op.elems.begin(), op.elems.end(),
                         [&](const Operand& e) { return fits(e, bytes); });
    return op.kind != Operand::Kind::reg ||
           lane_bytes(function_.registers[size_t(op.reg)].type) == int(bytes);
  }

  void load(const Instruction& ins, const Match& match) {
    const Space space = match.form.space;
    const auto it = pieces_of(ins, match);
    if (it) code_.changed[&ins] = {};
    if (it && it->pieces.empty()) return;  // nobody reads it
    if (it && it->pieces.size() == 1 && last_store_ && last_store_->first == it->key &&
        last_store_->second == it->pieces[0].begin)
      return;  // the stored register has the value
    close_stores(space);
    if (!it) return;
    std::vector<Piece>& open = loads_[it->key];
    for (const Piece& piece : it->pieces)
      if (std::none_of(open.begin(), open.end(),
                       [&](const Piece& other) { return other.begin == piece.begin; }))
        open.push_back(piece);
  }

  // Matrices at the same place are loaded once. But the function's first ones, before any barrier,
  // do for no others.
  void load_matrix(const Instruction& ins, const Match& match) {
    close_stores(match.form.space);
    const bool is_first = std::exchange(before_matrices_, false);
    if (ins.guard >= 0) return;
    const Sum& at = addresses_.of(ins);
    const Matrices loaded{match.handlers.full, at.terms, at.constant};
    if (matrices_.count(loaded)) code_.changed[&ins] = {};
    else if (!is_first) matrices_.insert(loaded);
  }

  void store(const Instruction& ins, const Match& match) {
    const Space space = match.form.space;
    const auto it = pieces_of(ins, match);
    close_loads(space);
    last_store_.reset();
    if (!it) return close_stores(space);
    code_.changed[&ins] = {};
    for (auto& [key, pieces] : stores_)
      if (key.space == space && key != it->key) close(key, pieces, false);
    std::vector<Piece>& open = stores_[it->key];
    for (const Piece& piece : it->pieces) {
      std::erase_if(open, [&](const Piece& other) { return other.begin == piece.begin; });
      open.push_back(piece);
    }
    if (it->pieces.size() == 1) last_store_ = {it->key, it->pieces[0].begin};
  }

  void disturb(Space space) {
    close_loads(space);
    close_stores(space);
  }
  static bool same(Space a, Space b) {
    return a == b || a == Space::generic || b == Space::generic;
  }
  void close_loads(Space space) {
    if (same(Space::shared, space)) matrices_.clear();
    for (auto& [key, pieces] : loads_)
      if (same(key.space, space) && !key.constant) close(key, pieces, true);
  }
  void close_stores(Space space) {
    for (auto& [key, pieces] : stores_)
      if (same(key.space, space)) close(key, pieces, false);
    if (last_store_ && same(last_store_->first.space, space)) last_store_.reset();
  }
  void close_all() {
    for (auto& [key, pieces] : loads_) close(key, pieces, true);
    for (auto& [key, pieces] : stores_) close(key, pieces, false);
    loads_.clear();
    stores_.clear();
    matrices_.clear();
    last_store_.reset();
  }

  // Fours first, then twos. A load of three neighbours in a place for four reads the fourth, too;
  // a store cannot.
  void close(const Key& key, std::vector<Piece>& pieces, bool is_load) {
    const auto implied = implied_.find(key.unknowns);
    const uint64_t alignment = std::max(addresses_.alignment({key.unknowns, 0}),
                                        implied == implied_.end() ? 1 : implied->second);
    for (const uint32_t count : {4u, 2u, 1u}) {
      const uint32_t bytes = count * key.element;
      if (bytes > kWidest || (count > 1 && bytes > alignment)) continue;
      std::map<uint64_t, std::vector<Piece>> places;
      for (const Piece& p : pieces) places[p.begin / bytes * bytes].push_back(p);
      for (const auto& [place, members] : places) {
        if (members.size() < (count == 4 && is_load ? 3 : count)) continue;
        const auto first = std::min_element(
            members.begin(), members.end(),
            [](const Piece& a, const Piece& b) { return a.instruction < b.instruction; });
        const auto own = [&](const Piece& p) { return addresses_.of(*p.instruction).constant; };
        const MachineAccess access{first->instruction, int32_t(place - own(*first)),
                                   uint8_t(bytes)};
        for (const Piece& p : members) {
          auto& accesses = code_.changed[p.instruction];
          if (std::find(accesses.begin(), accesses.end(), access) == accesses.end())
            accesses.push_back(access);
        }
        std::erase_if(pieces, [&](const Piece& p) { return p.begin / bytes * bytes == place; });
      }
    }
    pieces.clear();
  }

  // An access proves that its address is a multiple of its width, wherever it stands.
  void find_implied_alignments() {
    for (const Instruction& ins : function_.instructions) {
      const Match* match = ins.match;
      if (!match || !match->facts().is_plain_access()) continue;
      const uint64_t bytes = uint64_t(size_of(match->form.type()) * match->form.vector);
      const Sum& at = addresses_.of(ins);
      if (bytes && at.constant % bytes == 0) {
        uint64_t& known = implied_[at.terms];
        known = std::max(known, bytes);
      }
    }
  }

  const Function& function_;
  const Addresses addresses_;
  const Uniform uniform_;
  std::vector<bool> read_;                                                  // by register
  std::map<std::vector<std::pair<uint32_t, uint64_t>>, uint64_t> implied_;  // by unknowns
  Open loads_, stores_;
  // Which instruction, and where.
  using Matrices = std::tuple<Handler, std::vector<std::pair<uint32_t, uint64_t>>, uint64_t>;
  std::set<Matrices> matrices_;
  bool before_matrices_ = true;
  std::optional<std::pair<Key, uint64_t>> last_store_;
  MachineCode code_;
};

}  // namespace

MachineCode machine_code(const Function& function,
                         const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
                         bool optimised) {
  return Merger(function, shared_offsets).run(optimised);
}

}  // namespace ridge::vm::observe
