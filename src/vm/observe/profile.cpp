#include "vm/observe/profile.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "vm/exec/grid.h"
#include "vm/isa/internal.h"
#include "vm/observe/count.h"
#include "vm/observe/json.h"
#include "vm/observe/keep_ptx.h"
#include "vm/observe/phases.h"
#include "vm/observe/run_counts.h"
#include "vm/observe/sample.h"

namespace ridge::vm::observe {

namespace {

// Accesses that are kept of an instruction, by all workers together, and the launches of one kernel
// and shape that keep some: enough to know how it goes to memory.
constexpr size_t kKeptAccesses = 128, kLeastKept = 16;
constexpr uint64_t kKeptLaunches = 4;

}  // namespace

void Worst::meet(const Worst& other) {
  if (other.cost > cost) *this = other;
  else if (other.cost == cost) warps += other.warps;
}

void Split::meet(const Split& other) {
  if (other.smaller > smaller) *this = other;
  else if (other.smaller == smaller) warps += other.warps;
}

struct Profiler::Tally {
  std::shared_ptr<const Plan> plan;
  const Inst* first = nullptr;
  std::vector<Watch::Executed> executed;        // by decoded instruction
  std::vector<Counters> entries;                // by the plan's
  std::vector<Split> splits;                    // the same
  std::vector<Memory> memory;                   // by the plan's touches
  std::unordered_map<uint32_t, Phases> phases;  // by the plan's entries
};
struct Profiler::Run {
  std::string not_sampled;
  bool keeps = false;          // accesses, to try changes on
  uint64_t watched_block = 0;  // whose warps are looked at together
  Footprint footprint;
  std::optional<Sample> sample;
  std::vector<std::unordered_map<const Code*, Tally>> workers;

  Sample::Work work() const {
    Sample::Work work = {};
    for (const auto& worker : workers)
      for (const auto& [code, tally] : worker) {
        for (const Watch::Executed& executed : tally.executed) {
          work[0] += double(executed.warps);
          work[1] += double(executed.threads);
        }
        for (const Counters& c : tally.entries) work[2] += double(c.sectors + c.wavefronts);
      }
    return work;
  }
};

Profiler::Profiler(std::FILE* out, uint64_t sample, uint64_t seed)
    : out_(out), sample_(sample), seed_(seed) {}
Profiler::~Profiler() = default;

std::vector<uint64_t> Profiler::choose(const GridRun& grid) {
  const uint64_t blocks = grid.launch->grid.count();
  if (!sample_ || blocks <= sample_) return {};
  const std::lock_guard lock(mutex_);
  auto& run = runs_[&grid];
  if (run)
    return run->sample ? run->sample->next(run->work(), grid.has_run) : std::vector<uint64_t>();
  run = std::make_unique<Run>();
  std::string& why = run->not_sampled;
  if (grid.launch->cooperative) why = "it is a cooperative launch";
  for (const auto& [function, code] : grid.code->functions)
    if (why.empty()) why = plan(*code, grid)->communicates;
  if (why.empty()) {
    const std::vector<uint64_t> first = run->sample.emplace(blocks, sample_, seed_).next({});
    run->watched_block = first[first.size() / 2];
    return first;
  }
  std::fprintf(stderr, "ridge: all %llu blocks of %s run, its blocks communicate: %s\n",
               static_cast<unsigned long long>(blocks), kernel_name(grid).c_str(), why.c_str());
  return {};
}

void Profiler::begin(const GridRun& grid, unsigned workers) {
  const std::lock_guard lock(mutex_);
  auto& run = runs_[&grid];
  if (!run) run = std::make_unique<Run>();
  if (run->workers.empty()) {
    const Launch& launch = *grid.launch;
    const std::string shape =
        std::to_string(launch.grid.count()) + ' ' + std::to_string(launch.block.count());
    run->keeps = launches_[kernel_name(grid) + ' ' + shape]++ < kKeptLaunches;
    if (grid.chosen.empty()) {  // another observer wants all blocks
      run->sample.reset();
      run->watched_block = grid.blocks / 2;
    }
  }
  run->workers.resize(workers);
  plan(*grid.code->code, grid);  // before anyone's time is taken
}

std::shared_ptr<const Plan> Profiler::plan(const Code& code, const GridRun& grid) {
  auto& known = plans_[{code.kernel->program->id, &code}];
  if (!known) {
    const Disassembled& machine = disassembler_.of(*grid.code, *grid.gpu);
    known = std::make_shared<const Plan>(plan_of(code, machine.code ? &*machine.code : nullptr));
  }
  return known;
}

void Profiler::keep_accesses(Tally& tally, const Code& code, const Run& run) {
  const size_t most = std::max(kKeptAccesses / run.workers.size(), kLeastKept);
  std::map<std::pair<int64_t, bool>, std::shared_ptr<Tile>> tiles;  // by source line; of stores
  for (size_t k = 0; k < tally.memory.size(); ++k) {
    const Touch& touch = tally.plan->touches[k];
    const Instruction& source = *tally.plan->entries[touch.entry].source;
    const int64_t line =
        source.loc < 0 ? -int64_t(source.line) : code.function->locs[size_t(source.loc)].line;
    auto& tile = tiles[{line, touch.action == Action::store}];
    if (!tile) tile = std::make_shared<Tile>();
    tally.memory[k].seen_global = std::make_unique<Seen>(most, run.watched_block, tile);
    tally.memory[k].seen_shared = std::make_unique<Seen>(most, run.watched_block);
  }
}

Profiler::Tally& Profiler::tally(const Warp& w) {
  // What a thread looked up last; the launch's number tells a new one at the same place.
  thread_local struct {
    uint64_t grid = 0;
    const Code* code = nullptr;
    Tally* tally = nullptr;
  } last;
  const Code& code = *w.frame->code;
  const GridRun& grid = *w.worker->grid;
  if (last.grid == grid.id && last.code == &code) return *last.tally;
  const std::lock_guard lock(mutex_);
  Run& run = *runs_.at(&grid);
  Tally& found = run.workers.at(w.worker->index)[&code];
  if (!found.plan) {
    found.plan = plan(code, grid);
    found.first = code.insts.data();
    found.executed.resize(code.insts.size());
    found.entries.resize(found.plan->entries.size());
    found.splits.resize(found.plan->entries.size());
    found.memory.resize(found.plan->touches.size());
    for (Memory& memory : found.memory) memory.footprint = &run.footprint;
    if (run.keeps) keep_accesses(found, code, run);
  }
  last = {grid.id, &code, &found};
  return found;
}

Observer::Watch Profiler::watch(const Warp& w) {
  Tally& tally = this->tally(w);
  return {tally.executed.data(), tally.plan->told.data()};
}

void Profiler::before(const Warp& w, const Inst* inst) {
  Tally& tally = this->tally(w);
  const Step& step = tally.plan->steps[size_t(inst - tally.first)];
  Counters& c = tally.entries[step.entry];
  switch (step.kind) {
    case Step::Kind::touches:
      for (uint32_t k = step.touch; k < step.touch + step.touches; ++k) {
        const Touch& touch = tally.plan->touches[k];
        count_touch(tally.entries[touch.entry], tally.memory[k], touch, w, inst);
      }
      break;
    case Step::Kind::branch:
    case Step::Kind::leaves: {
      ++c.branches;
      if (inst->full == internal::kBranchTable.full) break;
      const uint32_t taken = w.pred(inst->d) & w.mask;
      if (taken && taken != w.mask) {
        ++c.divergent;
        const auto smaller =
            uint32_t(std::min(std::popcount(taken), std::popcount(w.mask & ~taken)));
        tally.splits[step.entry].meet({1, smaller, w.mask, taken});
      }
      break;
    }
    case Step::Kind::always_branches: ++c.branches; break;
    case Step::Kind::barrier: ++c.barriers; break;
    case Step::Kind::phase:
      c.mbarrier_waits +=
          tally.phases[step.entry].is_new(*tally.plan->entries[step.entry].match, w, inst);
      break;
    case Step::Kind::plain: break;
  }
}

namespace {

// Where a function was called most often.
struct Call {
  const Code* code = nullptr;
  const Instruction* instruction = nullptr;
  uint64_t warps = 0;
};
using Calls = std::map<const Function*, Call>;

void note_call(Calls& calls, const Code& code, const Instruction& instruction, uint64_t warps) {
  if (!instruction.match || instruction.match->facts().flow != Flow::call) return;
  for (const Operand& operand : instruction.operands) {
    if (!operand.function) continue;
    Call& known = calls[operand.function];
    if (warps >= known.warps) known = {&code, &instruction, warps};
  }
}

// The source line, and where that was inlined.
void find_source(InstructionProfile& one, int32_t at, const Code& code) {
  const auto file = [&](const SourceLoc& l) {
    return l.file < code.module->files.size() ? code.module->files[l.file] : std::string();
  };
  const SourceLoc& loc = code.function->locs[size_t(at)];
  one.line = loc.line;
  one.file = file(loc);
  for (int32_t outer = loc.inlined_at; outer >= 0;) {
    const SourceLoc& place = code.function->locs[size_t(outer)];
    one.inlined_at.push_back({file(place), place.line});
    outer = place.inlined_at;
  }
}

void place(InstructionProfile& one, const Entry& entry, const Code& code, const Calls& calls) {
  one.mnemonic = entry.source->mnemonic;
  one.ptx_line = entry.source->line;
  one.touch = entry.as_written;
  one.width = entry.width;
  one.unclear = entry.unclear;
  one.waits = entry.waits;
  one.tensor = entry.tensor;
  one.unit = entry.match ? entry.match->row->unit : Unit::control;
  if (entry.merged_into) one.merged_into = entry.merged_into->line;
  // Functions of the mathematical library have no lines of their own: the call's line stands for
  // them.
  constexpr int kDeepest = 8;  // calls that are followed; they may go in circles
  const Code* where = &code;
  int32_t loc = entry.source->loc;
  for (int depth = 0; loc < 0 && depth < kDeepest; ++depth) {
    const auto call = calls.find(where->function);
    if (call == calls.end()) return;
    if (one.function.empty()) one.function = where->function->name;
    where = call->second.code;
    loc = call->second.instruction->loc;
  }
  if (loc >= 0) find_source(one, loc, *where);
}

}  // namespace

void Profiler::end(const GridRun& grid) {
  std::unique_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    run = std::move(runs_.at(&grid));
    runs_.erase(&grid);
  }
  LaunchProfile launch;
  launch.kernel = grid.launch->kernel->info.name;
  if (grid.launch->notes) launch.notes = *grid.launch->notes;
  launch.grid = grid.launch->grid;
  launch.block = grid.launch->block;
  launch.dynamic_shared = grid.launch->dynamic_shared;
  launch.usage = grid.launch->kernel->usage;
  keep_ptx(*grid.code->program);
  for (const auto& [variable, at] : grid.code->shared_offsets)
    if (variable->size) launch.arrays.push_back({variable->name, at, uint32_t(variable->size)});
  if (launch.dynamic_shared)
    launch.arrays.push_back({"", grid.code->dynamic_shared_offset, launch.dynamic_shared});
  std::ranges::sort(launch.arrays, {}, &SharedArray::at);
  launch.blocks = grid.launch->grid.count();
  launch.blocks_run =
      run->sample ? std::min(run->sample->blocks(), grid.done.load()) : grid.done.load();
  launch.faulted = bool(grid.fault);
  launch.not_sampled = run->not_sampled;
  if (run->sample) launch.sampling_error = run->sample->error();
  struct Sum {
    Counters counters;
    Split split;
    Worst worst;
    std::vector<const Seen*> seen_global, seen_shared;
    uint64_t lowest = ~0ull, end = 0;
  };
  std::map<const Code*, std::vector<Sum>> sums;  // by entry
  for (const auto& worker : run->workers)
    for (const auto& [code, tally] : worker) {
      std::vector<Sum>& sum = sums[code];
      sum.resize(tally.entries.size());
      for (size_t k = 0; k < tally.entries.size(); ++k) {
        sum[k].counters += tally.entries[k];
        sum[k].split.meet(tally.splits[k]);
      }
      for (size_t k = 0; k < tally.memory.size(); ++k) {
        const Memory& memory = tally.memory[k];
        Sum& of_entry = sum[tally.plan->touches[k].entry];
        of_entry.worst.meet(memory.worst);
        if (memory.seen_global) of_entry.seen_global.push_back(memory.seen_global.get());
        if (memory.seen_shared) of_entry.seen_shared.push_back(memory.seen_shared.get());
        of_entry.lowest = std::min(of_entry.lowest, memory.lowest);
        of_entry.end = std::max(of_entry.end, memory.end);
      }
      for (size_t i = 0; i < tally.executed.size(); ++i) {
        const Step& step = tally.plan->steps[i];
        if (!step.counts) continue;
        const uint64_t each = step.counts / step.entries;
        for (uint32_t k = 0; k < step.entries; ++k) {
          sum[step.entry + k].counters.warps += each * tally.executed[i].warps;
          sum[step.entry + k].counters.threads += each * tally.executed[i].threads;
        }
      }
    }
  std::map<const Code*, std::shared_ptr<const Plan>> plans;
  Calls calls;
  for (const auto& [code, sum] : sums) {
    const std::lock_guard lock(mutex_);
    const auto plan = plans[code] = this->plan(*code, grid);
    for (size_t k = 0; k < sum.size(); ++k)
      note_call(calls, *code, *plan->entries[k].source, sum[k].counters.warps);
  }
  for (const auto& [code, sum] : sums) {
    const std::shared_ptr<const Plan> plan = plans[code];
    const size_t begin = launch.instructions.size();
    std::unordered_map<const Instruction*, uint64_t> branches;
    for (size_t k = 0; k < sum.size(); ++k)
      branches[plan->entries[k].source] = sum[k].counters.branches;
    for (size_t k = 0; k < sum.size(); ++k) {
      InstructionProfile one;
      place(one, plan->entries[k], *code, calls);
      one.counters = sum[k].counters;
      one.split = sum[k].split;
      one.worst = sum[k].worst;
      one.seen_global = sum[k].seen_global;
      one.seen_shared = sum[k].seen_shared;
      one.lowest = sum[k].lowest;
      one.end = sum[k].end;
      add_run_counts(one.counters, plan->entries[k]);
      if (plan->entries[k].has_fillers) one.counters.fillers = kFillers * one.counters.warps;
      const Instruction* const branch = plan->entries[k].passed_by;
      if (one.touch.reach != Reach::none && one.width && !one.merged_into) {
        const uint64_t passed = branch ? branches[branch] : one.counters.warps;
        const uint64_t made = std::max(
            {one.counters.requests, one.counters.shared_requests, one.counters.peer_requests});
        one.counters.switched_off = std::max(passed, made) - made;
      }
      const bool ran = one.counters.warps || one.counters.requests ||
                       one.counters.shared_requests || one.counters.peer_requests;
      if (!ran && !one.counters.switched_off) continue;
      launch.instructions.push_back(std::move(one));
    }
    std::stable_sort(launch.instructions.begin() + long(begin), launch.instructions.end(),
                     [](const auto& a, const auto& b) { return a.ptx_line < b.ptx_line; });
  }
  const std::lock_guard lock(mutex_);
  const Disassembled& machine = disassembler_.of(*grid.code, *grid.gpu);
  launch.machine_code = machine.code.has_value();
  launch.no_machine_code = machine.why_not;
  launch.ptxas_said = machine.ptxas_said;
  write_json(out_, launch);
  std::fflush(out_);  // whatever becomes of the program
}

void Profiler::finish() {
  const std::lock_guard lock(mutex_);
  std::fflush(out_);
}

}  // namespace ridge::vm::observe
