// Blocks of a grid over CPU threads, in launch order. A worker takes a chunk of neighbouring blocks
// and runs them one after the other, each to its end; only when all warps of a block do nothing but
// spin does it start another beside it, so that blocks may wait for each other up to the number the
// GPU would keep resident.
#include "vm/exec/grid.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

#include "vm/exec/block.h"

namespace ridge::vm {
namespace {

// How often a block is found spinning before its worker starts another. A cooperative launch
// promises residency, so its blocks make room at once; elsewhere spinning is usually on a block
// that another worker is about to finish.
constexpr int kPatience = 64;

// Blocks keep their memory between launches.
thread_local std::vector<std::unique_ptr<Block>> spare_blocks;
constexpr size_t kSpareBlocks = 4;

std::unique_ptr<Block> take_block() {
  if (spare_blocks.empty()) return std::make_unique<Block>();
  auto block = std::move(spare_blocks.back());
  spare_blocks.pop_back();
  return block;
}
void give_back(std::unique_ptr<Block> block) {
  if (spare_blocks.size() < kSpareBlocks) spare_blocks.push_back(std::move(block));
}

}  // namespace

void work(GridRun& grid, unsigned index) {
  Worker worker;
  worker.engine = grid.engine;
  worker.memory = &grid.engine->memory();
  worker.grid = &grid;
  worker.index = index;
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
    auto block = take_block();
    start_block(worker, *block, next++);
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
        give_back(std::move(resident.front()));
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
          worker.fault = {FaultKind::timeout, describe_timeout(grid, resident.front().get())};
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
      grid.fault = {FaultKind::timeout, describe_timeout(grid, resident.front().get())};
  }
  while (!resident.empty()) {
    give_back(std::move(resident.front()));
    resident.pop_front();
  }
  grid.done.fetch_add(done);
  grid.warp_instructions += worker.warp_instructions;
  grid.thread_instructions += worker.thread_instructions;
}

}  // namespace ridge::vm
