// The rules were found by compiling loops of every length, with every kind of instruction, with
// ptxas 13.0 for sm_90 (bench/model/ptxas_rules.py). `.pragma "nounroll"` forbids all of this.
// Loops without another loop inside disappear if they count from one constant to another, whatever
// they do and however often, at least up to 1024 times 100 instructions. Four times it unrolls
//   - loops that count: a register to which a constant is added is compared with a value that the
//     loop does not change, by < or <= if it rises, > or >= if it falls, or by !=;
//   - without another way out, another loop inside, or anything that threads do together or one
//     after the other: barriers, shuffles, votes, atomics, fences;
//   - without stores that loads of the next turn may be of: those to a register that only moves on
//     by a constant are known to be apart;
//   - whose body is short: see `fits`.
#include "vm/timing/unrolled.h"

#include "vm/timing/uses.h"

namespace ridge::vm::timing {
namespace {

constexpr uint8_t kOnce = 1, kTimes = 4;

class Counted {
 public:
  Counted(const Function& function, const Uses& uses, size_t first, size_t last)
      : code_(function.instructions),
        uses_(uses),
        function_(function),
        first_(first),
        last_(last) {}

  uint8_t times() {
    if (is_marked() || !counts()) return kOnce;
    if (is_known_ && is_innermost()) return kAllTimes;
    return fits() ? kTimes : kOnce;
  }

 private:
  bool holds(const Instruction& ins) const {
    return &ins >= &code_[first_] && &ins < &code_[last_];
  }
  bool is_marked() const {
    return std::ranges::any_of(function_.nounroll,
                               [&](uint32_t at) { return at >= first_ && at <= last_; });
  }

  // --- the counter ---

  bool counts() {
    is_known_ = false;
    if (code_[last_].guard_negated) return false;
    return uses_.any_writer(code_[last_].guard, [&](const Instruction& compare) {
      return holds(compare) && is(*compare.match, {"setp"}) && compare.operands.size() >= 3 &&
             (stops(compare, 1, 2, false) || stops(compare, 2, 1, true));
    });
  }
  // Whether the comparison of counter and bound (its operands with these numbers) ends the loop.
  bool stops(const Instruction& compare, size_t counter, size_t bound, bool swapped) {
    const Operand &count = compare.operands[counter], &end = compare.operands[bound];
    if (count.kind != Operand::Kind::reg) return false;
    const auto changes = [&](const Instruction& one) { return holds(one); };
    if (end.kind == Operand::Kind::reg ? uses_.any_writer(end.reg, changes)
                                       : end.kind != Operand::Kind::imm)
      return false;
    const Instruction *step = nullptr, *start = nullptr;
    size_t writers = 0, starts = 0;
    (void)uses_.any_writer(count.reg, [&](const Instruction& one) {
      if (holds(one)) step = &one, ++writers;
      else start = &one, ++starts;
      return false;
    });
    if (writers != 1 || step > &compare || !adds_constant(*step) ||
        step->operands[1].kind != Operand::Kind::reg || step->operands[1].reg != count.reg)
      return false;
    is_known_ = end.kind == Operand::Kind::imm && starts == 1 && is(*start->match, {"mov"}) &&
                start->operands[1].kind == Operand::Kind::imm;
    const Form& form = compare.match->form;
    if (form.has("ne")) return true;
    const uint64_t by = step->operands[2].bits;
    const bool is_negative = (is_wide_type(step->match->form.type()) ? by : by << 32) >> 63;
    const bool rises = is_negative == is(*step->match, {"sub"});
    const bool below = form.has("lt") || form.has("le") || form.has("lo") || form.has("ls");
    const bool above = form.has("gt") || form.has("ge") || form.has("hi") || form.has("hs");
    return rises != swapped ? below : above;
  }

  // --- the body ---

  bool is_innermost() const {
    for (size_t k = first_; k < last_; ++k) {
      const Match* const match = code_[k].match;
      if (!match || match->facts().flow == Flow::call) return false;
      if (match->facts().flow != Flow::jump) continue;
      const Operand& to = code_[k].operands[0];
      if (to.kind != Operand::Kind::label || to.target <= k || to.target > last_) return false;
    }
    return true;
  }
  // What the body may hold at most, counted in instructions; stores, and loads from global memory,
  // count twice. With a load from global memory that is 50, to have several of them under way;
  // otherwise 22, and 4 more for each load from shared memory, of which there are 32 at most.
  bool fits() const {
    uint32_t length = 0, from_global = 0, from_shared = 0, stores = 0, branches = 0;
    bool anywhere_global = false, anywhere_shared = false;  // stores
    for (size_t k = first_; k <= last_; ++k) {
      const Match* const match = code_[k].match;
      if (!match) return false;
      const Facts& facts = match->facts();
      length += length_of(code_[k]);
      if (facts.flow == Flow::jump) {
        if (k == last_) break;
        const Operand& to = code_[k].operands[0];
        if (to.kind != Operand::Kind::label || to.target <= k || to.target > last_) return false;
        ++branches;
        continue;
      }
      if (facts.flow != Flow::next || is_together(facts) || match->row->unit == Unit::tensor)
        return false;
      const Space space = match->form.space;
      stores += facts.access == AccessKind::store;
      if (facts.access == AccessKind::store) {
        ++length;
        (space == Space::shared ? anywhere_shared : anywhere_global) |= !moves_on(code_[k]);
      }
      if (facts.access != AccessKind::load) continue;
      from_shared += space == Space::shared;
      if (space == Space::global || space == Space::generic) ++from_global, ++length;
    }
    if (branches && stores) return false;
    // The next turn's loads may be of what this turn has stored.
    if ((anywhere_global && from_global) || (anywhere_shared && from_shared)) return false;
    if (from_global) return length <= 50;
    return from_shared <= 32 && length <= 22 + 4 * from_shared;
  }
  // Whether a store's address is a register that the loop adds a constant to, and nothing else.
  bool moves_on(const Instruction& store) const {
    const int32_t address = store.operands[0].reg;
    size_t writers = 0;
    bool by_constant = false;
    (void)uses_.any_writer(address, [&](const Instruction& one) {
      if (!holds(one)) return false;
      ++writers;
      by_constant = adds_constant(one) && one.operands[1].reg == address;
      return false;
    });
    return writers == 1 && by_constant;
  }
  static bool is_together(const Facts& facts) {
    return facts.is_barrier() || facts.exchanges || facts.converges || facts.fences ||
           facts.is_atomic() || facts.sync != Sync::none;
  }
  uint32_t length_of(const Instruction& ins) const {
    constexpr uint32_t kCall = 100;
    const Match& m = *ins.match;
    if (m.row->unit == Unit::move || m.form.space == Space::param) return 0;
    if (is(m, {"mul"}) && m.form.wide) return uses_.all_readers(ins, is_add64) ? 0 : 1;
    // The rare cases of these are a function of their own.
    if (is(m, {"div", "sqrt", "rcp"}) && m.row->unit != Unit::alu && !m.form.approx &&
        !m.form.has("full"))
      return kCall;
    return 1;
  }

  const std::vector<Instruction>& code_;
  const Uses& uses_;
  const Function& function_;
  const size_t first_, last_;
  bool is_known_ = false;  // how often: from a constant to a constant
};

}  // namespace

std::vector<uint8_t> unrolled(const Function& function, const Uses& uses) {
  const auto& code = function.instructions;
  std::vector<uint8_t> times(code.size(), 1);
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code[i].match || code[i].match->facts().flow != Flow::jump || code[i].guard < 0) continue;
    const Operand& to = code[i].operands[0];
    if (to.kind != Operand::Kind::label || to.target > i) continue;
    const uint8_t often = Counted(function, uses, to.target, i).times();
    if (often > kOnce)
      std::fill(times.begin() + long(to.target), times.begin() + long(i) + 1, often);
  }
  return times;
}

}  // namespace ridge::vm::timing
