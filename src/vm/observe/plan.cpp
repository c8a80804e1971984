#include "vm/observe/plan.h"

#include "vm/observe/waits.h"

#include <algorithm>
#include <optional>

#include "vm/isa/internal.h"
#include "vm/observe/follow.h"
#include "vm/observe/fragments.h"
#include "vm/observe/machine.h"

namespace ridge::vm::observe {
namespace {

// What goes by way of the copy engine, or from registers to other blocks.
std::optional<Touch> copy_of(const Match& match) {
  Touch touch;
  const bool updates = match.form.operation != Operation::none;
  touch.action = updates ? Action::reduction : Action::store;
  touch.reach = Reach::cluster;
  touch.bulk = bulk_of(match);
  touch.multicast = is_multicast(match);
  touch.kind = copies_tensor(match) ? Touch::Kind::tensor : Touch::Kind::bulk;
  switch (touch.bulk) {
    case Bulk::none:  // st.async, red.async
      if (match.facts().access != AccessKind::peer_store) return std::nullopt;
      touch.kind = Touch::Kind::peer;
      touch.bytes = uint8_t(size_of(match.form.type()) * match.form.vector);
      return touch;
    case Bulk::load: touch.action = Action::load; break;
    case Bulk::prefetch: touch.action = Action::prefetch; break;
    case Bulk::store: break;
    case Bulk::to_peer: return touch;
  }
  touch.reach = Reach::bulk;
  return touch;
}

// Textures and surfaces: where their texels lie is not looked at.
std::optional<Touch> image_of(const Facts& facts) {
  Touch touch;
  touch.reach = Reach::surface;
  switch (facts.access) {
    case AccessKind::sample: touch.reach = Reach::texture; break;
    case AccessKind::load_surface: break;
    case AccessKind::store_surface: touch.action = Action::store; break;
    case AccessKind::reduce_surface: touch.action = Action::reduction; break;
    default: return std::nullopt;
  }
  return touch;
}

Touch touch_of(const Match& match) {
  if (const auto copy = copy_of(match)) return *copy;
  if (const auto image = image_of(match.facts())) return *image;
  Touch touch;
  const AccessKind access = match.facts().access;
  const Form& form = match.form;
  switch (access) {
    case AccessKind::load:
    case AccessKind::load_matrix:
    case AccessKind::load_tile: touch.action = Action::load; break;
    case AccessKind::store:
    case AccessKind::store_matrix:
    case AccessKind::store_tile: touch.action = Action::store; break;
    case AccessKind::atomic: touch.action = Action::atomic; break;
    case AccessKind::reduction: touch.action = Action::reduction; break;
    case AccessKind::copy: touch.action = Action::copy; break;
    default: return touch;
  }
  const bool matrices = access == AccessKind::load_matrix || access == AccessKind::store_matrix;
  switch (form.space) {
    case Space::global: touch.reach = Reach::global; break;
    case Space::shared:
      touch.reach = Reach::shared;
      touch.peers = reaches_cluster(match);
      break;
    case Space::local: touch.reach = Reach::local; break;
    case Space::generic:
      touch.reach = matrices ? Reach::shared : Reach::global;
      touch.generic = true;
      break;
    default: return touch;  // constants and parameters
  }
  if (matrices) {
    touch.kind = Touch::Kind::matrices;
    touch.matrices = form.matrices;
    touch.bytes = 16;
  } else if (access == AccessKind::load_tile || access == AccessKind::store_tile) {
    touch.kind = Touch::Kind::fragments;
    touch.matrices = moves_matrices(match);
    touch.bytes = touch.matrices ? 16 : 4;
  } else if (access == AccessKind::copy) {
    touch.kind = Touch::Kind::copy;
    touch.bypasses = form.bypasses_l1;
    touch.reach = Reach::global;
  } else {
    touch.bytes = uint8_t(size_of(form.type()) * form.vector);
  }
  return touch;
}

Step::Kind kind_of(const Inst& inst, const InstMeta& meta) {
  if (inst.full == internal::kBranch.full || inst.full == internal::kBranchTable.full)
    return Step::Kind::branch;
  if (inst.full == internal::kJump.full) return Step::Kind::always_branches;
  if (inst.full == internal::kExitIf.full) return Step::Kind::leaves;
  const Sync sync = meta.counts && meta.match ? meta.match->facts().sync : Sync::none;
  if (sync == Sync::block) return Step::Kind::barrier;
  if (sync == Sync::token_wait) return Step::Kind::phase;
  return Step::Kind::plain;
}

class Planner {
 public:
  Planner(const Code& code, const Disassembly* machine)
      : code_(code),
        machine_(
            machine_code(*code.function, code.kernel->shared_offsets, code.module->optimised)) {
    if (machine) follow(machine_, *code.function, code.kernel->shared_offsets, *machine);
  }

  Plan run() {
    for (size_t i = 0; i < code_.insts.size(); ++i) add(i);
    for (const Entry& entry : plan_.entries)
      if (plan_.communicates.empty()) plan_.communicates = communicates(entry);
    return std::move(plan_);
  }

 private:
  static std::string communicates(const Entry& entry) {
    const Touch& touch = entry.as_written;
    if (touch.reach != Reach::global || !entry.match) return {};
    const Form& form = entry.match->form;
    const std::string where = " (PTX line " + std::to_string(entry.source->line) + ")";
    if (touch.action == Action::atomic) return "the result of an atomic is used" + where;
    if (touch.action == Action::load && form.order != Order::weak)
      return "a load may wait for another block's store" + where;
    return {};
  }

  void add(size_t i) {
    const InstMeta& meta = code_.meta[i];
    Step step;
    if (meta.source) {
      step.kind = kind_of(code_.insts[i], meta);
      step.counts = meta.counts;
      step.touch = uint32_t(plan_.touches.size());
      if (meta.merged >= 0) {
        step.entry = uint32_t(plan_.entries.size());
        for (uint32_t k = 0; k < meta.counts; ++k)
          make(code_.merged[size_t(meta.merged) + k], meta.match);
        step.entries = meta.counts;
      } else {
        step.entry = entry(meta);
        step.entries = 1;
        if (meta.counts && meta.match) multiply(step.entry, *meta.match, i);
      }
      if (meta.accesses) {
        for (uint32_t k = 0; k < step.entries; ++k) add_touch(step.entry + k, int32_t(4 * k));
        step.touches = uint8_t(plan_.touches.size() - step.touch);
        if (step.touches) step.kind = Step::Kind::touches;
      }
    }
    plan_.steps.push_back(step);
    plan_.told.push_back(step.kind != Step::Kind::plain);
  }

  // A warpgroup's operands are accesses to shared memory.
  void multiply(uint32_t entry, const Match& match, size_t i) {
    Entry& one = plan_.entries[entry];
    one.tensor = tensor_work(match, &code_.insts[i]);
    if (!one.tensor.by_warpgroup) return;
    one.as_written.reach = Reach::shared;
    one.as_written.action = Action::operand;
  }

  uint32_t entry(const InstMeta& meta) {
    if (const auto found = entries_.find(meta.source); found != entries_.end())
      return found->second;
    return make(meta.source, meta.match);
  }

  uint32_t make(const Instruction* source, const Match* match) {
    Entry one;
    one.source = source;
    one.match = match;
    if (match) one.as_written = touch_of(*match);
    if (const auto found = machine_.atomics.find(source); found != machine_.atomics.end()) {
      one.as_written.atomic = found->second;
      one.as_written.action = found->second.is_reduction ? Action::reduction : Action::atomic;
    }
    one.width = one.as_written.bytes;
    if (const auto found = machine_.changed.find(source); found != machine_.changed.end()) {
      one.width = found->second.empty() ? 0 : found->second[0].bytes;
      const bool leads = std::any_of(found->second.begin(), found->second.end(),
                                     [&](const MachineAccess& a) { return a.lead == source; });
      if (!leads && one.width) one.merged_into = found->second[0].lead;
    }
    if (const auto found = machine_.predicated.find(source); found != machine_.predicated.end())
      one.passed_by = found->second;
    const Touch::Kind kind = one.as_written.kind;
    one.has_fillers = kind == Touch::Kind::copy && !copying_;
    if (kind == Touch::Kind::copy) copying_ = true;
    else if (one.as_written.reach == Reach::shared || (match && match->row->unit == Unit::barrier))
      copying_ = false;
    one.unclear = machine_.unclear.count(source);
    const std::vector<Instruction>& list = code_.function->instructions;
    if (source >= list.data() && source < list.data() + list.size())
      one.waits = waits_[size_t(source - list.data())];
    const auto index = uint32_t(plan_.entries.size());
    entries_[source] = index;
    plan_.entries.push_back(one);
    if (loops(one)) {  // the load in the loop is counted by itself
      one.as_written.action = Action::load;
      if (one.as_written.atomic.loops_in_shared) {
        one.as_written.reach = Reach::shared;
        one.as_written.generic = false;
      }
      plan_.entries.push_back(one);
    }
    return index;
  }

  static bool loops(const Entry& entry) {
    const MachineAtomic& atomic = entry.as_written.atomic;
    return atomic.way == MachineAtomic::Way::loop || atomic.loops_in_shared;
  }

  void add_touch(uint32_t entry, int32_t offset) {
    const Entry& one = plan_.entries[entry];
    Touch touch = one.as_written;
    if (touch.reach == Reach::none || one.merged_into) return;
    if (touch.reach == Reach::texture || touch.reach == Reach::surface) return;
    const bool by_lanes = touch.kind == Touch::Kind::lanes || touch.kind == Touch::Kind::matrices;
    if (!one.width && by_lanes) return;  // the machine has no such access
    touch.entry = entry;
    touch.offset = offset;
    const auto found = machine_.changed.find(one.source);
    if (found == machine_.changed.end()) {
      plan_.touches.push_back(touch);
      if (loops(one)) {
        touch.action = Action::load;
        touch.entry = entry + 1;
        plan_.touches.push_back(touch);
      }
      return;
    }
    for (const MachineAccess& access : found->second) {
      if (access.lead != one.source) continue;
      touch.offset = offset + access.start;
      touch.bytes = access.bytes;
      plan_.touches.push_back(touch);
    }
  }

  const Code& code_;
  const std::vector<bool> waits_ = waits_of(*code_.function);
  MachineCode machine_;
  std::unordered_map<const Instruction*, uint32_t> entries_;
  bool copying_ = false;  // an asynchronous copy came before, and nothing else of shared memory
  Plan plan_;
};

}  // namespace

Plan plan_of(const Code& code, const Disassembly* machine) { return Planner(code, machine).run(); }

}  // namespace ridge::vm::observe
