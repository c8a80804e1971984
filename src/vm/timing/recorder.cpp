#include "vm/timing/recorder.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/occupancy.h"
#include "model/launch.h"
#include "vm/exec/grid.h"
#include "vm/timing/async.h"
#include "vm/timing/l2_trace.h"
#include "vm/timing/lines.h"
#include "vm/timing/loops.h"
#include "vm/timing/notes.h"
#include "vm/timing/ops.h"
#include "vm/timing/spins.h"
#include "vm/timing/waves.h"

namespace ridge::vm::timing {
namespace {

constexpr size_t kMostWords = 8u << 20;       // of all streams
constexpr size_t kMostAtomicWords = 1 << 16;  // of one block
constexpr double kMostSampled = 15e6;  // machine instructions of blocks that nobody has to run
constexpr uint32_t kLeastProgress = 4;
constexpr double kLittleTouched = 0.05;  // bytes of different lines per machine instruction

// Lanes of an atomic that reach the memory: ptxas may have one do the work of all.
uint32_t lanes_of(const observe::Touch& touch, uint32_t mask) {
  using Lanes = observe::MachineAtomic::Lanes;
  const bool one =
      touch.atomic.lanes == Lanes::one || (touch.atomic.lanes == Lanes::one_of_all && mask == ~0u);
  return one ? 1 : uint32_t(std::popcount(mask));
}

float issues_of(const model::Work& work, const model::Step& step) {
  float sum = 0;
  for (uint32_t k = step.op; k < step.op + step.ops; ++k) sum += work.ops[k].issues;
  return sum;
}

bool reads_constants(const model::Work& work, const model::Step& step) {
  return step.ops == 1 && work.ops[step.op].kind == model::Op::Kind::constant;
}

// Different words that the lanes of a load ask for.
uint32_t words_of(const Warp& w, const Inst* inst) {
  std::array<uint64_t, kWarpSize> words;
  uint32_t count = 0;
  const uint64_t* from = w.src<uint64_t>(inst->a);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const uint64_t at = from[std::countr_zero(left)] + uint64_t(int64_t(int32_t(inst->b)));
    if (std::find(words.begin(), words.begin() + count, at / 4) == words.begin() + count)
      words[count++] = at / 4;
  }
  return count;
}

}  // namespace

struct Recorder::Function {
  std::shared_ptr<const observe::Plan> plan;
  Loops loops;
  const Inst* first = nullptr;
  uint32_t first_step = 0;
  std::vector<uint8_t> for_l2;  // by instruction: whether it may go to the second cache
  // By branch that the machine has not: the instructions that it goes through instead, switched
  // off.
  std::unordered_map<uint32_t, std::vector<uint32_t>> bodies;
  Spins spins;

  void find_bodies();
  void find_for_l2();
};

void Recorder::Function::find_for_l2() {
  using observe::Touch;
  for (const observe::Step& step : plan->steps) {
    bool found = false;
    for (uint32_t k = step.touch; k < step.touch + step.touches; ++k) {
      const Touch& touch = plan->touches[k];
      found |= touch.kind != Touch::Kind::lanes || touch.generic ||
               touch.reach != observe::Reach::shared;
    }
    for_l2.push_back(step.kind == observe::Step::Kind::touches && found);
  }
}

void Recorder::Function::find_bodies() {
  std::unordered_map<const Instruction*, std::vector<uint32_t>> by_branch;
  const auto each_entry = [&](auto use) {
    for (uint32_t i = 0; i < plan->steps.size(); ++i)
      for (uint32_t k = 0; k < plan->steps[i].entries; ++k)
        use(i, plan->entries[plan->steps[i].entry + k]);
  };
  each_entry([&](uint32_t step, const observe::Entry& entry) {
    if (!entry.passed_by) return;
    std::vector<uint32_t>& body = by_branch[entry.passed_by];
    if (body.empty() || body.back() != step) body.push_back(step);
  });
  each_entry([&](uint32_t step, const observe::Entry& entry) {
    if (const auto found = by_branch.find(entry.source); found != by_branch.end())
      bodies[step] = found->second;
  });
}

namespace {

// What takes many machine instructions has a branch for the rare cases: ptxas keeps the other one.
bool is_long(const model::Work& work, uint32_t first_step, const std::vector<uint32_t>& body) {
  constexpr float kMost = 4;
  return std::ranges::any_of(
      body, [&](uint32_t step) { return issues_of(work, work.steps[first_step + step]) > kMost; });
}

// A block that runs, and each of its warps.
struct PerBlock {
  uint64_t block = ~0ull;
  uint64_t order = 0;                      // its place in the launch
  model::Work::Block* followed = nullptr;  // the same, if it is one of those
  std::array<Foreseen, 32> loops = {};
  std::array<double, 32> executed = {};          // instructions
  std::array<Recorder::Branch, 32> branch = {};  // that it came to last
  std::array<uint32_t, 32> progress = {};        // its accesses
  struct Spin {
    uint32_t step = ~0u;  // that asks whether a wait is over
    uint16_t loop = Spins::kNone;
    size_t words = 0;  // of the stream before it was asked
  };
  std::array<Spin, 32> spin = {};
  L2Asked asked = {};

  // Of the warps that have not ended.
  uint32_t least_progress(const Block& of) const {
    uint32_t least = ~0u;
    for (const Warp& w : of.warps)
      if (!w.fragments.empty()) least = std::min(least, progress[w.index]);
    return least;
  }
};

struct PerWorker {
  std::vector<std::unique_ptr<PerBlock>> blocks;  // that run: few, the current one first
  uint64_t counted = ~0ull;                       // the block that runs
  double issued = 0;
  // The block has ended before it was done: so much is left, for what it has done; -1: nobody
  // knows.
  double left = 0;

  PerBlock* find(uint64_t block) {
    for (auto& one : blocks)
      if (one->block == block) {
        std::swap(one, blocks.front());
        return blocks.front().get();
      }
    return nullptr;
  }
  PerBlock& add(uint64_t block) {
    blocks.push_back(std::make_unique<PerBlock>());
    std::swap(blocks.back(), blocks.front());
    blocks.front()->block = block;
    return *blocks.front();
  }
};

}  // namespace

// What one worker keeps of a function.
struct Recorder::Tally {
  Run* run = nullptr;
  PerWorker* worker = nullptr;
  const Function* function = nullptr;
  std::vector<uint8_t> nothing;  // to be told
  std::vector<Watch::Executed> executed;
  std::vector<float> issues;            // of each instruction
  std::vector<observe::Memory> memory;  // by touch
};

struct Recorder::Run {
  model::Work work;
  model::Figures figures = {};  // of the GPU that is modelled
  uint32_t per_sm = 1, sms = 1;
  std::mutex mutex;
  std::unordered_map<const Code*, Function> functions;
  std::vector<std::unordered_map<const Code*, Tally>> workers;
  std::vector<PerWorker> per_worker;
  std::unordered_map<uint64_t, size_t> block;  // its place in work.sm
  size_t most_words = 0;                       // of the stream of one warp
  std::string shape, scalars;                  // by which launches are known again
  std::optional<model::Prediction> as_before;  // no need to look at this one
  std::optional<Waves> waves;                  // if not all blocks have to run
  Dim3 grid, cluster;
  uint64_t origin = 0;    // where the device's memory begins
  bool in_order = false;  // blocks may find what others left, and run in their order
  bool waits = false;     // and may wait for it
  AsyncWork async;

  uint64_t wave() const { return uint64_t(per_sm) * sms; }
  const model::Work& finished();
  // Two waves of blocks stand for all, the first one and one in the middle. Those that one SM runs
  // are followed instruction by instruction.
  bool is_followed(uint64_t block) const {
    const uint64_t in = block / wave();
    if (work.cluster > 1 ? block % sms != 0 : block != block_of_sm(block / sms, sms, work.blocks))
      return false;
    return in == 0 || in == (waves ? waves->second() : middle());
  }
  uint64_t middle() const { return work.blocks / wave() / 2; }
  model::Work::Block* follow(const Warp& w);
  // The second cache sees all blocks from the first one on, until it has been filled a few times.
  L2Trace l2;
  double l2_bytes = 0;
  uint64_t order_of(const Block& block) const;
  // What the worker keeps of a block that is followed, or whose accesses may matter.
  PerBlock& seen(PerWorker& worker, const Warp& w);
  void note(PerBlock& here, const L2Access& access) const;
  // Accesses of each warp after which blocks that nobody follows end; 0: not known yet.
  uint32_t most_progress = 0;
  void limit_progress();
  AsyncWork::Stream stream_of(const Block& block, uint32_t warp);
  // Those of the blocks that the worker runs.
  AsyncWork::FindStream streams(PerWorker& worker) {
    return [&](const Block& block, uint32_t warp) {
      AsyncWork::Stream stream = stream_of(block, warp);
      PerBlock* const here = worker.find(block.index);
      if (here && here->spin[warp].loop != Spins::kNone) stream.asks_at = &here->spin[warp].words;
      return stream;
    };
  }
  void add_bulk(PerBlock& here, const observe::Touch& touch, const Warp& w, const Inst* inst,
                uint32_t op);
  void block_begins(PerWorker& worker, std::unordered_map<const Code*, Tally>& tallies,
                    uint64_t block);
};

// Where to write down what a warp's block does, if that is wanted.
model::Work::Block* Recorder::Run::follow(const Warp& w) {
  if (!is_followed(w.block->index)) return nullptr;
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = block.try_emplace(w.block->index, work.sm.size());
  if (is_new) work.sm.emplace_back().warps.resize(w.block->warps.size());
  return &work.sm[known->second];
}

AsyncWork::Stream Recorder::Run::stream_of(const Block& of, uint32_t warp) {
  if (!is_followed(of.index)) return {};
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = block.try_emplace(of.index, work.sm.size());
  if (is_new) work.sm.emplace_back().warps.resize(of.warps.size());
  model::Work::Block& found = work.sm[known->second];
  std::vector<uint32_t>& words = found.warps[warp];
  return words.size() < most_words ? AsyncWork::Stream{&found, &words} : AsyncWork::Stream{};
}

// What the copy engine moves.
void Recorder::Run::add_bulk(PerBlock& here, const observe::Touch& touch, const Warp& w,
                             const Inst* inst, uint32_t op) {
  const BulkLines lines = bulk_lines(touch, w, inst, origin);
  const bool writes = touch.bulk == Bulk::store;
  double stored = 0;  // sectors
  for (const auto& [line, sectors] : lines.at) {
    note(here, {line, uint32_t(here.order / wave()), here.progress[w.index], op, uint8_t(sectors),
                writes});
    stored += std::popcount(sectors);
  }
  if (writes) {
    here.asked.stored[op].sectors += stored;
    here.asked.stored[op].bytes += double(lines.bytes);
  }
  const AsyncWork::Stream stream = stream_of(*w.block, w.index);
  if (!stream) return;
  const auto bytes = uint32_t(lines.peer_bytes + lines.bytes);
  if (lines.peer_bytes) {
    stream.words->insert(stream.words->end(), {0, 1, bytes, 0});
    return;
  }
  stream.words->insert(stream.words->end(), {bytes, uint32_t(lines.at.size())});
  for (const auto& [line, sectors] : lines.at) {
    stream.words->push_back(uint32_t(line));
    stream.words->push_back(uint32_t(line >> 32 & 0xfff) | sectors << 28);
  }
}

// Adds up what the worker's block before has issued.
void Recorder::Run::block_begins(PerWorker& worker, std::unordered_map<const Code*, Tally>& tallies,
                                 uint64_t block) {
  double issued = 0;
  for (auto& [code, tally] : tallies)
    for (size_t i = 0; i < tally.executed.size(); ++i)
      if (tally.executed[i].warps) {
        issued += double(tally.executed[i].warps) * double(tally.issues[i]);
        tally.executed[i] = {};
      }
  if (worker.counted < work.issued.size() && worker.left >= 0)
    work.issued[worker.counted] += float(issued * (1 + worker.left));
  worker.issued += issued;
  worker.left = 0;
  worker.counted = block;
}

// Blocks start in the order of their numbers, or cluster by cluster.
uint64_t Recorder::Run::order_of(const Block& block) const {
  if (cluster.count() == 1) return block.index;
  const uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  const uint64_t number =
      block.ctaid[0] / cluster.x +
      across * (block.ctaid[1] / cluster.y + down * (block.ctaid[2] / cluster.z));
  return number * cluster.count() + block.rank;
}

PerBlock& Recorder::Run::seen(PerWorker& worker, const Warp& w) {
  if (PerBlock* const known = worker.find(w.block->index)) return *known;
  PerBlock& here = worker.add(w.block->index);
  here.order = order_of(*w.block);
  here.followed = follow(w);
  here.asked.is_followed = here.followed;
  return here;
}

void Recorder::Run::note(PerBlock& here, const L2Access& access) const {
  const bool is_first = here.followed && access.wave == 0;
  if ((is_first || l2.wants(here.order)) && model::is_sampled(access.line))
    here.asked.some.push_back(access);
  if (is_first && here.asked.all.size() < l2.most_followed()) here.asked.all.push_back(access);
}

// The work, once all blocks have run.
const model::Work& Recorder::Run::finished() {
  l2.answer(work);
  for (size_t i = 0; i < workers.size(); ++i) block_begins(per_worker[i], workers[i], ~0ull);
  std::vector<std::pair<uint64_t, size_t>> order(block.begin(), block.end());
  std::ranges::sort(order);
  std::vector<model::Work::Block> in_order;
  double of_first = 0, of_second = 0, first = 0, second = 0;
  for (const auto& [number, at] : order) {
    const bool is_first = number < wave();
    (is_first ? of_first : of_second) += double(work.issued[number]);
    (is_first ? first : second) += 1;
  }
  // Where blocks differ, those of the first wave do not stand for all.
  const double ratio = second > 0 ? of_first / first / std::max(1.0, of_second / second) : 1;
  for (const auto& [number, at] : order) {
    if (number < wave() && (ratio < 0.5 || ratio > 2)) continue;
    in_order.push_back(std::move(work.sm[at]));
    in_order.back().issued = work.issued[number];
  }
  work.sm = std::move(in_order);
  model::find_common_lines(work);
  if (waves) waves->fill_gaps(work.issued);
  return work;
}

Recorder::Recorder(Told told, Options options) : told_(std::move(told)), options_(options) {}
Recorder::~Recorder() = default;

Recorder::Run& Recorder::run_of(const GridRun& grid) {
  thread_local struct {
    uint64_t grid = 0;
    Run* run = nullptr;
  } last;
  if (last.grid == grid.id) return *last.run;
  const std::lock_guard lock(mutex_);
  auto& run = runs_[&grid];
  if (!run) {
    run = std::make_unique<Run>();
    const Launch& launch = *grid.launch;
    model::Work& t = run->work;
    t.kernel = kernel_name(grid);
    t.blocks = launch.grid.count();
    t.block_threads = uint32_t(launch.block.count());
    t.cluster = uint32_t(launch.cluster.count());
    t.registers_per_thread = launch.kernel->usage.registers;
    t.shared_bytes = grid.code->static_shared;
    if (launch.dynamic_shared)
      t.shared_bytes = grid.code->dynamic_shared_offset + launch.dynamic_shared;
    run->sms = uint32_t(grid.gpu->sm_count);
    run->figures = model::figures_of(*grid.gpu);
    run->l2_bytes = run->figures.l2_bytes;
    run->origin = grid.engine->memory().origin();
    run->grid = launch.grid;
    run->cluster = launch.cluster;
    run->per_sm = uint32_t(
        std::max(1, occupancy(*grid.gpu, {.block_threads = int(t.block_threads),
                                          .registers_per_thread = int(t.registers_per_thread),
                                          .shared_bytes = t.shared_bytes})
                        .blocks_per_sm));
    run->shape = t.kernel + ' ' + std::to_string(t.blocks) + ' ' + std::to_string(t.block_threads) +
                 ' ' + std::to_string(t.shared_bytes);
    run->scalars = scalars_of(grid);
    run->as_before = known_.find(run->shape, run->scalars);
    if (!run->as_before) {
      t.issued.resize(t.blocks);
      for (const auto& [function, code] : grid.code->functions) {
        const observe::Plan plan = observe::plan_of(*code);
        run->waits |= may_wait(*code, plan);
        run->in_order |= asks_others(plan);
      }
    }
    const uint64_t on_sm = (t.blocks + run->sms - 1) / run->sms;  // blocks
    const uint64_t followed = std::min<uint64_t>(2ull * run->per_sm, on_sm);
    run->most_words = kMostWords / (followed * (t.block_threads / kWarpSize + 1));
    t.sm.reserve(2 * run->per_sm + 2);  // so that they stay where they are
    run->l2.begin(t.blocks, run->wave(), run->per_sm, run->l2_bytes);
  }
  last = {grid.id, run.get()};
  return *run;
}

// Asked for before `begin`, and again when the blocks chosen before have run.
std::vector<uint64_t> Recorder::choose(const GridRun& grid) {
  if (!options_.sampled || grid.launch->cooperative) return {};
  Run& run = run_of(grid);
  if (run.as_before) return {};  // nobody watches: all blocks run as fast as they can
  if (!run.waves) {
    // Of clusters the first waves run, as of kernels whose blocks wait for each other.
    const uint64_t size = grid.cluster_size;
    run.waves.emplace(run.work.blocks / size, std::max<uint64_t>(1, run.wave() / size), run.sms,
                      run.waits || size > 1);
  }
  double issued = 0;
  for (size_t i = 0; i < run.per_worker.size(); ++i) {
    run.block_begins(run.per_worker[i], run.workers[i], ~0ull);  // adds up the one before
    issued += run.per_worker[i].issued;
  }
  if (!run.most_progress && run.waves->is_following()) run.limit_progress();
  auto next = run.waves->next(run.l2.has_enough() || issued > kMostSampled, run.work.issued);
  run.l2.extend(run.waves->end() * run.work.cluster,
                run.most_progress ? run.most_progress : L2Trace::kAnyProgress);
  return next;
}

// The blocks that were followed have run. The others need not come further than it takes to fill
// the second cache, all of them together.
void Recorder::Run::limit_progress() {
  const double bytes = l2.followed_bytes();
  // Who computes much and touches little need not run for the second cache's sake.
  double issued = 0;
  for (const PerWorker& worker : per_worker) issued += worker.issued;
  if (bytes < kLittleTouched * issued) l2.stop();
  const double of_wave = bytes / double(std::max<size_t>(1, work.sm.size())) *
                         double(std::min<uint64_t>(wave(), work.blocks));
  const double part = std::min(1.0, 1.2 * L2Trace::kFills * l2_bytes / std::max(1.0, of_wave));
  most_progress = std::max<uint32_t>(kLeastProgress, uint32_t(part * l2.furthest()) + 1);
}

// Whether a block has done what the model needs of it.
bool Recorder::has_enough(const Block& block) {
  Run& run = run_of(*block.grid);
  if (!run.waves || run.waves->runs_all()) return false;
  PerWorker& worker = run.per_worker[block.warps.front().worker->index];
  if (worker.counted != block.index) return false;
  const PerBlock* const here = worker.find(block.index);
  if (!run.waves->is_whole(block.index)) {
    worker.left = -1;
    return !run.l2.wants(run.order_of(block)) ||
           (here && here->least_progress(block) >= run.most_progress);
  }
  if (!here || !here->followed) return false;
  double left = 0, done = 0;
  for (const Warp& w : block.warps) {
    double of_warp = 0;
    done += here->executed[w.index];
    if (!w.fragments.empty() && (here->followed->warps[w.index].size() < run.most_words ||
                                 !here->loops[w.index].knows(of_warp)))
      return false;
    left += of_warp;
  }
  here->followed->cut += left;
  worker.left = left / std::max(1.0, done);
  return true;
}

bool Recorder::wants_order(const GridRun& grid) { return run_of(grid).in_order; }

bool Recorder::watches(const GridRun& grid) { return !run_of(grid).as_before; }

void Recorder::begin(const GridRun& grid, unsigned workers) {
  Run& run = run_of(grid);
  if (grid.chosen.empty()) {  // all blocks run
    run.waves.reset();
    run.l2.extend(L2Trace::kAllBlocks, L2Trace::kAnyProgress);
  }
  run.workers.resize(workers);
  run.per_worker.resize(workers);
  if (run.as_before) return;
  for (const auto& [function, code] : grid.code->functions) {
    Function& f = run.functions[code.get()];
    f.plan = std::make_shared<const observe::Plan>(observe::plan_of(*code));
    f.first = code->insts.data();
    f.first_step = uint32_t(run.work.steps.size());
    append_steps(run.work, *code, *f.plan, run.figures);
    f.spins = spins_of(*code, *f.plan);
    add_notes(run.work, *code, f.spins);
    f.find_bodies();
    if (options_.sampled) f.loops = Loops(*code, *f.plan);
    f.find_for_l2();
    std::erase_if(f.bodies,
                  [&](const auto& one) { return is_long(run.work, f.first_step, one.second); });
  }
  run.async.begin(run.work);
  for (size_t i = 0; i < workers; ++i)
    for (const auto& [code, function] : run.functions) {
      Tally& tally = run.workers[i][code];
      tally.run = &run;
      tally.worker = &run.per_worker[i];
      tally.function = &function;
      tally.nothing.resize(code->insts.size());
      tally.memory.resize(function.plan->touches.size());
      tally.executed.resize(code->insts.size());
      for (size_t k = 0; k < code->insts.size(); ++k)
        tally.issues.push_back(function.spins.at[k].loop == Spins::kNone
                                   ? issues_of(run.work, run.work.steps[function.first_step + k])
                                   : 0);  // how often it is asked says nothing
    }
}

Recorder::Tally& Recorder::tally(const Warp& w) {
  thread_local struct {
    uint64_t grid = 0;
    const Code* code = nullptr;
    Tally* tally = nullptr;
  } last;
  const GridRun& grid = *w.worker->grid;
  if (last.grid == grid.id && last.code == w.frame->code) return *last.tally;
  // A function that was reached through a pointer has no plan, and is not followed.
  Tally& found = run_of(grid).workers[w.worker->index][w.frame->code];
  if (!found.function) found.nothing.resize(w.frame->code->insts.size());
  last = {grid.id, w.frame->code, &found};
  return found;
}

Observer::Watch Recorder::watch(const Warp& w) {
  Run& run = run_of(*w.worker->grid);
  Tally& tally = this->tally(w);
  const uint64_t block = w.block->index;
  if (!tally.function || run.as_before) return {nullptr, tally.nothing.data()};
  if (tally.worker->counted != block)
    run.block_begins(*tally.worker, run.workers[w.worker->index], block);
  Watch::Executed* const executed = tally.executed.data();
  if (run.is_followed(block)) return {executed, nullptr};
  const bool may_matter = run.l2.wants(run.order_of(*w.block));
  return {executed, may_matter ? tally.function->for_l2.data() : tally.nothing.data()};
}

// A warp that jumped over a body as a whole has issued it, switched off.
void Recorder::pass_by(std::vector<uint32_t>& stream, Branch& before, const Function& function,
                       const Warp& w, uint32_t step) {
  if (before.body && before.body->front() != step && before.lanes == w.mask)
    for (const uint32_t passed : *before.body)
      if (passed < step) stream.push_back((function.first_step + passed) | model::kSwitchedOff);
  const auto found = function.bodies.find(step);
  before = found == function.bodies.end() ? Branch{} : Branch{&found->second, w.mask};
}

// Which barrier, how the warp comes there, and for how many threads it is.
void Recorder::add_barrier(std::vector<uint32_t>& stream, const observe::Plan& plan,
                           const observe::Step& step, const Warp& w, const Inst* inst) {
  const Facts& facts = plan.entries[step.entry].match->facts();
  const auto lane = size_t(std::countr_zero(w.mask));
  const uint32_t sources = wide(inst).flags & 3, waits = facts.sync != Sync::block_arrive;
  const uint32_t id = w.src<uint32_t>(inst->a)[lane] & 15;
  const uint32_t threads = sources > 1 ? w.src<uint32_t>(inst->b)[lane] : w.block->threads;
  stream.insert(stream.end(), {id << 1 | waits, 1, threads, 0});
}

void Recorder::before(const Warp& w, const Inst* inst) {
  Tally& tally = this->tally(w);
  Run& run = *tally.run;
  const Function& f = *tally.function;
  const observe::Step& from = f.plan->steps[size_t(inst - f.first)];
  const uint32_t number = f.first_step + uint32_t(inst - f.first);
  const model::Step& step = run.work.steps[number];
  PerWorker& worker = *tally.worker;
  PerBlock& here = run.seen(worker, w);
  const Spins::At spins = f.spins.at[size_t(inst - f.first)];
  PerBlock::Spin& spin = here.spin[w.index];
  const bool again = spins.asks && spin.step == number && spin.loop == spins.loop;
  if (spin.loop != spins.loop) spin = {};
  std::vector<uint32_t>* stream = nullptr;
  if (here.followed) {
    model::Work::Block& block = *here.followed;
    stream = &block.warps[w.index];
    if (stream->size() >= run.most_words) stream = nullptr;
    ++(stream ? block.followed : block.cut);
    if (const Loops::End* end = f.loops.at(uint32_t(inst - f.first)))
      here.loops[w.index].note(*end, w, inst, here.executed[w.index]);
    here.executed[w.index] += 1;
    if (stream) pass_by(*stream, here.branch[w.index], f, w, uint32_t(inst - f.first));
    if (stream && again) stream->resize(std::min(stream->size(), spin.words));
    if (stream && spins.asks && !again) spin = {number, spins.loop, stream->size()};
    // A wait is written down when it is over.
    const model::Op::Kind kind =
        step.ops ? run.work.ops[step.op].kind : model::Op::Kind::arithmetic;
    if (stream && step.ops && kind != model::Op::Kind::wait_phase) stream->push_back(number);
    if (stream && kind == model::Op::Kind::named_barrier)
      add_barrier(*stream, *f.plan, from, w, inst);
    if (stream && reads_constants(run.work, step))
      stream->insert(stream->end(), {words_of(w, inst), 0});
  }
  if (step.ops && run.work.ops[step.op].kind == model::Op::Kind::signal)
    run.async.arrive(w, inst, f.plan->entries[from.entry].match->form.space == Space::generic,
                     run.streams(worker));
  if (from.kind != observe::Step::Kind::touches || (again && !stream)) return;
  here.progress[w.index] += f.for_l2[size_t(inst - f.first)];
  here.asked.furthest = std::max(here.asked.furthest, here.progress[w.index]);
  for (uint32_t k = from.touch; k < from.touch + from.touches; ++k) {
    const observe::Touch& touch = f.plan->touches[k];
    if (is_bulk(touch)) {
      run.add_bulk(here, touch, w, inst, step.op + op_of(from, touch));
      continue;
    }
    Lines lines;
    lines.origin = run.origin;
    lines.wants_turns = stream;
    collect(lines, touch, w, inst);
    const uint32_t op = step.op + op_of(from, touch);
    using observe::Action;
    const bool writes = touch.action == Action::store || touch.action == Action::reduction ||
                        touch.action == Action::atomic;
    for (uint32_t i = 0; i < lines.count; ++i) {
      const auto [line, sectors] = lines.at[i];
      run.note(here, {line, uint32_t(here.order / run.wave()), here.progress[w.index], op,
                      uint8_t(sectors), writes});
    }
    if (touch.action == Action::store && lines.count) {
      auto& [bytes, sectors] = here.asked.stored[op];
      bytes += double(std::popcount(w.mask)) * touch.bytes;
      for (uint32_t i = 0; i < lines.count; ++i) sectors += std::popcount(lines.at[i].second);
    }
    const bool takes_turns = lines.count && writes && touch.action != Action::store;
    if (takes_turns && touch.kind == observe::Touch::Kind::lanes) {
      auto& words = here.asked.words[op];
      const uint64_t* from_address = w.src<uint64_t>(inst->a);
      for (uint32_t left = w.mask; left && words.size() < kMostAtomicWords; left &= left - 1)
        words.insert(
            (from_address[size_t(std::countr_zero(left))] + uint64_t(int64_t(int32_t(inst->b)))) /
            4);
    }
    if (!stream) continue;
    observe::Counters counters;
    observe::count_touch(counters, tally.memory[k], touch, w, inst);
    const auto wavefronts = uint32_t(counters.wavefronts);
    if (counters.peer_bytes) {
      // Each lane of an atomic goes by itself, and is answered.
      constexpr uint32_t kBothWays = 64;
      const bool by_lanes = touch.action == Action::reduction || touch.action == Action::atomic;
      const auto bytes = uint32_t(counters.peer_bytes);  // 8 per lane of an atomic
      stream->insert(stream->end(), {wavefronts, 1, by_lanes ? bytes / 8 * kBothWays : bytes, 0});
      continue;
    }
    stream->push_back(takes_turns ? lanes_of(touch, w.mask) : std::max(lines.turns, wavefronts));
    stream->push_back(lines.count);
    for (uint32_t i = 0; i < lines.count; ++i) {
      stream->push_back(uint32_t(lines.at[i].first));
      stream->push_back(uint32_t(lines.at[i].first >> 32 & 0xfff) | lines.at[i].second << 28);
    }
  }
}

void Recorder::block_ends(const Block& block) {
  Run& run = run_of(*block.grid);
  if (run.as_before) return;
  PerWorker& worker = run.per_worker[block.warps.front().worker->index];
  PerBlock* const here = worker.find(block.index);
  run.l2.take(run.order_of(block), here ? std::move(here->asked) : L2Asked{});
  if (!here) return;
  std::swap(worker.blocks.front(), worker.blocks.back());
  worker.blocks.pop_back();
}

void Recorder::end(const GridRun& grid) {
  std::unique_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    run = std::move(runs_.at(&grid));
    runs_.erase(&grid);
  }
  const model::Prediction time =
      run->as_before ? *run->as_before
                     : model::predict(run->finished(), run->figures, int(run->per_sm));
  const std::lock_guard lock(mutex_);
  if (!run->as_before) known_.add(run->shape, run->scalars, time);
  told_({run->work.kernel, grid.launch->grid, grid.launch->block, time});
}

void Recorder::copy_starts(const Warp& w, const AsyncEntry& entry) {
  Run& run = run_of(*w.worker->grid);
  if (!run.as_before) run.async.started(w, entry, run.streams(run.per_worker[w.worker->index]));
}

void Recorder::phase_completes(const Block& block, uint32_t offset) {
  Run& run = run_of(*block.grid);
  if (!run.as_before && run.is_followed(block.index)) run.async.completes(block, offset);
}

void Recorder::phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                           uint32_t over) {
  Run& run = run_of(*w.worker->grid);
  if (run.as_before || over != w.mask) return;
  const AsyncWork::Stream stream = run.stream_of(*w.block, w.index);
  const Tally& tally = this->tally(w);
  if (!stream || !tally.function) return;
  stream.words->push_back(tally.function->first_step + uint32_t(inst - tally.function->first));
  run.async.waited(w, barriers, stream);
}

}  // namespace ridge::vm::timing
