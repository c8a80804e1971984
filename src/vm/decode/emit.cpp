// From items to executable instructions: operands to register slots and constant vectors, handlers,
// jump offsets.
#include <algorithm>
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
bool is_32bit_space(Space space) {
  return space == Space::shared || space == Space::local || space == Space::param;
}
const InstMeta kNoMeta;

bool has_fragments(const InstrDef& row) {
  const auto& specs = operand_specs(row);
  return std::any_of(specs.begin(), specs.end(), [](const OperandSpec& s) { return s.fragment; });
}

// The words of a merged load as the program reads them: a hexadecimal digit each, the lowest first.
uint32_t program_order(const std::vector<const Instruction*>& words) {
  uint32_t order = 0;
  for (size_t k = 0; k < words.size(); ++k) {
    const auto before = std::count_if(words.begin(), words.end(),
                                      [&](const Instruction* other) { return other < words[k]; });
    order |= uint32_t(k) << (4 * before);
  }
  return order;
}

}  // namespace

// --- operands ---

uint64_t immediate_bits(const Operand& op, Type type) {
  if (op.is_float && op.is_f64 && size_of(type) == 4)
    return std::bit_cast<uint32_t>(float(std::bit_cast<double>(op.bits)));
  if (op.is_float && !op.is_f64 && size_of(type) == 8)
    return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(op.bits))));
  if (!op.is_float && type == Type::f32) return std::bit_cast<uint32_t>(float(int64_t(op.bits)));
  if (!op.is_float && type == Type::f64) return std::bit_cast<uint64_t>(double(int64_t(op.bits)));
  return op.bits;
}

uint32_t Decoder::constant(int bytes, uint64_t value) {
  if (bytes < 8) value &= (1ull << (8 * (bytes ? bytes : 4))) - 1;
  const auto [it, fresh] = constant_offsets_.try_emplace({bytes, value}, 0);
  if (fresh) {
    const size_t size = bytes ? size_t(bytes) * kWarpSize : 64;
    it->second = uint32_t(constants_.size());
    constants_.resize(constants_.size() + size);
    for (int i = 0; i < (bytes ? kWarpSize : 1); ++i)
      std::memcpy(constants_.data() + it->second + i * bytes, &value, size_t(bytes ? bytes : 4));
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
      return constant(need, symbol_value(op));
    }
    case Operand::Kind::special: {
      const auto* special = internal::find_special(op.text);
      if (!special)
        fail("the special register " + op.text + " is not supported by the software GPU",
             op.column);
      if (special->is64 && need < 8) fail(op.text + " is 64 bits wide", op.column);
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
    uint64_t at = symbol_value(op);
    if (space == Space::generic && op.variable->space == Space::shared) at += kSharedWindow;
    return {constant(need, at), 0, frame && !function_.entry ? 1u : 0u};
  }
  return {constant(need, uint64_t(op.offset)), 0, 0};
}

// --- instructions ---

void Decoder::push(const Handlers& h, uint32_t d, uint32_t a, uint32_t b, uint32_t c,
                   const std::vector<uint32_t>& more) {
  Inst inst;
  inst.full = h.full;
  inst.masked = h.masked;
  inst.d = d;
  inst.a = a;
  inst.b = b;
  inst.c = c;
  code_.insts.push_back(inst);
  code_.meta.push_back(
      {current_ ? current_->source : nullptr, current_ ? current_->match : nullptr, 0});
  if (!h.wide) return;
  Wide extra;
  for (size_t k = 0; k < 7; ++k) extra.x[k] = k < more.size() ? more[k] : kNoOperand;
  extra.flags = h.flags;
  push_raw(&extra);
}

void Decoder::push_access(const Handlers& h, uint32_t d, uint32_t a, uint32_t b, uint32_t c,
                          const std::vector<uint32_t>& more) {
  const size_t at = code_.insts.size();
  push(h, d, a, b, c, more);
  code_.meta[at].accesses = true;
}

// The 32 bytes behind an instruction that hold more of its operands.
void Decoder::push_raw(const void* slot) {
  Inst raw;
  std::memcpy(static_cast<void*>(&raw), slot, sizeof raw);
  code_.insts.push_back(raw);
  code_.meta.push_back(kNoMeta);
}

void Decoder::emit_general(const Item& item, const Match& match, Handlers handlers) {
  const auto& specs = operand_specs(*match.row);
  const auto& operands = item.source->operands;
  uint32_t d = 0, seconds = kNoOperand;
  bool has_second = false;
  std::vector<uint32_t> fields;
  for (size_t k = 0; k < specs.size() && k < operands.size(); ++k) {
    const Type type = operand_type(specs[k], match.form);
    if (specs[k].dest) {
      d = operands[k].kind == Operand::Kind::sink && specs[k].second
              ? temporary(lane_bytes(type) ? lane_bytes(type) : 4)
              : destination(operands[k], type);
      if (specs[k].second) {
        has_second = true;
        seconds = second_destination(operands[k]);
      }
    } else if (specs[k].address) {
      fields.push_back(0);  // prefetch and its kind: the address is not used
    } else {
      fields.push_back(source(operands[k], type));
    }
  }
  if (has_second) fields.push_back(seconds);
  const auto field = [&](size_t k) { return k < fields.size() ? fields[k] : kNoOperand; };
  std::vector<uint32_t> more(fields.begin() + long(std::min<size_t>(3, fields.size())),
                             fields.end());
  // Video instructions select bytes and halves of their operands.
  for (size_t k = 0; k < operands.size() && k < 3; ++k) {
    if (operands[k].text.empty() || operands[k].kind != Operand::Kind::reg) continue;
    more.resize(7, kNoOperand);
    more[kSelectorField + k] = pack_selector(operands[k].text);
  }
  uint32_t minus = 0;
  for (size_t k = 1; k < operands.size(); ++k)
    if (specs[k].type != Type::pred && operands[k].negated) minus |= 1u << (k - 1);
  if (minus && item.source->mnemonic.starts_with("vmad")) {
    more.resize(7, kNoOperand);
    more[kMinusField] = minus;
  }
  if (!more.empty() && !handlers.wide)
    fail("internal: '" + std::string(item.source->mnemonic) + "' needs a wide row");
  push(handlers, d, field(0), field(1), field(2), more);
}

void Decoder::emit_memory(const Item& item) {
  const Match* match = item.match;
  const auto& specs = operand_specs(*match->row);
  const auto& operands = item.source->operands;
  Space space = match->form.space();
  Handlers handlers = match->handlers;
  const Operand* where = nullptr;
  for (size_t k = 0; k < specs.size(); ++k)
    if (specs[k].address) where = &operands[k];
  const Type type = match->form.type();
  const int elements = match->form.vector();

  if (space == Space::param) {
    if (where->variable && params_.count(where->variable) && where->reg < 0) {
      // A kernel parameter at a known offset is the same for every lane.
      handlers = internal::load_param(type, elements);
      if (!handlers.full) fail("this parameter load is not supported");
    } else if (where->variable) {
      // Parameters of functions and calls live in the thread's local memory.
      std::string local(item.source->mnemonic);
      local.replace(local.find(".param"),
                    local.find('.', local.find(".param") + 1) - local.find(".param"), ".local");
      std::string error;
      const Match* in_local = find_instruction(local, &error);
      if (!in_local) fail(error);
      handlers = in_local->handlers;
      space = Space::local;
    }
  }
  const Address at = address(*where, space);
  if (!item.merged.empty()) {
    std::vector<const Instruction*> words = {item.source};
    words.insert(words.end(), item.merged.begin(), item.merged.end());
    std::vector<uint32_t> slots;
    for (const Instruction* word : words) slots.push_back(destination(word->operands[0], type));
    const size_t inst = code_.insts.size();
    push_access(internal::load_shared_run(int(words.size()), program_order(words)), slots[0],
                at.base, at.offset, 0, {slots.begin() + 1, slots.end()});
    code_.meta[inst].merged = int32_t(code_.merged.size());
    code_.merged.insert(code_.merged.end(), words.begin(), words.end());
    return;
  }
  uint32_t d = kNoOperand, c = at.frame_relative;
  std::vector<uint32_t> more;
  bool first_source = true;
  for (size_t k = 0; k < specs.size() && k < operands.size(); ++k) {
    if (specs[k].address) continue;
    const Type operand = operand_type(specs[k], match->form);
    if (specs[k].vector) {
      std::vector<const Operand*> parts;
      if (operands[k].kind == Operand::Kind::vec)
        for (const Operand& e : operands[k].elems) parts.push_back(&e);
      else parts.push_back(&operands[k]);
      if (int(parts.size()) != elements)
        fail("the vector has the wrong number of elements", operands[k].column);
      for (size_t e = 0; e < parts.size(); ++e) {
        const uint32_t slot =
            specs[k].dest ? destination(*parts[e], operand) : source(*parts[e], operand);
        if (e == 0) d = slot;
        else more.push_back(slot);
      }
    } else if (specs[k].dest) {
      d = destination(operands[k], operand);
    } else {
      const uint32_t slot = source(operands[k], operand);
      if (first_source) c = slot;
      else more.push_back(slot);
      first_source = false;
    }
  }
  const uint32_t offset =
      space == Space::param && where->variable ? uint32_t(symbol_value(*where)) : at.offset;
  push_access(handlers, d, at.base, offset, c, more);
}

// Instructions on fragments of matrices, whose registers fill the slots behind them (fragment.h).
void Decoder::emit_fragments(const Item& item) {
  const Match& match = *item.match;
  const auto& specs = operand_specs(*match.row);
  const auto& operands = item.source->operands;
  Address at{0, 0, 0};
  std::vector<uint32_t> list;
  size_t fragment = 0;
  for (size_t k = 0; k < specs.size(); ++k) {
    const Operand& op = operands[k];
    const Type type = operand_type(specs[k], match.form);
    if (specs[k].address) {
      at = address(op, match.form.space());
    } else if (specs[k].fragment) {
      const size_t need = match.handlers.fragments[fragment++];
      if (op.kind != Operand::Kind::vec || op.elems.size() != need)
        fail("this operand is a vector of " + std::to_string(need) +
                 (need == 1 ? " register" : " registers"),
             op.column);
      for (const Operand& e : op.elems)
        list.push_back(specs[k].dest ? destination(e, type) : source(e, type));
    } else if (specs[k].literal) {
      if (op.kind != Operand::Kind::imm || op.bits >= match.handlers.literals)
        fail("this operand is a literal below " + std::to_string(match.handlers.literals),
             op.column);
      list.push_back(uint32_t(op.bits));
    } else {
      list.push_back(specs[k].dest ? destination(op, type) : source(op, type));
    }
  }
  constexpr size_t kPerSlot = sizeof(Inst) / sizeof(uint32_t);
  const size_t slots = (list.size() + kPerSlot - 1) / kPerSlot;
  list.resize(slots * kPerSlot, kNoOperand);
  Handlers head = match.handlers;
  head.wide = false;
  push_access(head, head.flags, at.base, at.offset, uint32_t(1 + slots));
  for (size_t k = 0; k < slots; ++k) push_raw(&list[k * kPerSlot]);
}

void Decoder::emit_mov(const Item& item) {
  const Operand& to = item.source->operands[0];
  const Operand& from = item.source->operands[1];
  const Type type = item.match->form.type();
  const int whole = lane_bytes(type);
  if (from.kind == Operand::Kind::vec) {
    const int parts = int(from.elems.size());
    const Handlers h = internal::pack(whole, parts);
    if (!h.full) fail("this vector move is not supported");
    const Type part = whole / parts == 4 ? Type::b32 : Type::b16;
    std::vector<uint32_t> slots;
    for (const Operand& e : from.elems) slots.push_back(source(e, part));
    push(h, destination(to, type), slots[0], slots[1], parts > 2 ? slots[2] : 0,
         parts > 2 ? std::vector<uint32_t>{slots[3]} : std::vector<uint32_t>{});
  } else if (to.kind == Operand::Kind::vec) {
    const int parts = int(to.elems.size());
    const Handlers h = internal::unpack(whole, parts);
    if (!h.full) fail("this vector move is not supported");
    const Type part = whole / parts == 4 ? Type::b32 : Type::b16;
    std::vector<uint32_t> slots;
    for (const Operand& e : to.elems) slots.push_back(destination(e, part));
    push(h, slots[0], source(from, type), 0, 0, {slots.begin() + 1, slots.end()});
  } else if (from.kind == Operand::Kind::special && to.kind == Operand::Kind::reg) {
    // Straight into the destination, not through a temporary.
    const auto* special = internal::find_special(from.text);
    if (!special)
      fail("the special register " + from.text + " is not supported by the software GPU",
           from.column);
    push(whole == 8 ? internal::kSpecial64 : internal::kSpecial32, destination(to, type),
         uint32_t(special->id));
  } else {
    emit_general(item, *item.match, item.match->handlers);
  }
}

void Decoder::emit_call(const Item& item) {
  CallSite site;
  const Operand* target = nullptr;
  std::vector<const Operand*> lists;
  bool results_first = false;
  for (const Operand& op : item.source->operands) {
    if (op.kind == Operand::Kind::list) {
      if (!target) results_first = true;
      lists.push_back(&op);
    } else if (!target && (op.kind == Operand::Kind::symbol || op.kind == Operand::Kind::reg)) {
      target = &op;
    }
  }
  if (!target) fail("call needs a function");
  const auto offsets = [&](const Operand& list) {
    std::vector<uint32_t> out;
    for (const Operand& e : list.elems) {
      if (!e.variable || !locals_.count(e.variable))
        fail("call arguments must be .param variables", e.column);
      out.push_back(locals_.at(e.variable));
    }
    return out;
  };
  size_t next = 0;
  if (results_first) site.results = offsets(*lists[next++]);
  if (next < lists.size()) site.arguments = offsets(*lists[next]);
  uint32_t reg = kNoOperand;
  if (target->kind == Operand::Kind::reg) {
    reg = source(*target, Type::u64);
  } else if (!target->function) {
    fail("call of something that is not a function", target->column);
  } else if (target->function->defined) {
    site.function = target->function;
  } else {
    const std::string& name = target->function->name;
    site.provided = find_device_function(name);
    if (!site.provided && name.starts_with("__cudaCDP2"))
      fail("the device runtime's '" + name.substr(10) + "' is not supported by the software GPU",
           target->column);
    if (!site.provided)
      fail("the device function '" + name + "' is not defined in this program", target->column);
  }
  code_.calls.push_back(std::move(site));
  push(internal::kCall, 0, reg, uint32_t(code_.calls.size()) - 1, 1);
  if (reg != kNoOperand) push(internal::kJoin, 0);
}

void Decoder::emit_op(const Item& item) {
  const uint16_t touches = item.match->row->touches;
  const Form& form = item.match->form;
  if (touches == kReads && (form.has("volatile") || form.has("relaxed") || form.has("acquire")))
    push(internal::kPoll, 0);
  if (item.match->row->unit == Unit::texture) emit_image(item);
  else if (has_fragments(*item.match->row)) emit_fragments(item);
  else if (item.source->mnemonic.starts_with("cp.async.")) emit_copy(item);
  else if ((touches & kAtomic) && form.vector() > 1) emit_vector_atomic(item);
  else if ((touches & kAtomic) && form.type() == Type::b128) emit_wide_atomic(item);
  else if (touches & (kReads | kWrites)) emit_memory(item);
  else if (item.source->mnemonic.starts_with("mov.")) emit_mov(item);
  else emit_general(item, *item.match, item.match->handlers);
  flush_extensions();
}

void Decoder::emit(const Item& item) {
  if (item.kind == Item::Kind::op && !item.match) return;  // merged into another
  current_ = &item;
  std::fill(std::begin(temporaries_used_), std::end(temporaries_used_), 0);
  const size_t first = code_.insts.size();
  const auto at = uint32_t(first);
  switch (item.kind) {
    case Item::Kind::jump:
      fixups_.push_back({at, flow_.block_of[item.target], -1});
      push(internal::kJump, 0);
      break;
    case Item::Kind::branch:
      fixups_.push_back(
          {at, flow_.block_of[item.target],
           flow_.blocks[flow_.block_of[size_t(&item - items_.data())]].post_dominator});
      push(internal::kBranch, predicate(item.guard, item.guard_negated));
      break;
    case Item::Kind::brx: {
      const uint32_t index = source(item.source->operands[0], Type::u32);
      fixups_.push_back(
          {uint32_t(code_.insts.size()), ~0u,
           flow_.blocks[flow_.block_of[size_t(&item - items_.data())]].post_dominator});
      push(internal::kBranchTable, 0, index, item.target);
      break;
    }
    case Item::Kind::exit:
      if (item.guard < 0) push(internal::kExit, 0);
      else push(internal::kExitIf, predicate(item.guard, item.guard_negated));
      break;
    case Item::Kind::ret: push(internal::kReturn, 0); break;
    case Item::Kind::call: emit_call(item); break;
    case Item::Kind::op:
      if (item.guard < 0) {
        emit_op(item);
      } else {
        push(internal::kGuard, predicate(item.guard, item.guard_negated));
        emit_op(item);
        code_.insts[first].a = uint32_t(code_.insts.size() - first - 1);
      }
      break;
  }
  code_.meta[first].counts = item.counts;
  current_ = nullptr;
}

void Decoder::emit_all() {
  for (const BasicBlock& block : flow_.blocks) {
    block_inst_.push_back(uint32_t(code_.insts.size()));
    if (block.is_join) push(internal::kJoin, 0);
    for (uint32_t i = block.begin; i < block.end; ++i) emit(items_[i]);
  }
  for (const Fixup& f : fixups_) {
    Inst& inst = code_.insts[f.inst];
    const auto offset = [&](uint32_t to) { return uint32_t(int32_t(to) - int32_t(f.inst)); };
    if (f.block != ~0u) {
      inst.b = offset(block_inst_[f.block]);
      inst.a = inst.b + (flow_.blocks[f.block].is_join ? 1 : 0);
    }
    inst.c = f.join < 0 ? 0 : offset(block_inst_[size_t(f.join)]);
  }
  for (const auto& table : tables_) {
    code_.tables.emplace_back();
    for (uint32_t target : table)
      code_.tables.back().push_back(block_inst_[flow_.block_of[target]]);
  }
  code_.constant_storage.resize(constants_.size() + 64);
  uint8_t* aligned = reinterpret_cast<uint8_t*>(
      (reinterpret_cast<uintptr_t>(code_.constant_storage.data()) + 63) / 64 * 64);
  std::copy(constants_.begin(), constants_.end(), aligned);
  code_.constants = aligned;
}

}  // namespace ridge::vm
