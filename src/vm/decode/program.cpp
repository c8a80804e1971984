// Loading: variables to memory, initialisers with their relocations, kernels with everything they
// reach.
#include "vm/decode/program.h"
#include "vm/decode/register_use.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_set>

#include "core/align.h"
#include "vm/mem/windows.h"

namespace ridge::vm {
namespace {

// What one function mentions.
struct Mentions {
  std::vector<const Function*> called, taken;
  std::vector<const Variable*> shared;
  bool indirect = false;
  bool grows_stack = false;
  bool triggers = false;
  RegisterUse registers;
};
void collect(const Operand& op, bool in_call, Mentions& out) {
  if (op.function) (in_call ? out.called : out.taken).push_back(op.function);
  if (op.variable && op.variable->space == Space::shared) out.shared.push_back(op.variable);
  for (const Operand& e : op.elems) collect(e, in_call, out);
}
Mentions mentions_of(const Function& function) {
  Mentions out;
  for (const Instruction& ins : function.instructions) {
    if (!ins.match) continue;
    const bool is_call = ins.match->facts().flow == Flow::call;
    out.grows_stack |= ins.match->facts().grows_stack;
    out.triggers |= ins.match->facts().sync == Sync::grid_trigger;
    out.registers.add(ins);
    for (const Operand& op : ins.operands) {
      collect(op, is_call, out);
      if (is_call && op.kind == Operand::Kind::reg) out.indirect = true;
    }
  }
  return out;
}

// Bytes of local memory the deepest chain of calls needs; `deep` is set when the chain has no end.
uint32_t stack_depth(const KernelCode& kernel, const Function* function,
                     std::vector<const Function*>& path, bool& deep) {
  if (std::find(path.begin(), path.end(), function) != path.end()) {
    deep = true;
    return 0;
  }
  const auto it = kernel.functions.find(function);
  if (it == kernel.functions.end()) return 0;
  path.push_back(function);
  uint32_t below = 0;
  for (const CallSite& site : it->second->calls) {
    if (site.function) below = std::max(below, stack_depth(kernel, site.function, path, deep));
    else if (!site.provided) deep = true;
  }
  path.pop_back();
  return round_up(it->second->local_bytes, 16) + below;
}
constexpr uint32_t kStackAllowance = 64 * 1024;

}  // namespace

Status place_variables(Program& program, Allocations& memory) {
  Module& module = *program.module;
  uint64_t next = kFunctionWindow + (program.id << 24);
  for (const Function& f : module.functions) program.function_addresses[&f] = next += 16;

  program.addresses.reserve(module.variables.size());
  for (const Variable& v : module.variables) {
    if (v.space != Space::global && v.space != Space::constant) continue;
    if (v.linkage == Linkage::external && v.size == 0) continue;
    uint64_t& home = program.addresses[&v];  // 0 until it has one
    const auto address = memory.allocate(std::max<uint64_t>(v.size, 1), v.align, MemKind::variable,
                                         v.managed ? kManagedVariable : 0, v.name);
    if (!address) return Error{2, "out of memory while placing the variable '" + v.name + "'"};
    home = *address;
    uint8_t* bytes = memory.place(*address);
    std::memset(bytes, 0, v.size);
    std::copy_n(v.init.begin(), std::min<size_t>(v.init.size(), v.size), bytes);
  }
  for (const Variable& v : module.variables) {
    const auto home = program.addresses.find(&v);
    if (home == program.addresses.end()) continue;
    for (const Relocation& r : v.relocations) {
      uint64_t value = 0;
      if (r.function) {
        value = program.function_addresses.at(r.function);
      } else if (const auto it = program.addresses.find(r.variable);
                 it != program.addresses.end()) {
        value = it->second;
      } else {
        return Error{1, "the initialiser of '" + v.name + "' needs the address of '" +
                            (r.variable ? r.variable->name : "?") + "', which is defined nowhere"};
      }
      value += uint64_t(r.addend);
      value >>= 8 * r.byte;
      if (r.offset + r.size > v.size)
        return Error{1, "the initialiser of '" + v.name + "' runs past its end"};
      std::memcpy(memory.place(home->second + r.offset), &value, r.size);
    }
  }
  return {};
}

void release_variables(Program& program, Allocations& memory) {
  for (const auto& [variable, address] : program.addresses)
    if (address) memory.release(address, MemKind::variable);
}

KernelInfo describe(const Module& module, const Function& function, const GpuSpec& gpu) {
  KernelInfo info;
  info.name = function.name;
  uint32_t offset = 0;
  for (const Variable& p : function.params) {
    offset = round_up(offset, std::max(p.align, 1u));
    info.params.push_back({offset, uint32_t(p.size)});
    offset += uint32_t(p.size);
  }
  info.param_bytes = offset;
  if (function.maxntid[0]) {
    constexpr uint64_t kLimit = KernelInfo{}.max_threads;  // any three numbers, without overflow
    uint64_t threads = 1;
    for (const uint32_t n : function.maxntid) threads = std::min(threads * std::max(n, 1u), kLimit);
    info.max_threads = uint32_t(threads);
    // This many blocks of this size must fit; a warp gets its registers in steps of 256. What
    // cannot fit is ignored, as ptxas does.
    const uint64_t resident = std::max(function.minnctapersm, 1u);
    const uint64_t warps = (threads + 31) / 32 * resident;
    if (warps * 32 <= uint64_t(gpu.max_threads_per_sm))
      info.max_registers =
          std::min(info.max_registers, uint32_t(gpu.registers_per_sm / warps / 256 * 256 / 32));
  }
  if (function.maxnreg) info.max_registers = std::min(info.max_registers, function.maxnreg);
  info.fixed_registers = function.maxnreg || (function.maxntid[0] && function.minnctapersm);
  for (int k = 0; k < 3; ++k) info.required_threads[k] = function.reqntid[k];
  for (int k = 0; k < 3; ++k) info.required_cluster[k] = function.reqnctapercluster[k];
  info.max_cluster = function.maxclusterrank;
  info.needs_cluster = function.explicitcluster;
  info.grid_of_clusters = function.blocksareclusters;
  if (module.target.starts_with("sm_")) info.ptx_version = std::atoi(module.target.c_str() + 3);
  return info;
}

Expected<std::unique_ptr<KernelCode>> decode_kernel(Program& program, Function& entry,
                                                    const KernelInfo& info) {
  Module& module = *program.module;
  auto kernel = std::make_unique<KernelCode>();
  kernel->program = &program;
  kernel->entry = &entry;

  // Everything reachable, and the shared variables any of it uses.
  std::vector<const Function*> todo = {&entry};
  std::set<const Function*> seen = {&entry};
  std::vector<const Variable*> shared;
  const auto visit = [&](const Function* f) {
    // A kernel is named to launch it; it has its own code.
    if (f && f->defined && !f->entry && seen.insert(f).second) todo.push_back(f);
  };
  bool took_all_pointers = false;
  RegisterUse registers;
  for (size_t k = 0; k < todo.size(); ++k) {
    auto& function = const_cast<Function&>(*todo[k]);
    if (Status parsed = parse_body(module, function); !parsed) return parsed.error();
    find_rows(function);
    const Mentions m = mentions_of(function);
    kernel->stack_grows |= m.grows_stack;
    kernel->triggers |= m.triggers;
    registers.add(m.registers);
    for (const Function* f : m.called) visit(f);
    for (const Function* f : m.taken) visit(f);
    for (const Variable* v : m.shared)
      if (std::find(shared.begin(), shared.end(), v) == shared.end()) shared.push_back(v);
    if (m.indirect && !took_all_pointers) {
      took_all_pointers = true;  // any function whose address stands in a variable may be called
      for (const Variable& v : module.variables)
        for (const Relocation& r : v.relocations) visit(r.function);
    }
  }
  const auto at_entry = registers.at_entry(info, module);
  if (!at_entry) return at_entry.error();
  kernel->entry_registers = *at_entry;
  // In the order of their declarations, those of bodies before the module's, as ptxas places them.
  std::unordered_set<const Variable*> outside;
  for (const Variable& v : module.variables) outside.insert(&v);
  const auto place = [&](const Variable* v) { return std::pair(outside.count(v), v->line); };
  std::stable_sort(shared.begin(), shared.end(),
                   [&](const Variable* a, const Variable* b) { return place(a) < place(b); });
  uint32_t top = 0, dynamic_align = 16;
  for (const Variable* v : shared) {
    if (v->unsized || v->size == 0) {
      dynamic_align = std::max(dynamic_align, v->align);
      continue;
    }
    top = round_up(top, std::max(v->align, 1u));
    kernel->shared_offsets[v] = top;
    top += uint32_t(v->size);
  }
  kernel->static_shared = top;
  kernel->dynamic_shared_offset = round_up(top, dynamic_align);
  for (const Variable* v : shared)
    if (v->unsized || v->size == 0) kernel->shared_offsets[v] = kernel->dynamic_shared_offset;

  for (const Function* f : todo) {
    auto code = decode(*kernel, const_cast<Function&>(*f));
    if (!code) return code.error();
  }
  kernel->code = kernel->functions.at(&entry).get();
  std::vector<const Function*> path;
  kernel->local_bytes = stack_depth(*kernel, &entry, path, kernel->stack_grows);
  if (kernel->stack_grows) kernel->local_bytes += kStackAllowance;
  return kernel;
}

}  // namespace ridge::vm
