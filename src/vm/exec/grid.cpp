// Blocks of a grid over CPU threads, in launch order. A worker takes a chunk of neighbouring blocks
// and runs them one after the other, each to its end; only when all warps of a block do nothing but
// spin does it start another beside it, so that blocks may wait for each other up to the number the
// GPU would keep resident.
#include "vm/exec/grid.h"

#include <algorithm>
#include <deque>
#include <new>
#include <thread>
#include <utility>

#include "vm/exec/block.h"

namespace ridge::vm {
namespace {

// How often a block is found spinning before its worker starts another. A cooperative launch
// promises residency, so its blocks make room at once; elsewhere spinning is usually on a block
// that another worker is about to finish.
constexpr int kPatience = 64;
constexpr uint64_t kWindow = 31;  // blocks that may overtake one under a seeded schedule

// Blocks keep their memory between launches. A worker takes one along and gives its own back when
// it is done. (Not a thread's own: glibc ends the process when it has no memory to note a
// thread_local's destructor.)
class SpareBlocks {
 public:
  SpareBlocks() {
    mine_.reserve(kMine);
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (all.blocks.empty()) return;
    mine_.push_back(std::move(all.blocks.back()));
    all.blocks.pop_back();
  }
  ~SpareBlocks() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    for (auto& block : mine_)
      if (all.blocks.size() < all.blocks.capacity()) all.blocks.push_back(std::move(block));
  }
  SpareBlocks(const SpareBlocks&) = delete;

  std::unique_ptr<Block> take() {
    if (mine_.empty()) return std::make_unique<Block>();
    auto block = std::move(mine_.back());
    mine_.pop_back();
    return block;
  }
  void give_back(std::unique_ptr<Block> block) {
    if (mine_.size() < kMine) mine_.push_back(std::move(block));
  }

 private:
  static constexpr size_t kMine = 4, kShared = 64;
  struct Shared {
    Shared() { blocks.reserve(kShared); }
    std::mutex mutex;
    std::vector<std::unique_ptr<Block>> blocks;
  };
  static Shared& shared() {
    static Shared& all = *new Shared;  // workers may outlive main
    return all;
  }
  std::vector<std::unique_ptr<Block>> mine_;
};

void run_blocks(GridRun& grid, unsigned index) {
  Worker worker;
  worker.engine = grid.engine;
  worker.memory = &grid.engine->memory();
  worker.grid = &grid;
  worker.index = index;
  SpareBlocks spare;
  std::deque<std::unique_ptr<Block>> resident;
  int patience = 0;
  uint64_t next = 0, end = 0;  // this worker's chunk of blocks
  uint64_t done = 0;           // blocks done and not yet told to the grid

  const auto start_next = [&] {
    if (next == end) {
      grid.done.fetch_add(std::exchange(done, 0), std::memory_order_relaxed);
      next = grid.next.fetch_add(grid.chunk);
      end = std::min(next + grid.chunk, grid.blocks);
      if (next >= grid.blocks) {
        next = end;
        return false;
      }
    }
    auto block = spare.take();
    const uint64_t window = 1 + std::min<uint64_t>(grid.extra_limit, kWindow);
    start_block(worker, *block,
                !grid.chosen.empty() ? grid.chosen[next]
                : grid.schedule      ? grid.schedule.block(next, grid.blocks, window)
                                     : next);
    ++next;
    if (grid.observer) grid.observer->block_begins(*block);
    resident.push_front(std::move(block));
    return true;
  };
  // A worker's own block always may start: the earliest unfinished block is then always under way,
  // whatever waits for it.
  const auto start_extra = [&] {
    if (grid.extra.fetch_add(1) < grid.extra_limit && start_next()) return true;
    grid.extra.fetch_sub(1);
    return false;
  };

  while (!grid.stop.load(std::memory_order_relaxed)) {
    if (resident.empty() && !start_next()) break;
    const uint64_t epoch = worker.memory->epoch();
    if (epoch != worker.epoch) {
      worker.ranges.fill(CheckedRange{});
      worker.epoch = epoch;
    }
    switch (run_block(worker, *resident.front())) {
      case BlockState::done:
        if (grid.observer) grid.observer->block_ends(*resident.front());
        spare.give_back(std::move(resident.front()));
        resident.pop_front();
        if (!resident.empty()) grid.extra.fetch_sub(1);
        ++done;
        patience = 0;
        break;
      case BlockState::stalled: {
        resident.push_back(std::move(resident.front()));
        resident.pop_front();
        const bool make_room = grid.launch->cooperative || ++patience > kPatience;
        if (make_room && start_extra()) patience = 0;
        else if (resident.size() == 1) std::this_thread::yield();
        break;
      }
      case BlockState::stopped: {
        if (grid.timed_out.load() && !worker.fault)
          worker.fault = {FaultKind::timeout, timeout_finding(grid, resident.front().get())};
        const std::lock_guard lock(grid.mutex);
        if (worker.fault && !grid.fault) grid.fault = worker.fault;
        grid.stop.store(true);
        break;
      }
    }
  }
  // The time may have run out between two turns, with no block running to notice.
  if (grid.timed_out.load() && !resident.empty()) {
    const std::lock_guard lock(grid.mutex);
    if (!grid.fault)
      grid.fault = {FaultKind::timeout, timeout_finding(grid, resident.front().get())};
  }
  while (!resident.empty()) {
    if (grid.observer) grid.observer->block_ends(*resident.front());
    spare.give_back(std::move(resident.front()));
    resident.pop_front();
  }
  grid.done.fetch_add(done);
  grid.warp_instructions += worker.warp_instructions;
  grid.thread_instructions += worker.thread_instructions;
}

}  // namespace

// The host's memory may be used up; other workers still have the grid in hand, so that it is a
// fault of the launch, and not an exception.
void work(GridRun& grid, unsigned index) try {
  run_blocks(grid, index);
} catch (const std::bad_alloc&) {
  const std::lock_guard lock(grid.mutex);
  if (!grid.fault) grid.fault.kind = FaultKind::out_of_memory;
  grid.stop.store(true);
}

}  // namespace ridge::vm
