// From items to executable instructions: handlers, the fields of each way to encode operands
// (Encoding in isa/facts.h), jump offsets.
#include <algorithm>
#include <cstring>

#include "vm/decode/decoder.h"
#include "vm/decode/register_use.h"
#include "vm/isa/video.h"

namespace ridge::vm {
namespace {

const InstMeta kNoMeta;

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
  if (minus && match.facts().negates) {
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
  Space space = match->form.space;
  Handlers handlers = match->handlers;
  const Operand* where = nullptr;
  for (size_t k = 0; k < specs.size(); ++k)
    if (specs[k].address) where = &operands[k];
  const Type type = match->form.type();
  const int elements = match->form.vector;

  if (space == Space::param) {
    if (where->variable && params_.count(where->variable) && where->reg < 0) {
      // A kernel parameter at a known offset is the same for every lane.
      handlers = internal::load_param(type, elements);
      if (!handlers.full) fail("this parameter load is not supported");
    } else if (where->variable) {
      // Parameters of functions and calls live in the thread's local memory.
      Form in_local = match->form;
      in_local.space = Space::local;
      handlers = match->row->select(in_local);
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
  // An integer that the instruction's text gives; `what` says which are allowed.
  const auto literal = [&](const Operand& op, const char* what, auto allowed) {
    if (op.kind != Operand::Kind::imm || !allowed(int64_t(op.bits)))
      fail(std::string("this operand is ") + what, op.column);
    return int64_t(op.bits);
  };
  for (size_t k = 0; k < specs.size(); ++k) {
    const Operand& op = operands[k];
    const Type type = operand_type(specs[k], match.form);
    if (specs[k].address) {
      at = address(op, match.form.space);
    } else if (specs[k].fragment_or_descriptor && op.kind != Operand::Kind::vec) {
      list.insert(list.end(), {source(op, Type::b64), kNoOperand, kNoOperand, kNoOperand});
    } else if (specs[k].fragment || specs[k].fragment_or_descriptor) {
      const size_t need = match.handlers.fragments[fragment++];
      if (op.kind != Operand::Kind::vec || op.elems.size() != need)
        fail("this operand is a vector of " + std::to_string(need) +
                 (need == 1 ? " register" : " registers"),
             op.column);
      for (const Operand& e : op.elems)
        list.push_back(specs[k].dest ? destination(e, type) : source(e, type));
    } else if (specs[k].literal) {
      const int64_t most = match.handlers.literals;
      const std::string what = "a literal below " + std::to_string(most);
      list.push_back(
          uint32_t(literal(op, what.c_str(), [&](int64_t x) { return x >= 0 && x < most; })));
    } else if (specs[k].flag) {
      list.push_back(
          uint32_t(literal(op, "the literal 0 or 1", [](int64_t x) { return x == 0 || x == 1; })));
    } else if (specs[k].sign) {
      list.push_back(
          literal(op, "the literal 1 or -1", [](int64_t x) { return x == 1 || x == -1; }) < 0);
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
    push(type == Type::pred ? internal::kSpecialPredicate
         : whole == 8       ? internal::kSpecial64
                            : internal::kSpecial32,
         destination(to, type), uint32_t(special->id));
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
  const Facts& facts = item.match->facts();
  const Form& form = item.match->form;
  if (facts.sync == Sync::registers_inc || facts.sync == Sync::registers_dec) {
    const Operand& count = item.source->operands[0];
    if (count.kind != Operand::Kind::imm || !RegisterUse::is_count(count.bits))
      fail("setmaxnreg needs a constant: a multiple of 8 between 24 and 256", count.column);
  }
  const bool may_poll = form.order == Order::is_volatile || form.order == Order::relaxed ||
                        form.order == Order::acquire || form.order == Order::mmio;
  if (facts.access == AccessKind::load && may_poll) push(internal::kPoll, 0);
  switch (facts.encoding) {
    case Encoding::image: emit_image(item); break;
    case Encoding::fragments: emit_fragments(item); break;
    case Encoding::copy: emit_copy(item); break;
    case Encoding::tensor: emit_tensor(item); break;
    case Encoding::memory:
      if (facts.is_atomic() && form.vector > 1) emit_vector_atomic(item);
      else if (facts.is_atomic() && form.type() == Type::b128) emit_wide_atomic(item);
      else emit_memory(item);
      break;
    case Encoding::move: emit_mov(item); break;
    case Encoding::operands: emit_general(item, *item.match, item.match->handlers); break;
  }
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
