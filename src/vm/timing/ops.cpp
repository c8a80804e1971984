#include "vm/timing/ops.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "model/async.h"
#include "model/figures.h"
#include "vm/observe/registers.h"
#include "vm/observe/uniform.h"
#include "vm/timing/unrolled.h"
#include "vm/timing/uses.h"

namespace ridge::vm::timing {

uint32_t op_of(const observe::Step& step, const observe::Touch& touch) {
  return std::min(touch.entry - step.entry, std::max<uint32_t>(1, step.entries) - 1);
}

namespace {

using model::Figures;
using model::Op;
using model::Pipe;
using observe::Reach;

struct Cost {
  float issues = 1;
  Pipe pipe = Pipe::alu;
  float busy = 2, latency = 4.5f;
};
constexpr Cost kFree{0, Pipe::none, 0, 0};

// What an instruction costs follows from the lanes of its pipe. Latencies are those of an H200:
// they differ by a cycle or two since Turing.
struct Pipes {
  explicit Pipes(const Figures& f)
      : figures(f),
        // Where f32 has no lanes beside those that multiply integers, both are one pipe.
        products(f.fma_lanes > f.imad_lanes ? Pipe::fma_heavy : Pipe::fma) {}
  static float busy(double lanes) { return Figures::busy(lanes); }
  Cost alu() const { return {1, Pipe::alu, busy(figures.alu_lanes), 4.5f}; }
  Cost fma() const { return {1, Pipe::fma, busy(figures.fma_lanes), 4.5f}; }
  Cost half() const { return {1, Pipe::fma, busy(figures.half_lanes), 8.4f}; }
  Cost imad(float latency = 4.5f) const { return {1, products, busy(figures.imad_lanes), latency}; }
  Cost fp64(float latency = 8.4f) const {
    return {1, Pipe::fp64, busy(figures.fp64_lanes), latency};
  }
  Cost special(float latency = 17.3f) const {
    return {1, Pipe::sfu, busy(figures.sfu_lanes), latency};
  }
  // From or to f64: cards with few FP64 lanes convert no faster.
  Cost double_conversion() const {
    return {1, Pipe::sfu, busy(std::min(figures.sfu_lanes, figures.fp64_lanes)), 17.6f};
  }

  const Figures& figures;
  const Pipe products;
};

bool is_f(Type t) {
  return t == Type::f32 || t == Type::f16 || t == Type::f16x2 || t == Type::bf16 ||
         t == Type::bf16x2;
}

bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}

Cost times(Cost one, float n) {
  one.issues *= float(n);
  one.busy *= n;
  return one;
}

Cost conversion(const Form& f, const Pipes& pipes) {
  const Type to = f.types[0], from = f.types[1];
  const bool to_float = is_f(to) || to == Type::f64, from_float = is_f(from) || from == Type::f64;
  if (to == Type::f64 || from == Type::f64) return pipes.double_conversion();
  if (to_float && from_float) {
    if (to == Type::f32 || from == Type::f32) return pipes.imad(6);
    return pipes.alu();
  }
  if (to_float) return size_of(from) == 4 ? pipes.alu() : pipes.special();
  if (from_float) return size_of(to) == 4 ? pipes.special() : pipes.alu();
  if (size_of(to) > size_of(from)) return size_of(to) == 8 ? kFree : kFree;
  return kFree;
}

Cost arithmetic(const Instruction& ins, const Pipes& pipes) {
  const Match& m = *ins.match;
  const Form& f = m.form;
  const Type t = f.type();
  switch (m.row->unit) {
    case Unit::move:
      if (ins.operands.size() > 1 && ins.operands[1].kind == Operand::Kind::special)
        return {1, Pipe::alu, 2, 20};
      return kFree;
    case Unit::control: return {1, Pipe::control, 2, 0};
    case Unit::barrier: return {1, Pipe::control, 2, 0};
    case Unit::shuffle: return {1, Pipe::lsu, 1, 24};
    case Unit::tensor: return {1, Pipe::tensor, 16, 25};
    case Unit::texture: return {1, Pipe::lsu, 4, 500};
    case Unit::conv: return conversion(f, pipes);
    case Unit::fp64:
      if (is(m, {"div"})) return times(pipes.fp64(12), 10);
      if (is(m, {"sqrt", "rcp", "rsqrt"})) return times(pipes.fp64(11), 8);
      return pipes.fp64();
    case Unit::half: return pipes.half();
    case Unit::sfu:
      if (is(m, {"div"})) return f.approx ? Cost{3, Pipe::sfu, 8, 41} : Cost{12, Pipe::sfu, 16, 58};
      if (is(m, {"sin", "cos"})) return {2, Pipe::sfu, 8, 23};
      if (is(m, {"sqrt", "rcp"}) && !f.approx) return {10, Pipe::sfu, 11, 60};
      if (!f.ftz && is(m, {"ex2", "lg2", "sqrt", "rsqrt"})) return {3, Pipe::sfu, 8, 22};
      return pipes.special();
    case Unit::fma:
      if (is(m, {"div"})) return f.approx ? Cost{3, Pipe::sfu, 8, 41} : Cost{12, Pipe::sfu, 16, 58};
      if (is(m, {"sqrt", "rcp"})) return f.approx ? pipes.special() : Cost{10, Pipe::sfu, 11, 60};
      if (is(m, {"fma", "add", "sub", "mul", "mad"}) && t == Type::f32) return pipes.fma();
      if (is(m, {"mul", "mad"})) break;
      return pipes.alu();
    default: break;
  }
  if (is(m, {"div", "rem"})) {
    if (is_wide_type(t)) return {110, Pipe::alu, 220, 310};
    return is_signed(t) ? Cost{20, Pipe::alu, 30, 130} : Cost{16, Pipe::alu, 28, 120};
  }
  if (is(m, {"mul", "mad", "mul24", "mad24"})) {
    if (f.wide) return pipes.imad(5);
    if (is_wide_type(t)) return times(pipes.imad(), 3);
    return f.lo ? pipes.imad() : Cost{1, pipes.products, 2 * pipes.imad().busy, 9.7f};
  }
  if (is(m, {"dp4a", "dp2a"})) return pipes.imad();
  if (is(m, {"popc", "bfind", "clz", "brev", "fns"})) return pipes.special();
  if (is(m, {"bfe", "bfi"})) return times(pipes.alu(), 2);
  if (is_wide_type(t) &&
      is(m, {"add", "sub", "and", "or", "xor", "shl", "shr", "min", "max", "setp", "neg"}))
    return {2, Pipe::alu, 4, 8.5f};
  return pipes.alu();
}

// x += constant, a comparison, the branch: once per unrolled body.
bool is_loop_control(const Instruction& ins) {
  return ins.match->facts().flow == Flow::jump || ins.match->root == "setp" || adds_constant(ins);
}

// What becomes part of the instructions that read it.
bool is_folded(const Instruction& ins, const Uses& uses) {
  const Match& m = *ins.match;
  const bool is_64 = is_wide_type(m.form.type());
  if (is(m, {"mul"}) && m.form.wide) return uses.all_readers(ins, is_add64);  // IMAD.WIDE
  if (is(m, {"shl"}) && is_64) return uses.all_readers(ins, is_add64);        // LEA
  // A comparison takes one predicate along: setp, then and.pred, is ISETP.AND.
  if (m.form.type() == Type::pred && is(m, {"and", "or"}))
    return uses.any_operand(ins, [&](const Instruction& one) {
      return is(*one.match, {"setp"}) && uses.reader_count(one) == 1;
    });
  if (uses.reader_count(ins) != 1) return false;
  if (is(m, {"shl"})) return uses.all_readers(ins, is_add);
  if (is(m, {"and", "or", "xor", "not"}))  // LOP3
    return uses.all_readers(ins, [](const Instruction& one) {
      return is(*one.match, {"and", "or", "xor"});
    });
  if (is(m, {"mul"}) && m.form.lo && !is_64) return uses.all_readers(ins, is_add);  // IMAD
  if (is_add(ins) && !is_64) return uses.all_readers(ins, is_add);                  // IADD3
  return false;
}

// Parameters and constants: operands of the instruction that reads them.
bool is_operand(const Match& m) {
  return m.form.space == Space::param || m.form.space == Space::constant;
}

// These are loaded into registers: addresses are not computed from operands.
bool is_pointer_parameter(const Match& m) {
  return m.form.space == Space::param && m.root == "ld" && is_wide_type(m.form.type());
}

// Makes the ops of one function.
class Translator {
 public:
  Translator(model::Work& work, const Code& code, const observe::Plan& plan, const Figures& figures)
      : work_(work),
        pipes_(figures),
        function_(*code.function),
        plan_(plan),
        first_register_(work.register_count),
        uses_(function_),
        uniform_(function_),
        unrolled_(unrolled(function_, uses_)) {
    find_repeated_divisors();
    for (const observe::Entry& entry : plan.entries) {
      if (entry.passed_by) predicated_.insert(entry.passed_by);
      if (entry.merged_into && entry.merged_into != entry.source)
        followers_[entry.merged_into].push_back(entry.source);
    }
  }

  // What comes with every kernel: the stack's address and the descriptor of global memory.
  void add_beginning(model::Step& step) {
    Op op;
    op.issues = 2;
    op.pipe = Pipe::alu;
    op.busy = 2;
    work_.ops.push_back(op);
    ++step.ops;
  }

  void add(const observe::Step& from) {
    model::Step step;
    step.op = uint32_t(work_.ops.size());
    const bool is_first = work_.steps.size() == first_step_ && function_.entry && !from.touches;
    if (is_first) add_beginning(step);
    const uint32_t entries = from.counts || from.touches ? std::max<uint32_t>(1, from.entries) : 0;
    for (uint32_t k = 0; k < entries; ++k) {
      Op op;
      for (uint32_t touch = from.touch; touch < from.touch + from.touches; ++touch)
        op.accesses = uint8_t(op.accesses + (op_of(from, plan_.touches[touch]) == k));
      translate(op, plan_.entries[from.entry + k]);
      if (entries == 1 && from_constants(plan_.entries[from.entry])) make_constant(op);
      work_.ops.push_back(op);
    }
    step.ops += entries;
    work_.steps.push_back(step);
  }

 private:
  void translate(Op& op, const observe::Entry& entry) {
    Cost cost = kFree;
    op.registers = uint32_t(work_.registers.size());
    if (entry.match && entry.source) {
      const Facts& facts = entry.match->facts();
      add_registers(op, *entry.source);
      if (entry.tensor.operations) cost = product(op, entry.tensor);
      else if (op.accesses) cost = access(op, entry);
      else if (facts.access != AccessKind::none) cost = no_access(op, entry);
      else cost = others(op, *entry.source);
    }
    op.issues = cost.issues;
    op.pipe = cost.pipe;
    op.busy = cost.busy;
    op.latency = cost.latency;
  }

  void add_registers(Op& op, const Instruction& ins) {
    const Operand* const to = observe::written_by(ins);
    const auto add = [&](size_t reg) {
      work_.registers.push_back(first_register_ + uint32_t(reg));
      work_.register_count = std::max(work_.register_count, work_.registers.back() + 1);
    };
    const auto read = [&](size_t reg) { add(reg), ++op.reads; };
    const auto write = [&](size_t reg) { add(reg), ++op.writes; };
    if (ins.guard >= 0) read(size_t(ins.guard));
    for (const Operand& operand : ins.operands)
      if (&operand != to) observe::each_register(operand, read);
    if (to) observe::each_register(*to, write);
    // What an access brings for others is there when its own is.
    if (const auto found = followers_.find(&ins); found != followers_.end())
      for (const Instruction* follower : found->second)
        if (const Operand* target = observe::written_by(*follower))
          observe::each_register(*target, write);
  }

  // At a place that only the running program knows; others are operands.
  static bool from_constants(const observe::Entry& entry) {
    return entry.match && entry.source && entry.match->form.space == Space::constant &&
           entry.source->operands.size() > 1 && entry.source->operands[1].reg >= 0;
  }
  static void make_constant(Op& op) {
    op.kind = Op::Kind::constant;
    op.accesses = 1;
    op.is_shared = true;
    op.issues = 1;
    op.pipe = Pipe::none;
  }

  // Operations per cycle of a tensor core, of which an SM has four.
  double tensor_rate(const TensorWork& work) const {
    const Figures& f = pipes_.figures;
    const bool all = work.by_warpgroup;
    const double of_int8 = all ? f.tensor_int8 : f.mma_int8;
    const auto of_sm = [&] {
      switch (work.source) {
        case Element::f64: return all ? f.tensor_f64 : f.mma_f64;
        case Element::f32:
        case Element::tf32: return all ? f.tensor_tf32 : f.mma_tf32;
        case Element::e4m3:
        case Element::e5m2: return all ? f.tensor_fp8 : f.mma_fp8;
        case Element::f16:
        case Element::bf16: return all ? f.tensor_f16 : f.mma_f16;
        default: return of_int8 * 8 / double(bits_of(work.source));
      }
    };
    return of_sm() / Figures::kSchedulers;
  }

  Cost product(Op& op, const TensorWork& work) const {
    double rate = tensor_rate(work);
    if (work.sparse) rate *= 2;
    const auto cycles = float(double(work.operations) / rate);
    if (work.by_warpgroup) {
      // Who needs the sums waits for the product's group, not for a register; products that add to
      // the same sums follow each other without a gap.
      op.kind = Op::Kind::product;
      op.operands = float(work.shared_bytes) / 128 / 4;  // each warp brings a quarter
      op.writes = 0;
    }
    return {float(std::max(1u, work.instructions)), Pipe::tensor, cycles,
            work.by_warpgroup ? 0 : cycles + 18.4f};
  }

  static Cost access(Op& op, const observe::Entry& entry) {
    using observe::Action;
    const Form& form = entry.match->form;
    switch (entry.as_written.action) {
      case Action::load:
      case Action::prefetch:
      case Action::operand: op.kind = Op::Kind::load; break;
      case Action::store: op.kind = Op::Kind::store; break;
      case Action::reduction: op.kind = Op::Kind::reduction; break;
      case Action::atomic: op.kind = Op::Kind::atomic; break;
      case Action::copy: op.kind = Op::Kind::copy; break;
    }
    using Touch = observe::Touch;
    if (entry.as_written.kind == Touch::Kind::bulk ||
        entry.as_written.kind == Touch::Kind::tensor) {
      op.ends = true;
      if (entry.as_written.reach == Reach::bulk)
        op.kind = op.kind == Op::Kind::load ? Op::Kind::bulk_load : Op::Kind::bulk_store;
      return {1, Pipe::lsu, 1, 0};
    }
    op.is_float = is_f(form.type()) || form.type() == Type::f64;
    op.is_shared = entry.as_written.reach == Reach::shared;
    op.bypasses_l1 = form.bypasses_l1 || form.order != Order::weak;
    return {1, Pipe::lsu, 1, 0};
  }

  // A memory instruction without an access of the machine in this step.
  Cost no_access(Op& op, const observe::Entry& entry) const {
    if (is_pointer_parameter(*entry.match))
      return {1, Pipe::alu, 2, float(pipes_.figures.constant_latency)};
    if (is_operand(*entry.match)) return kFree;
    const Sync sync = entry.match->facts().sync;
    if (sync == Sync::token_arrive || sync == Sync::token_wait || sync == Sync::copy_arrive) {
      op.kind = sync == Sync::token_wait ? Op::Kind::wait_phase : Op::Kind::signal;
      op.newest = sync == Sync::copy_arrive ? model::Groups::kAll : 0;
      op.accesses = 1;
      op.ends = true;
      // What other SMs are to see has to be written before.
      const Form& form = entry.match->form;
      if (form.has("release") && form.has("cluster")) op.stall = float(pipes_.figures.fence_device);
      return {1, Pipe::lsu, 1, 20};
    }
    if (entry.as_written.reach == Reach::none) return {1, Pipe::lsu, 1, 30};
    op.reads = op.writes = 0;  // another access brings it
    return kFree;
  }

  float fence(const Form& form) const {
    if (form.has("mbarrier_init")) return 0;
    if (form.has("sys")) return float(pipes_.figures.fence_system);
    const bool is_wide = form.has("gpu") || form.has("gl") || form.has("cluster");
    return float(is_wide ? pipes_.figures.fence_device : pipes_.figures.fence_block);
  }

  // Barriers of blocks and clusters, and the groups of asynchronous work.
  static bool synchronises(Op& op, const Instruction& ins) {
    using Kind = Op::Kind;
    const bool has_value = !ins.operands.empty() && ins.operands[0].kind == Operand::Kind::imm;
    op.newest = has_value ? uint8_t(std::min<uint64_t>(ins.operands[0].bits, 254)) : 0;
    switch (ins.match->facts().sync) {
      case Sync::block:
      case Sync::block_arrive:
        op.kind = is_of_whole_block(ins) ? Kind::barrier : Kind::named_barrier;
        op.accesses = op.kind == Kind::named_barrier;
        return true;
      case Sync::cluster_arrive: op.kind = Kind::cluster_arrive; return true;
      case Sync::cluster: op.kind = Kind::cluster_wait; return true;
      case Sync::copy_commit: op.kind = Kind::commit_copies; return true;
      case Sync::copy_wait:
        op.kind = Kind::wait_copies;
        if (!has_value) op.newest = model::Groups::kAll;
        return true;
      case Sync::bulk_commit: op.kind = Kind::commit_bulk; return true;
      case Sync::bulk_wait:
        op.kind = Kind::wait_bulk;
        op.only_read = ins.match->form.has("read");
        return true;
      case Sync::product_fence: op.kind = Kind::fence_products; return true;
      case Sync::product_commit: op.kind = Kind::commit_products; return true;
      case Sync::product_wait: op.kind = Kind::wait_products; return true;
      default: return false;
    }
  }
  // __syncthreads and its kind; others name a barrier, and perhaps how many threads meet there.
  static bool is_of_whole_block(const Instruction& ins) {
    const Facts& facts = ins.match->facts();
    if (facts.sync == Sync::block_arrive || facts.counted) return false;
    return std::ranges::all_of(ins.operands, [](const Operand& op) {
      return op.kind != Operand::Kind::imm || op.bits == 0;
    });
  }

  Cost others(Op& op, const Instruction& ins) const {
    const Facts& facts = ins.match->facts();
    op.ends = facts.flow != Flow::next || facts.sync != Sync::none || facts.fences;
    if (facts.sync == Sync::fence) op.stall = fence(ins.match->form);
    if (synchronises(op, ins)) return {1, Pipe::control, 1, 0};
    if (predicated_.contains(&ins)) {
      op.ends = false;
      return kFree;
    }
    const auto is_product = [](const Instruction& one) { return one.match->form.wide; };
    if (is_add64(ins) && uses_.any_operand(ins, is_product)) return pipes_.imad(5);
    Cost cost = is_folded(ins, uses_) ? kFree : arithmetic(ins, pipes_);
    if (divided_before_.contains(&ins)) cost = {9, Pipe::alu, 12, 45};
    if (facts.flow == Flow::jump && !predicated_.contains(&ins) && may_diverge(ins))
      cost.issues += kConverge;
    op.may_use_fma = cost.pipe == Pipe::alu && cost.issues == 1 && pipes_.products != Pipe::fma &&
                     size_of(ins.match->form.type()) == 4 && is(*ins.match, {"add", "sub", "shl"});
    const auto at = size_t(&ins - function_.instructions.data());
    if (at >= unrolled_.size() || unrolled_[at] == 1 || !is_loop_control(ins)) return cost;
    if (op.ends) op.repeats = unrolled_[at];
    return times(cost, 1.0f / float(unrolled_[at]));
  }

  // A branch that lanes may take differently is between an instruction that notes where they meet
  // again, and one that waits for them. Who leaves does not come back.
  static constexpr float kConverge = 2;
  bool may_diverge(const Instruction& ins) const {
    if (ins.guard < 0 || ins.operands.empty() || ins.operands[0].kind != Operand::Kind::label)
      return false;
    const size_t target = ins.operands[0].target, at = size_t(&ins - function_.instructions.data());
    if (target <= at || target >= function_.instructions.size()) return false;
    const Instruction& there = function_.instructions[target];
    if (there.match &&
        (there.match->facts().flow == Flow::ret || there.match->facts().flow == Flow::exit))
      return false;
    Operand guard;
    guard.kind = Operand::Kind::reg;
    guard.reg = ins.guard;
    return !uniform_(guard);
  }

  // Quotients by the same register have its reciprocal in common.
  void find_repeated_divisors() {
    std::set<std::tuple<int32_t, Type>> known;
    for (const Instruction& ins : function_.instructions) {
      if (!ins.match) continue;
      if (ins.match->facts().flow != Flow::next) known.clear();
      if (!is(*ins.match, {"div", "rem"}) || ins.operands.size() != 3) continue;
      const Type type = ins.match->form.type();
      if (is_f(type) || size_of(type) != 4 || ins.operands[2].kind != Operand::Kind::reg) continue;
      if (!known.emplace(ins.operands[2].reg, type).second) divided_before_.insert(&ins);
    }
  }

  model::Work& work_;
  const size_t first_step_ = work_.steps.size();
  const Pipes pipes_;
  const Function& function_;
  const observe::Plan& plan_;
  const uint32_t first_register_;
  const Uses uses_;
  const observe::Uniform uniform_;
  const std::vector<uint8_t> unrolled_;  // how often ptxas unrolls the loop around it
  std::unordered_set<const Instruction*> divided_before_;
  std::unordered_set<const Instruction*> predicated_;  // branches that the machine has not
  std::unordered_map<const Instruction*, std::vector<const Instruction*>> followers_;
};

}  // namespace

void append_steps(model::Work& work, const Code& code, const observe::Plan& plan,
                  const model::Figures& figures) {
  Translator translator(work, code, plan, figures);
  for (const observe::Step& step : plan.steps) translator.add(step);
  work.traffic.resize(work.ops.size());
}

}  // namespace ridge::vm::timing
