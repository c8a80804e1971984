// Instructions that touch memory in ways of their own: cp.async, and atomics on vectors and on 128
// bits.
#include <algorithm>

#include "vm/decode/decoder.h"

namespace ridge::vm {

// Several addresses, each in a space of its own. An address takes two fields, its base and its
// offset, and a vector one for each element, in the order written.
void Decoder::emit_copy(const Item& item) {
  const Match& match = *item.match;
  const auto& specs = operand_specs(*match.row);
  const auto& operands = item.source->operands;
  std::vector<uint32_t> fields;
  for (size_t k = 0; k < specs.size() && k < operands.size(); ++k) {
    const Operand& op = operands[k];
    if (specs[k].address) {
      const Space space = specs[k].space == Space::reg ? match.form.space : specs[k].space;
      const Address at = address(op, space);
      fields.push_back(at.base);
      fields.push_back(at.offset);
      continue;
    }
    if (match.facts().access == AccessKind::copy) {
      // The size in shared memory; then the size of the source, or a predicate that leaves the
      // source alone, which one spelling allows both.
      const bool is_size = k == 2;
      if (is_size &&
          (op.kind != Operand::Kind::imm ||
           (op.bits != 16 && (match.form.bypasses_l1 || (op.bits != 4 && op.bits != 8)))))
        fail(match.form.bypasses_l1 ? "cp.async.cg copies 16 bytes"
                                    : "cp.async.ca copies 4, 8 or 16 bytes",
             op.column);
      const bool ignores =
          op.kind == Operand::Kind::reg && registers_[size_t(op.reg)].type == Type::pred;
      if (ignores) {
        fields.push_back(kNoOperand);
        fields.push_back(predicate(op.reg, op.negated));
        continue;
      }
      if (!is_size && op.kind == Operand::Kind::imm && op.bits > operands[2].bits)
        fail("the source is larger than the copy", op.column);
    }
    if (op.kind == Operand::Kind::vec) {  // the elements of a vector
      if (int(op.elems.size()) != match.form.vector)
        fail("the vector has the wrong number of elements", op.column);
      for (const Operand& element : op.elems)
        fields.push_back(source(element, operand_type(specs[k], match.form)));
      continue;
    }
    const Sync sync = match.facts().sync;
    if ((sync == Sync::copy_wait || sync == Sync::bulk_wait) && op.kind != Operand::Kind::imm)
      fail("cp.async.wait_group needs a constant", op.column);
    fields.push_back(source(op, operand_type(specs[k], match.form)));
  }
  const auto field = [&](size_t k) { return k < fields.size() ? fields[k] : kNoOperand; };
  std::vector<uint32_t> more;
  for (size_t k = 3; k < fields.size(); ++k) more.push_back(fields[k]);
  push_access(match.handlers, kNoOperand, field(0), field(1), field(2), more);
}

// One instruction for each element.
void Decoder::emit_vector_atomic(const Item& item) {
  const Match& match = *item.match;
  const auto& operands = item.source->operands;
  const bool returns = operand_specs(*match.row)[0].dest;
  const Operand& where = operands[returns ? 1 : 0];
  const Operand& values = operands[returns ? 2 : 1];
  const Type type = match.form.type();
  const size_t elements = size_t(match.form.vector);
  for (const Operand* vector : {&values, returns ? &operands[0] : &values})
    if (vector->kind != Operand::Kind::vec || vector->elems.size() != elements)
      fail("the vector has the wrong number of elements", vector->column);

  const Address at = address(where, Space::global);
  const uint32_t bytes = uint32_t(size_of(type));
  std::vector<uint32_t> to(elements, kNoOperand), from;
  for (size_t e = 0; e < elements; ++e) {
    if (returns) to[e] = destination(operands[0].elems[e], type);
    from.push_back(source(values.elems[e], type));
  }
  // A value that an earlier element's result overwrites is kept aside.
  std::string error;
  const Match* mov = find_instruction(bytes == 2 ? "mov.b16" : "mov.b32", &error);
  for (size_t e = 1; e < elements; ++e)
    if (std::find(to.begin(), to.begin() + long(e), from[e]) != to.begin() + long(e)) {
      const uint32_t kept = temporary(int(bytes));
      push(mov->handlers, kept, from[e]);
      from[e] = kept;
    }
  push_access(internal::kCheckVector, 0, at.base, at.offset, bytes * uint32_t(elements));
  for (size_t e = 0; e < elements; ++e)
    push(match.handlers, to[e], at.base, at.offset + bytes * uint32_t(e), from[e]);
}

// 128 bits: the low half of a value where other atomics have all of it, the other halves behind.
void Decoder::emit_wide_atomic(const Item& item) {
  const auto& operands = item.source->operands;
  const auto half = [&](size_t k, size_t which) {
    const Operand& op = operands[k];
    if (k == 0 && op.kind == Operand::Kind::sink) return destination(op, Type::b64);
    if (op.kind != Operand::Kind::vec || op.elems.size() != 2)
      fail("this operand is a register of 128 bits", op.column);
    return k == 0 ? destination(op.elems[which], Type::b64) : source(op.elems[which], Type::b64);
  };
  const Address at = address(operands[1], item.match->form.space);
  std::vector<uint32_t> more = {half(0, 1), half(2, 1)};
  if (operands.size() > 3) more.insert(more.end(), {half(3, 0), half(3, 1)});
  push(item.match->handlers, half(0, 0), at.base, at.offset, half(2, 0), more);
}

}  // namespace ridge::vm
