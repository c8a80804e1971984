#include "vm/observe/profile.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "vm/exec/grid.h"
#include "vm/isa/internal.h"
#include "vm/observe/count.h"
#include "vm/observe/json.h"
#include "vm/observe/keep_ptx.h"

namespace ridge::vm::observe {

void Worst::meet(const Worst& other) {
  if (other.cost > cost) *this = other;
  else if (other.cost == cost) warps += other.warps;
}

Counters& Counters::operator+=(const Counters& o) {
  warps += o.warps, threads += o.threads;
  requests += o.requests, sectors += o.sectors, lines += o.lines, bytes_used += o.bytes_used;
  shared_requests += o.shared_requests, wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  branches += o.branches, divergent += o.divergent, barriers += o.barriers;
  if (o.worst.cost) worst.meet(o.worst);
  return *this;
}

struct Profiler::Tally {
  struct Executed {
    uint64_t warps = 0, threads = 0;
  };
  std::shared_ptr<const Plan> plan;
  const Inst* first = nullptr;
  std::vector<Executed> executed;  // by decoded instruction
  std::vector<Counters> entries;   // by the plan's
};
struct Profiler::Run {
  std::vector<std::unordered_map<const Code*, Tally>> workers;
};

Profiler::Profiler(std::FILE* out) : out_(out) {}
Profiler::~Profiler() = default;

void Profiler::begin(const GridRun& grid, unsigned workers) {
  auto run = std::make_unique<Run>();
  run->workers.resize(workers);
  const std::lock_guard lock(mutex_);
  runs_[&grid] = std::move(run);
}

std::shared_ptr<const Plan> Profiler::plan(const Code& code) {
  auto& known = plans_[{code.kernel->program->id, &code}];
  if (!known) known = std::make_shared<const Plan>(plan_of(code));
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
    found.plan = plan(code);
    found.first = code.insts.data();
    found.executed.resize(code.insts.size());
    found.entries.resize(found.plan->entries.size());
  }
  last = {grid.id, &code, &found};
  return found;
}

void Profiler::before(const Warp& w, const Inst* inst) {
  Tally& tally = this->tally(w);
  const auto index = size_t(inst - tally.first);
  Tally::Executed& executed = tally.executed[index];
  ++executed.warps;
  executed.threads += uint64_t(std::popcount(w.mask));
  const Step& step = tally.plan->steps[index];
  if (step.kind == Step::Kind::plain) return;
  Counters& c = tally.entries[step.entry];
  switch (step.kind) {
    case Step::Kind::touches:
      for (uint32_t k = step.touch; k < step.touch + step.touches; ++k) {
        const Touch& touch = tally.plan->touches[k];
        count_touch(tally.entries[touch.entry], touch, w, inst);
      }
      break;
    case Step::Kind::branch:
    case Step::Kind::leaves: {
      ++c.branches;
      if (inst->full == internal::kBranchTable.full) break;
      const uint32_t taken = w.pred(inst->d) & w.mask;
      c.divergent += taken && taken != w.mask;
      break;
    }
    case Step::Kind::always_branches: ++c.branches; break;
    case Step::Kind::barrier: ++c.barriers; break;
    case Step::Kind::plain: break;
  }
}

// Instructions that wait for lanes of their warp touch no memory that way, except for matrices,
// which are counted again.
void Profiler::put_off(const Warp& w, const Inst* inst) {
  Tally& tally = this->tally(w);
  Tally::Executed& executed = tally.executed[size_t(inst - tally.first)];
  --executed.warps;
  executed.threads -= uint64_t(std::popcount(w.mask));
}

namespace {

void place(InstructionProfile& one, const Entry& entry, const Code& code) {
  one.mnemonic = entry.source->mnemonic;
  one.ptx_line = entry.source->line;
  one.touch = entry.as_written;
  one.width = entry.width;
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
  keep_ptx(*grid.code->code->module);
  launch.blocks = grid.launch->grid.count();
  launch.blocks_run = grid.done;
  launch.faulted = bool(grid.fault);
  std::map<const Code*, std::vector<Counters>> sums;  // by entry
  for (const auto& worker : run->workers)
    for (const auto& [code, tally] : worker) {
      std::vector<Counters>& sum = sums[code];
      sum.resize(tally.entries.size());
      for (size_t k = 0; k < tally.entries.size(); ++k) sum[k] += tally.entries[k];
      for (size_t i = 0; i < tally.executed.size(); ++i) {
        const Step& step = tally.plan->steps[i];
        if (!step.counts) continue;
        const uint64_t each = step.counts / step.entries;
        for (uint32_t k = 0; k < step.entries; ++k) {
          sum[step.entry + k].warps += each * tally.executed[i].warps;
          sum[step.entry + k].threads += each * tally.executed[i].threads;
        }
      }
    }
  for (const auto& [code, sum] : sums) {
    std::shared_ptr<const Plan> plan;
    {
      const std::lock_guard lock(mutex_);
      plan = this->plan(*code);
    }
    const size_t begin = launch.instructions.size();
    for (size_t k = 0; k < sum.size(); ++k) {
      if (!sum[k].warps) continue;
      InstructionProfile one;
      place(one, plan->entries[k], *code);
      one.counters = sum[k];
      launch.instructions.push_back(std::move(one));
    }
    std::stable_sort(launch.instructions.begin() + long(begin), launch.instructions.end(),
                     [](const auto& a, const auto& b) { return a.ptx_line < b.ptx_line; });
  }
  const std::lock_guard lock(mutex_);
  ended_.push_back(std::move(launch));
}

void Profiler::finish() {
  const std::lock_guard lock(mutex_);
  write_json(out_, std::exchange(ended_, {}));
  std::fflush(out_);
}

}  // namespace ridge::vm::observe
