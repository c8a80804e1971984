// The operands of an instruction: registers to slots of the frame, immediates and symbols to
// constant vectors, conversions where a register has another width.
#include <bit>
#include <cstring>

#include "vm/decode/decoder.h"
#include "vm/isa/video.h"
#include "vm/mem/windows.h"

namespace ridge::vm {
namespace {

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
bool is_shared_variable(const Variable* variable) {
  return variable && variable->space == Space::shared;
}
bool is_32bit_space(Space space) {
  return space == Space::shared || space == Space::local || space == Space::param;
}

}  // namespace

uint64_t immediate_bits(const Operand& op, Type type) {
  if (op.is_float && op.is_f64 && size_of(type) == 4)
    return std::bit_cast<uint32_t>(float(std::bit_cast<double>(op.bits)));
  if (op.is_float && !op.is_f64 && size_of(type) == 8)
    return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(op.bits))));
  if (!op.is_float && type == Type::f32) return std::bit_cast<uint32_t>(float(int64_t(op.bits)));
  if (!op.is_float && type == Type::f64) return std::bit_cast<uint64_t>(double(int64_t(op.bits)));
  return op.bits;
}

uint32_t Decoder::constant(int bytes, uint64_t value, bool is_shared_address) {
  if (bytes < 8) value &= (1ull << (8 * (bytes ? bytes : 4))) - 1;
  const auto [it, fresh] = constant_offsets_.try_emplace({bytes, value, is_shared_address}, 0);
  if (fresh) {
    const size_t size = bytes ? size_t(bytes) * kWarpSize : 64;
    it->second = uint32_t(constants_.size());
    constants_.resize(constants_.size() + size);
    for (int i = 0; i < (bytes ? kWarpSize : 1); ++i)
      std::memcpy(constants_.data() + it->second + i * bytes, &value, size_t(bytes ? bytes : 4));
    if (is_shared_address) code_.shared_constants.push_back({it->second, uint32_t(bytes)});
  }
  return it->second | kConstantBit;
}

uint32_t Decoder::immediate(const Operand& op, Type type) {
  if (type == Type::pred) return constant(0, op.bits ? kAllLanes : 0);
  return constant(lane_bytes(type), immediate_bits(op, type));
}

uint64_t Decoder::symbol_value(const Operand& op) const {
  if (op.function) {
    const auto& addresses = kernel_.program->function_addresses;
    const auto it = addresses.find(op.function);
    if (it == addresses.end())
      fail("the function '" + op.function->name + "' has no address", op.column);
    return it->second;
  }
  const Variable* v = op.variable;
  if (!v) fail("a value or a symbol was expected here", op.column);
  if (const auto it = kernel_.shared_offsets.find(v); it != kernel_.shared_offsets.end())
    return it->second + uint64_t(op.offset);
  if (const auto it = params_.find(v); it != params_.end()) return it->second + uint64_t(op.offset);
  if (const auto it = locals_.find(v); it != locals_.end()) return it->second + uint64_t(op.offset);
  const auto& addresses = kernel_.program->addresses;
  if (const auto it = addresses.find(v); it != addresses.end())
    return it->second + uint64_t(op.offset);
  fail("the variable '" + v->name + "' is declared but defined nowhere", op.column);
}

uint32_t Decoder::temporary(int bytes) {
  const uint32_t index = temporaries_used_[bytes]++;
  if (index >= kTemporaries) fail("too many operands of another width");
  const uint32_t start = bytes == 2 ? 0 : bytes == 4 ? 2 * kTemporaries : 6 * kTemporaries;
  return (start + index * uint32_t(bytes)) * kWarpSize;
}

uint32_t Decoder::predicate(int32_t reg, bool negated) const {
  if (registers_[size_t(reg)].type != Type::pred)
    fail("'" + registers_[size_t(reg)].name + "' is not a predicate");
  return slots_.offset[size_t(reg)] | (negated ? kNegatedBit : 0);
}

uint32_t Decoder::source(const Operand& op, Type type) {
  const int need = lane_bytes(type);
  switch (op.kind) {
    case Operand::Kind::reg: {
      if (!op.text.empty() && !pack_selector(op.text))
        fail("'." + op.text + "' selects no byte or half", op.column);
      if (type == Type::pred) return predicate(op.reg, op.negated);
      const Register& reg = registers_[size_t(op.reg)];
      const int have = lane_bytes(reg.type);
      const uint32_t at = slots_.offset[size_t(op.reg)];
      if (have == need) return at;
      if (have == 0) fail("'" + reg.name + "' is a predicate; a value was expected", op.column);
      const Handlers h = internal::resize(have, need, is_signed(type));
      if (!h.full) fail("'" + reg.name + "' does not fit this operand", op.column);
      const uint32_t temp = temporary(need);
      push(h, temp, at);
      return temp;
    }
    case Operand::Kind::imm: return immediate(op, type);
    case Operand::Kind::symbol: {
      if (op.variable && is_frame_variable(op.variable) && need == 8) {
        const uint32_t temp = temporary(8);
        push(internal::kLocalAddress, temp, 0, uint32_t(symbol_value(op)));
        return temp;
      }
      return constant(need, symbol_value(op), is_shared_variable(op.variable));
    }
    case Operand::Kind::special: {
      const auto* special = internal::find_special(op.text);
      if (!special)
        fail("the special register " + op.text + " is not supported by the software GPU",
             op.column);
      if (special->is64 && need < 8) fail(op.text + " is 64 bits wide", op.column);
      if (type == Type::pred) {
        const uint32_t temp = temporary(4);
        push(internal::kSpecialPredicate, temp, uint32_t(special->id));
        return temp;
      }
      const uint32_t temp = temporary(need);
      push(need == 8 ? internal::kSpecial64 : internal::kSpecial32, temp, uint32_t(special->id));
      return temp;
    }
    default: fail("this kind of operand does not belong here", op.column);
  }
}

uint32_t Decoder::destination(const Operand& op, Type type) {
  const int need = lane_bytes(type);
  if (op.kind == Operand::Kind::sink) return type == Type::pred ? temporary(4) : temporary(need);
  if (op.kind != Operand::Kind::reg) fail("a destination register was expected", op.column);
  const Register& reg = registers_[size_t(op.reg)];
  const int have = lane_bytes(reg.type);
  const uint32_t at = slots_.offset[size_t(op.reg)];
  if (have == need) return at;
  if (!have || !need || have < need) fail("'" + reg.name + "' does not fit this result", op.column);
  const uint32_t temp = temporary(need);
  extensions_.push_back({temp, at, need, have, is_signed(type)});
  return temp;
}

uint32_t Decoder::second_destination(const Operand& op) {
  return op.second < 0 ? kNoOperand : slots_.offset[size_t(op.second)];
}

void Decoder::flush_extensions() {
  const auto pending = std::move(extensions_);
  extensions_.clear();
  for (const Extension& e : pending)
    push(internal::resize(e.from_bytes, e.to_bytes, e.is_signed), e.to, e.from);
}

Decoder::Address Decoder::address(const Operand& op, Space space) {
  if (op.kind != Operand::Kind::address) fail("an address in brackets was expected", op.column);
  const int need = is_32bit_space(space) ? 4 : 8;
  if (op.offset != int64_t(int32_t(op.offset))) fail("address offset out of range", op.column);
  const uint32_t offset = uint32_t(int32_t(op.offset));
  if (op.reg >= 0) {
    Operand base;
    base.kind = Operand::Kind::reg;
    base.reg = op.reg;
    base.column = op.column;
    return {source(base, need == 4 ? Type::u32 : Type::u64), offset, 0};
  }
  if (op.variable) {
    const bool frame = is_frame_variable(op.variable);
    const bool shared = is_shared_variable(op.variable);
    uint64_t at = symbol_value(op);
    if (space == Space::generic && shared) at += kSharedWindow;
    return {constant(need, at, shared), 0, frame && !function_.entry ? 1u : 0u};
  }
  return {constant(need, uint64_t(op.offset)), 0, 0};
}

}  // namespace ridge::vm
