// From PTX instructions to items: which row, which registers, where control goes.
#include <mutex>

#include "core/align.h"
#include "vm/decode/accumulators.h"
#include "vm/decode/contract.h"
#include "vm/decode/decoder.h"
#include "vm/decode/merge.h"
#include "vm/decode/ptxas.h"

namespace ridge::vm {
namespace {

const Facts& facts_of(const Instruction& ins) { return ins.match ? ins.match->facts() : kRegs; }
bool is_plain_exit(const Instruction& ins) {
  const Flow flow = facts_of(ins).flow;
  return ins.guard < 0 && (flow == Flow::ret || flow == Flow::exit);
}

// Jumps and calls have as many operands as they like. All others have as many as a row says, and
// perhaps a cache policy, which is ignored.
const Match* find_row(const Instruction& ins, std::string* error) {
  const Match* any = find_instruction(ins.mnemonic, error);
  if (!any || (any->facts().flow != Flow::next && any->facts().flow != Flow::trap)) return any;
  return find_instruction(ins.mnemonic, error,
                          int(ins.operands.size()) - int(any->form.has_policy));
}

void collect(const Operand& op, std::vector<int32_t>& out) {
  if ((op.kind == Operand::Kind::reg || op.kind == Operand::Kind::address) && op.reg >= 0)
    out.push_back(op.reg);
  for (const Operand& e : op.elems) collect(e, out);
}

}  // namespace

void find_rows(Function& function) {
  std::string ignored;
  for (Instruction& ins : function.instructions)
    if (!ins.match) ins.match = find_row(ins, &ignored);
}

std::string missing_row(const Instruction& instruction) {
  std::string error;
  find_row(instruction, &error);
  return error;
}

void Decoder::fail(const std::string& message, uint32_t column) const {
  const Instruction* ins = current_ ? current_->source : nullptr;
  throw DecodeError{ins ? ins->line : function_.line,
                    column ? column
                    : ins  ? ins->column
                           : 1,
                    message};
}

void Decoder::run() {
  lay_out_locals();
  read_items();
  follow_ptxas(items_, tables_, registers_, code_);
  if (code_.module->optimised) contract(items_, tables_, registers_, code_);
  flow_ = build_flow(items_, function_, tables_);
  merge_shared_loads(items_, flow_, registers_);
  const std::vector<int32_t> stands_for = place_accumulators(items_, flow_, registers_);
  slots_ = assign_slots(items_, flow_, registers_, kReservedBytes);
  for (size_t r = 0; r < stands_for.size(); ++r)
    slots_.offset[r] = slots_.offset[size_t(stands_for[r])];
  code_.frame_bytes = slots_.frame_bytes;
  code_.register_count = slots_.peak_words;
  emit_all();
}

void Decoder::lay_out_locals() {
  uint32_t top = 0;
  const auto place = [&](const Variable& v) {
    top = round_up(top, std::max(v.align, 4u));
    locals_[&v] = top;
    const Code::Slot slot{top, round_up(uint32_t(v.size), 4)};
    top += slot.bytes;
    return slot;
  };
  if (function_.entry) {
    uint32_t offset = 0;
    for (const Variable& v : function_.params) {
      offset = round_up(offset, std::max(v.align, 1u));
      params_[&v] = offset;
      offset += uint32_t(v.size);
    }
  } else {
    for (const Variable& v : function_.params) code_.params.push_back(place(v));
    for (const Variable& v : function_.results) code_.results.push_back(place(v));
  }
  for (const Variable& v : function_.variables)
    if (v.space == Space::local || v.space == Space::param) place(v);
  code_.local_bytes = round_up(top, 16);
}

void Decoder::read_items() {
  for (const Instruction& ins : function_.instructions) {
    item_of_.push_back(uint32_t(items_.size()));
    read_instruction(ins);
  }
  item_of_.push_back(uint32_t(items_.size()));
  // The end: falling off a kernel exits, and every return of a function comes here, so that lanes
  // leave together.
  Item end;
  end.kind = function_.entry ? Item::Kind::exit : Item::Kind::ret;
  end.counts = 0;
  add(end);
  for (Item& item : items_) {
    if (item.kind == Item::Kind::jump || item.kind == Item::Kind::branch)
      if (!(item.target & kConstantBit)) item.target = item_of_[item.target];
    item.target &= ~kConstantBit;
    find_registers(item);
  }
  for (auto& table : tables_)
    for (uint32_t& target : table) target = item_of_[target];
}

// Targets are PTX instruction indices here; with kConstantBit they are items already.
void Decoder::read_instruction(const Instruction& ins) {
  Item item;
  item.source = &ins;
  item.guard = ins.guard;
  item.guard_negated = ins.guard_negated;
  current_ = &item;
  item.match = ins.match;
  if (!item.match) fail(missing_row(ins));
  const Facts& facts = item.match->facts();
  const std::string& target = code_.module->target;
  if (facts.arch_specific && !target.ends_with('a') && !target.ends_with('f'))
    fail("'" + std::string(ins.mnemonic) + "' needs a module for one architecture alone: " +
         target + "a instead of " + target + " (nvcc: -gencode arch=compute_90a,code=compute_90a)");

  const auto skip_around = [&] {
    Item around = item;
    around.kind = Item::Kind::branch;
    around.guard_negated = !item.guard_negated;
    around.target = uint32_t(items_.size() + 2) | kConstantBit;
    add(around);
    item.guard = -1;
    item.counts = 0;
  };
  switch (facts.flow) {
    case Flow::jump: {
      if (ins.operands.empty() || ins.operands[0].kind != Operand::Kind::label)
        fail("bra needs a label");
      item.target = ins.operands[0].target;
      const bool leads_to_exit = item.target >= function_.instructions.size() ||
                                 is_plain_exit(function_.instructions[item.target]);
      // An early return is an exit: the others need not wait for these lanes anywhere.
      item.kind = ins.guard < 0                      ? Item::Kind::jump
                  : function_.entry && leads_to_exit ? Item::Kind::exit
                                                     : Item::Kind::branch;
      break;
    }
    case Flow::table:
      if (ins.guard >= 0) skip_around();
      item.kind = Item::Kind::brx;
      item.target = read_table(ins);
      break;
    case Flow::call:
      if (ins.guard >= 0) skip_around();
      item.kind = Item::Kind::call;
      break;
    case Flow::ret:
      if (!function_.entry) {
        item.kind = ins.guard < 0 ? Item::Kind::jump : Item::Kind::branch;
        item.target = uint32_t(function_.instructions.size());
        break;
      }
      [[fallthrough]];
    case Flow::exit: item.kind = Item::Kind::exit; break;
    case Flow::next:
    case Flow::trap:
      if (ins.guard >= 0 && facts.converges) skip_around();
      break;
  }
  add(item);
  current_ = nullptr;
}

uint32_t Decoder::read_table(const Instruction& ins) {
  for (const Operand& op : ins.operands)
    if (op.kind == Operand::Kind::table) {
      tables_.push_back(function_.tables[op.target].targets);
      return uint32_t(tables_.size()) - 1;
    }
  fail("brx.idx needs a .branchtargets label");
}

void Decoder::find_registers(Item& item) {
  if (item.guard >= 0) item.uses.push_back(item.guard);
  if (!item.source || !item.match) return;
  if (item.kind == Item::Kind::jump || item.kind == Item::Kind::branch ||
      item.kind == Item::Kind::exit)
    return;
  const auto& operands = item.source->operands;
  if (item.kind == Item::Kind::call || item.kind == Item::Kind::brx) {
    for (const Operand& op : operands) collect(op, item.uses);
    return;
  }
  const auto& specs = operand_specs(*item.match->row);
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool dest = k < specs.size() && specs[k].dest;
    collect(operands[k], dest ? item.defs : item.uses);
    if (dest && specs[k].updated) collect(operands[k], item.uses);
    if (operands[k].second >= 0) item.defs.push_back(operands[k].second);
  }
}

Expected<Code*> decode(KernelCode& kernel, Function& function) {
  auto& slot = kernel.functions[&function];
  if (slot) return slot.get();
  Module& module = *kernel.program->module;
  auto code = std::make_unique<Code>();
  code->function = &function;
  code->module = &module;
  code->kernel = &kernel;
  find_rows(function);
  try {
    Decoder(kernel, function, *code).run();
  } catch (const DecodeError& e) {
    return Error{1, diagnostic(module, e.line, e.column, e.message)};
  }
  slot = std::move(code);
  return slot.get();
}

Code* decode_address(KernelCode& kernel, uint64_t address) {
  const std::lock_guard lock(kernel.mutex);
  for (auto& [function, at] : kernel.program->function_addresses)
    if (at == address) {
      auto& module = *kernel.program->module;
      auto& fn = const_cast<Function&>(*function);
      if (const auto it = kernel.functions.find(function); it != kernel.functions.end())
        return it->second.get();
      if (!fn.defined || !parse_body(module, fn)) return nullptr;
      auto code = decode(kernel, fn);
      return code ? *code : nullptr;
    }
  return nullptr;
}

}  // namespace ridge::vm
