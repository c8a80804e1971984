#include "vm/observe/profile.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "vm/exec/grid.h"
#include "vm/isa/internal.h"
#include "vm/observe/count.h"
#include "vm/observe/json.h"
#include "vm/observe/keep_ptx.h"
#include "vm/observe/sample.h"

namespace ridge::vm::observe {

void Worst::meet(const Worst& other) {
  if (other.cost > cost) *this = other;
  else if (other.cost == cost) warps += other.warps;
}

Counters& Counters::operator+=(const Counters& o) {
  warps += o.warps, threads += o.threads;
  requests += o.requests, sectors += o.sectors, lines += o.lines, bytes_used += o.bytes_used;
  shared_requests += o.shared_requests, wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts, conflicts += o.conflicts;
  by_line += o.by_line, probes += o.probes;
  branches += o.branches, divergent += o.divergent, barriers += o.barriers;
  split.meet(o.split);
  return *this;
}

void Split::meet(const Split& other) {
  if (other.smaller > smaller) *this = other;
  else if (other.smaller == smaller) warps += other.warps;
}

struct Profiler::Tally {
  std::shared_ptr<const Plan> plan;
  const Inst* first = nullptr;
  std::vector<Watch::Executed> executed;  // by decoded instruction
  std::vector<Counters> entries;          // by the plan's
  std::vector<Memory> memory;             // by the plan's touches
};
struct Profiler::Run {
  std::string not_sampled;
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
  if (run) return run->sample ? run->sample->next(run->work()) : std::vector<uint64_t>();
  run = std::make_unique<Run>();
  std::string& why = run->not_sampled;
  if (grid.launch->cooperative) why = "it is a cooperative launch";
  for (const auto& [function, code] : grid.code->functions)
    if (why.empty()) why = plan(*code, grid)->communicates;
  if (why.empty()) return run->sample.emplace(blocks, sample_, seed_).next({});
  std::fprintf(stderr, "ridge: all %llu blocks of %s run, its blocks communicate: %s\n",
               static_cast<unsigned long long>(blocks), kernel_name(grid).c_str(), why.c_str());
  return {};
}

void Profiler::begin(const GridRun& grid, unsigned workers) {
  const std::lock_guard lock(mutex_);
  auto& run = runs_[&grid];
  if (!run) run = std::make_unique<Run>();
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
  Tally& found = runs_.at(&grid)->workers.at(w.worker->index)[&code];
  if (!found.plan) {
    found.plan = plan(code, grid);
    found.first = code.insts.data();
    found.executed.resize(code.insts.size());
    found.entries.resize(found.plan->entries.size());
    found.memory.resize(found.plan->touches.size());
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
        c.split.meet({1, smaller, w.mask, taken});
      }
      break;
    }
    case Step::Kind::always_branches: ++c.branches; break;
    case Step::Kind::barrier: ++c.barriers; break;
    case Step::Kind::plain: break;
  }
}

namespace {

void place(InstructionProfile& one, const Entry& entry, const Code& code) {
  one.mnemonic = entry.source->mnemonic;
  one.ptx_line = entry.source->line;
  one.touch = entry.as_written;
  one.width = entry.width;
  one.unclear = entry.unclear;
  one.unit = entry.match ? entry.match->row->unit : Unit::control;
  if (entry.merged_into) one.merged_into = entry.merged_into->line;
  if (entry.source->loc < 0) return;
  const SourceLoc& loc = code.function->locs[size_t(entry.source->loc)];
  one.line = loc.line;
  const auto file = [&](const SourceLoc& l) {
    return l.file < code.module->files.size() ? code.module->files[l.file] : std::string();
  };
  one.file = file(loc);
  for (int32_t at = loc.inlined_at; at >= 0; at = code.function->locs[size_t(at)].inlined_at) {
    const SourceLoc& outer = code.function->locs[size_t(at)];
    one.inlined_at.push_back({file(outer), outer.line});
  }
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
  launch.grid = grid.launch->grid;
  launch.block = grid.launch->block;
  launch.dynamic_shared = grid.launch->dynamic_shared;
  launch.usage = grid.launch->kernel->usage;
  keep_ptx(*grid.code->program);
  launch.blocks = grid.launch->grid.count();
  launch.blocks_run = grid.done;
  launch.faulted = bool(grid.fault);
  launch.not_sampled = run->not_sampled;
  if (run->sample) launch.sampling_error = run->sample->error();
  struct Sum {
    Counters counters;
    Worst worst;
  };
  std::map<const Code*, std::vector<Sum>> sums;  // by entry
  for (const auto& worker : run->workers)
    for (const auto& [code, tally] : worker) {
      std::vector<Sum>& sum = sums[code];
      sum.resize(tally.entries.size());
      for (size_t k = 0; k < tally.entries.size(); ++k) sum[k].counters += tally.entries[k];
      for (size_t k = 0; k < tally.memory.size(); ++k)
        sum[tally.plan->touches[k].entry].worst.meet(tally.memory[k].worst);
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
  for (const auto& [code, sum] : sums) {
    std::shared_ptr<const Plan> plan;
    {
      const std::lock_guard lock(mutex_);
      plan = this->plan(*code, grid);
    }
    const size_t begin = launch.instructions.size();
    std::unordered_map<const Instruction*, uint64_t> branches;
    for (size_t k = 0; k < sum.size(); ++k)
      branches[plan->entries[k].source] = sum[k].counters.branches;
    for (size_t k = 0; k < sum.size(); ++k) {
      InstructionProfile one;
      place(one, plan->entries[k], *code);
      one.counters = sum[k].counters;
      one.worst = sum[k].worst;
      if (plan->entries[k].has_fillers) one.fillers = kFillers * one.counters.warps;
      const Instruction* const branch = plan->entries[k].passed_by;
      if (one.touch.reach != Reach::none && one.width && !one.merged_into) {
        const uint64_t passed = branch ? branches[branch] : one.counters.warps;
        const uint64_t made = std::max(one.counters.requests, one.counters.shared_requests);
        one.switched_off = std::max(passed, made) - made;
      }
      const bool ran = one.counters.warps || one.counters.requests || one.counters.shared_requests;
      if (!ran && !one.switched_off) continue;
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
