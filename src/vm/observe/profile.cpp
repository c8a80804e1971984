#include "vm/observe/profile.h"

#include <algorithm>
#include <bit>

#include "vm/exec/grid.h"
#include "vm/isa/memory.h"
#include "vm/observe/access.h"
#include "vm/observe/json.h"
#include "vm/observe/keep_ptx.h"

namespace ridge::vm::observe {
namespace {

constexpr uint32_t kWidest = 16;  // bytes a lane that one machine instruction moves

Site site_of(const InstMeta& meta) {
  Site site;
  if (!meta.match || !meta.counts) return site;
  const InstrDef& row = *meta.match->row;
  const Form& form = meta.match->form;
  // Copies and matrices have addresses of their own kind.
  const bool plain = row.spelling.starts_with("ld") || row.spelling.starts_with("st") ||
                     row.spelling.starts_with("atom") || row.spelling.starts_with("red");
  if (!plain || row.unit != Unit::memory || !(row.touches & (kReads | kWrites | kAtomic)))
    return site;
  switch (form.space()) {
    case Space::global: site.reach = Reach::global; break;
    case Space::shared: site.reach = Reach::shared; break;
    case Space::local: site.reach = Reach::local; break;
    case Space::generic:
      site.reach = Reach::global;
      site.generic = true;
      break;
    default: return site;  // constants and parameters
  }
  site.action = row.spelling.starts_with("red")    ? Action::reduction
                : row.spelling.starts_with("atom") ? Action::atomic
                : row.touches & kWrites            ? Action::store
                                                   : Action::load;
  // A merged run of words is as many bytes; ptxas merges as far as 16.
  const int words = meta.merged >= 0 ? int(meta.counts) : form.vector();
  site.bytes = uint8_t(size_of(form.type()) * words);
  return site;
}

void count_shared(Counters& c, Access access) {
  const uint32_t bytes = access.bytes;
  access.bytes = std::min(bytes, kWidest);
  for (uint32_t done = 0; done < bytes; done += kWidest) {
    const SharedCost cost = shared_cost(access);
    ++c.shared_requests;
    c.wavefronts += cost.wavefronts;
    c.ideal_wavefronts += cost.ideal;
    for (uint64_t& address : access.address) address += kWidest;
  }
}

void count_global(Counters& c, const Access& access, Action action) {
  ++c.requests;
  const GlobalCost cost = global_cost(access);
  c.lines += cost.lines;
  c.bytes_used += cost.bytes_used;
  c.sectors += action == Action::reduction || action == Action::atomic ? atomic_sectors(access)
                                                                       : cost.sectors;
}

void count_access(Counters& c, const Site& site, const Warp& w, const Inst* inst) {
  Access access;
  access.bytes = site.bytes;
  const auto offset = int64_t(int32_t(inst->b));
  if (site.reach == Reach::shared || site.reach == Reach::local) {
    const uint32_t* base = w.src<uint32_t>(inst->a);
    for (int i = 0; i < kWarpSize; ++i) access.address[size_t(i)] = uint64_t(base[i] + offset);
    access.mask = w.mask;
    if (site.reach == Reach::shared) return count_shared(c, access);
    // Neighbouring lanes' words of local memory lie side by side.
    for (int i = 0; i < kWarpSize; ++i)
      access.address[size_t(i)] = access.address[size_t(i)] * kWarpSize + uint64_t(i) * 4;
    access.bytes = std::min<uint32_t>(access.bytes, 4);
    return count_global(c, access, site.action);
  }
  const uint64_t* base = w.src<uint64_t>(inst->a);
  uint32_t shared = 0, global = 0;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const auto i = size_t(std::countr_zero(left));
    access.address[i] = base[i] + uint64_t(offset);
    const uint64_t window = (access.address[i] - kSharedWindow) >> 32;
    if (!site.generic || window >= 3) global |= 1u << i;
    else if (window == 0) shared |= 1u << i;
  }
  if ((access.mask = global)) count_global(c, access, site.action);
  if ((access.mask = shared)) count_shared(c, access);
}

}  // namespace

Counters& Counters::operator+=(const Counters& o) {
  warps += o.warps, threads += o.threads;
  requests += o.requests, sectors += o.sectors, lines += o.lines, bytes_used += o.bytes_used;
  shared_requests += o.shared_requests, wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  return *this;
}

struct Profiler::CodeSites {
  std::vector<Site> sites;  // parallel to the code's instructions, as is:
  std::vector<Counters> counters;
};
struct Profiler::WorkerCounts {
  std::unordered_map<const Code*, CodeSites> codes;

  CodeSites& of(const Code& code) {
    CodeSites& c = codes[&code];
    if (c.sites.empty()) {
      c.counters.resize(code.insts.size());
      for (const InstMeta& meta : code.meta) c.sites.push_back(site_of(meta));
    }
    return c;
  }
};
struct Profiler::Run {
  std::vector<WorkerCounts> workers;
};

Profiler::Profiler(std::FILE* out) : out_(out) {}
Profiler::~Profiler() = default;

void Profiler::begin(const GridRun& grid, unsigned workers) {
  auto run = std::make_unique<Run>();
  run->workers.resize(workers);
  const std::lock_guard lock(mutex_);
  runs_[&grid] = std::move(run);
}

void Profiler::before(const Warp& w, const Inst* inst) {
  // What a thread looked up last; the launch's number tells a new one at the same place.
  thread_local struct {
    uint64_t grid = 0;
    const Code* code = nullptr;
    CodeSites* sites = nullptr;
  } last;
  const Code& code = *w.frame->code;
  const GridRun& grid = *w.worker->grid;
  if (last.grid != grid.id || last.code != &code) {
    const std::lock_guard lock(mutex_);
    last = {grid.id, &code, &runs_.at(&grid)->workers.at(w.worker->index).of(code)};
  }
  const auto index = size_t(inst - code.insts.data());
  Counters& c = last.sites->counters[index];
  const uint64_t counts = code.meta[index].counts;
  c.warps += counts;
  c.threads += counts * uint64_t(std::popcount(w.mask));
  if (const Site& site = last.sites->sites[index]; site.reach != Reach::none)
    count_access(c, site, w, inst);
}

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
  for (const auto& [function, code] : grid.code->functions) {
    for (size_t i = 0; i < code->insts.size(); ++i) {
      InstructionProfile one;
      for (WorkerCounts& worker : run->workers)
        if (const auto found = worker.codes.find(code.get()); found != worker.codes.end())
          one.counters += found->second.counters[i];
      const InstMeta& meta = code->meta[i];
      if (!one.counters.warps || !meta.source) continue;
      one.mnemonic = meta.source->mnemonic;
      one.ptx_line = meta.source->line;
      one.site = site_of(meta);
      one.unit = meta.match ? meta.match->row->unit : Unit::control;
      if (meta.source->loc >= 0) {
        const SourceLoc& loc = function->locs[size_t(meta.source->loc)];
        one.line = loc.line;
        if (loc.file < code->module->files.size()) one.file = code->module->files[loc.file];
      }
      launch.instructions.push_back(std::move(one));
    }
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
