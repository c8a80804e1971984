#include "vm/check/bounds.h"

#include <algorithm>
#include <string_view>

#include "core/text.h"
#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"

namespace ridge::vm::check {
namespace {

// What a register holds, whichever of its definitions was executed: a number, an address in one
// variable, or something else.
class Origin {
 public:
  static Origin none() { return {}; }  // no definition seen yet
  static Origin number() { return Origin(State::number, nullptr); }
  static Origin of(const Variable* v) { return Origin(State::address, v); }
  static Origin other() { return Origin(State::other, nullptr); }

  bool is_none() const { return state_ == State::none; }
  bool is_number() const { return state_ == State::number; }
  const Variable* variable() const { return variable_; }
  bool operator==(const Origin&) const = default;

  Origin or_else(const Origin& o) const {
    if (is_none() || *this == o) return o;
    return o.is_none() ? *this : other();
  }
  // The sum of two.
  Origin plus(const Origin& o) const {
    if (is_none() || o.is_none()) return none();
    if (is_number()) return o;
    return o.is_number() ? *this : other();
  }

 private:
  enum class State : uint8_t { none, number, address, other };
  Origin() = default;
  Origin(State state, const Variable* variable) : state_(state), variable_(variable) {}
  State state_ = State::none;
  const Variable* variable_ = nullptr;
};

class Origins {
 public:
  explicit Origins(const Code& code) : entry_(code.function == code.kernel->entry) {
    std::vector<const Instruction*> all;
    for (const Instruction& i : code.function->instructions) all.push_back(&i);
    for (const Instruction& i : code.inserted) all.push_back(&i);
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (const Instruction* i : all) follow(*i);
    }
  }

  const Variable* variable_of(const Instruction& access) const {
    for (const Operand& op : access.operands) {
      if (op.kind != Operand::Kind::address) continue;
      if (op.reg < 0) {
        if (sized(op.variable)) return op.variable;
      } else if (!op.variable) {
        // Of a copy, the second address is the one in global memory.
        if (const Variable* v = held_in(op.reg).variable()) return v;
      }
    }
    return nullptr;
  }

 private:
  static bool sized(const Variable* v) {
    return v && v->space == Space::shared && !v->unsized && v->size;
  }

  // A parameter that holds a pointer, and nothing else.
  bool is_pointer(const Operand& op) const {
    return entry_ && op.kind == Operand::Kind::address && op.variable && op.reg < 0 &&
           op.offset == 0 && op.variable->space == Space::param && op.variable->size == 8;
  }

  Origin held_in(int32_t reg) const {
    const auto found = registers_.find(reg);
    return found == registers_.end() ? Origin::none() : found->second;
  }

  Origin origin_of(const Operand& op) const {
    switch (op.kind) {
      case Operand::Kind::reg: return op.text.empty() ? held_in(op.reg) : Origin::other();
      case Operand::Kind::imm:
      case Operand::Kind::special:
      case Operand::Kind::address:  // what is loaded from there
      case Operand::Kind::sink: return Origin::number();
      case Operand::Kind::symbol:
        return sized(op.variable) ? Origin::of(op.variable) : Origin::other();
      case Operand::Kind::vec: {
        Origin all = Origin::number();
        for (const Operand& e : op.elems) all = all.plus(origin_of(e));
        return all.is_number() || all.is_none() ? all : Origin::other();
      }
      default: return Origin::number();
    }
  }

  void define(const Operand& op, const Origin& origin) {
    for (const Operand& e : op.elems) define(e, origin);
    for (const int32_t reg : {op.kind == Operand::Kind::reg ? op.reg : -1, op.second}) {
      if (reg < 0) continue;
      const Origin held = held_in(reg), now = held.or_else(origin);
      changed_ |= !(now == held);
      registers_.insert_or_assign(reg, now);
    }
  }

  void follow(const Instruction& i) {
    if (i.operands.empty()) return;
    const auto& ops = i.operands;
    const auto is = [&](std::string_view root) { return i.match && i.match->root == root; };
    if (ops[0].kind == Operand::Kind::address) return;  // a store defines nothing
    if (is("call")) return define(ops[0], Origin::number());
    Origin result = Origin::number();
    if (is("ld") && ops.size() == 2 && is_pointer(ops[1])) {
      result = Origin::of(ops[1].variable);
    } else if ((is("mov") || is("cvta") || is("cvt")) && ops.size() == 2) {
      result = origin_of(ops[1]);
    } else if ((is("add") || is("or")) && ops.size() == 3) {  // `or` of bits that the base has not
      result = origin_of(ops[1]).plus(origin_of(ops[2]));
    } else if (is("sub") && ops.size() == 3) {
      const Origin less = origin_of(ops[2]);
      result = less.is_number() || less.is_none() ? origin_of(ops[1]).plus(less) : Origin::other();
    } else if (is("mad") && ops.size() == 4) {
      const Origin product = origin_of(ops[1]).plus(origin_of(ops[2]));
      result = product.is_number() || product.is_none() ? product.plus(origin_of(ops[3]))
                                                        : Origin::other();
    } else if (is("selp") && ops.size() == 4) {
      result = origin_of(ops[1]).or_else(origin_of(ops[2]));
    } else {
      for (size_t k = 1; k < ops.size(); ++k) result = result.plus(origin_of(ops[k]));
      if (!result.is_number() && !result.is_none()) result = Origin::other();
    }
    define(ops[0], result);
  }

  std::unordered_map<int32_t, Origin> registers_;
  const bool entry_;  // its parameters are the kernel's
  bool changed_ = false;
};

std::string name_of(const Variable& variable) { return "'" + own_name(variable.name) + "'"; }

}  // namespace

std::unordered_map<const Instruction*, const Variable*> homes_of_accesses(const Code& code) {
  std::unordered_map<const Instruction*, const Variable*> homes;
  const auto& shared = code.kernel->shared_offsets;
  const Origins origins(code);
  for (const InstMeta& meta : code.meta)
    if (meta.source)
      if (const Variable* v = origins.variable_of(*meta.source);
          v && (v->space == Space::param || shared.contains(v)))
        homes.emplace(meta.source, v);
  return homes;
}

// Inside shared memory, so that it does not fault, but not in the array that the code names.
void Checker::check_array(const Access& a, uint32_t lanes, const uint64_t* at) {
  const Variable& array = *a.s.array;
  const uint64_t begin = a.s.array_begin, end = a.s.array_end;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (at[i] >= begin && at[i] + a.s.bytes <= end) continue;
    if (at[i] + a.s.bytes > a.w.shared_size) continue;  // it faults
    if (!findings_.is_new("out-of-bounds", 0, a.s.id)) return;
    const bool before = at[i] < begin;
    const uint64_t past = before ? begin - at[i] : at[i] + a.s.bytes - end;
    Finding f;
    f.kind = "out-of-bounds";
    f.space = "shared";
    f.kernel = kernel_name(*a.w.worker->grid);
    f.second = {a.s.id,
                a.s.act == Act::load    ? "read"
                : a.s.act == Act::store ? "write"
                                        : "atomic",
                thread_name(a, a.base + uint32_t(i))};
    f.address = at[i];
    f.bytes = a.s.bytes;
    f.memory = memory_name(a, {a.base + uint32_t(i), 15, at[i] & ~3ull, 0, true});
    f.what = "the access " + std::string(before ? "begins " : "ends ") + std::to_string(past) +
             (before ? " bytes before the start of " : " bytes past the end of ") + name_of(array) +
             " (" + std::to_string(array.size) + " bytes)";
    f.fix = "check the index against the size of the array";
    findings_.add(f);
    return;
  }
}

// Inside some memory, so that it does not fault, but not in the tensor that the argument names.
void Checker::check_tensor(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  const LaunchState& launch = *a.b.launch;
  if (a.s.param >= launch.tensors.size()) return;
  const LaunchNotes::Tensor* tensor = launch.tensors[a.s.param];
  if (!tensor) return;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (at[i] >= tensor->address && at[i] + bytes <= tensor->end()) continue;
    const auto home = memory_.load()->find(at[i]);
    if (!home || at[i] + bytes > home->end()) continue;  // it faults
    if (!findings_.is_new("out-of-bounds", 0, a.s.id)) return;
    const bool before = at[i] < tensor->address;
    const uint64_t past = before ? tensor->address - at[i] : at[i] + bytes - tensor->end();
    Finding f;
    f.kind = "out-of-bounds";
    f.space = "global";
    f.kernel = kernel_name(*a.w.worker->grid);
    f.second = {a.s.id, verb_of(a.s.act, a.s.act == Act::store),
                thread_name(a, a.base + uint32_t(i))};
    f.address = at[i];
    f.bytes = bytes;
    f.memory =
        memory_name(a, {a.base + uint32_t(i), mask_of(at[i], bytes), at[i] & ~3ull, 0, false});
    f.what = say("the access ", before ? "begins " : "ends ", past,
                 before ? " bytes before the start of '" : " bytes past the end of '", tensor->name,
                 "' (", tensor->bytes, " bytes), in other memory");
    f.fix = "check the index against the tensor's size: the mask of the access, and its strides";
    findings_.add(f);
    return;
  }
}

}  // namespace ridge::vm::check
