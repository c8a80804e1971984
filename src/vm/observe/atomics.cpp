#include "vm/observe/atomics.h"

#include "vm/isa/operands.h"

namespace ridge::vm::observe {
namespace {

using Way = MachineAtomic::Way;
using Lanes = MachineAtomic::Lanes;

bool is_float(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2 ||
         type == Type::f32 || type == Type::f64;
}

Way way_of(const Form& form, const Operand& value, bool is_read) {
  if (form.operation == Operation::cas) return Way::compare;
  const int bytes = size_of(form.type());
  if (bytes == 2) return Way::loop;  // memory has no smaller word
  if (form.space != Space::shared || form.operation == Operation::exch) return Way::direct;
  if (is_float(form.type()) || bytes == 8) return Way::loop;
  const bool is_one = value.kind == Operand::Kind::imm && value.bits == 1;
  return form.operation == Operation::add && is_one && !is_read ? Way::counting : Way::direct;
}

Lanes lanes_of(const Form& form, bool is_read, bool one_place, bool one_value) {
  if (!one_place || is_float(form.type())) return Lanes::all;
  const bool adds = form.operation == Operation::add;
  if (size_of(form.type()) == 8) return adds && one_value ? Lanes::one : Lanes::all;
  if (is_read) return !adds ? Lanes::all : one_value ? Lanes::one : Lanes::one_of_all;
  switch (form.operation) {
    case Operation::add:
    case Operation::min:
    case Operation::max:
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor: return Lanes::one;
    default: return Lanes::all;
  }
}

}  // namespace

MachineAtomic machine_atomic(const Instruction& ins, const Form& form, bool is_read,
                             const Uniform& uniform) {
  const size_t first = operand_specs(*ins.match->row)[0].dest;  // atom names its result before
  MachineAtomic out;
  if (ins.operands.size() < first + 2) return out;
  const Operand &place = ins.operands[first], &value = ins.operands[first + 1];
  out.way = way_of(form, value, is_read);
  out.loops_in_shared = form.space == Space::generic && out.way == Way::direct &&
                        (is_float(form.type()) || size_of(form.type()) == 8) &&
                        form.operation != Operation::exch;
  // What counts lanes, or compares, does not put values together.
  if (out.way == Way::direct) out.lanes = lanes_of(form, is_read, uniform(place), uniform(value));
  // There is no generic reduction, and none that exchanges.
  out.is_reduction = !is_read && out.way != Way::compare && out.way != Way::loop &&
                     form.operation != Operation::exch && form.space != Space::generic;
  return out;
}

}  // namespace ridge::vm::observe
