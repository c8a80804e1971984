// Blocks of a grid over CPU threads, in launch order. A worker runs a block to its end; only when all its warps do
// nothing but spin does it start another beside it, so that blocks may wait for each other up to the number the GPU
// would keep resident.
#include "vm/exec/grid.h"

#include <deque>
#include <thread>

#include "vm/exec/block.h"

namespace ridge::vm {
namespace {

// How often a block is found spinning before its worker starts another. A cooperative launch promises residency, so its
// blocks make room at once; elsewhere spinning is usually on a block that another worker is about to finish.
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

  const auto start_next = [&] {
    if (grid.resident.fetch_add(1) >= grid.resident_limit) {
      grid.resident.fetch_sub(1);
      return false;
    }
    const uint64_t next = grid.next.fetch_add(1);
    if (next >= grid.blocks) {
      grid.resident.fetch_sub(1);
      return false;
    }
    auto block = take_block();
    start_block(worker, *block, next);
    resident.push_front(std::move(block));
    return true;
  };

  while (!grid.stop.load(std::memory_order_relaxed)) {
    if (resident.empty() && !start_next()) {
      // All handed out; or too many resident, all at other workers, who will finish them.
      if (grid.next.load() >= grid.blocks) break;
      std::this_thread::yield();
      continue;
    }
    const uint64_t epoch = worker.memory->epoch();
    if (epoch != worker.epoch) {
      worker.ranges.fill(CheckedRange{});
      worker.epoch = epoch;
    }
    switch (run_block(worker, *resident.front())) {
      case BlockState::done:
        give_back(std::move(resident.front()));
        resident.pop_front();
        grid.resident.fetch_sub(1);
        grid.done.fetch_add(1);
        patience = 0;
        break;
      case BlockState::stalled: {
        resident.push_back(std::move(resident.front()));
        resident.pop_front();
        const bool make_room = grid.launch->cooperative || ++patience > kPatience;
        if (make_room && start_next()) patience = 0;
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
    if (!grid.fault) grid.fault = {FaultKind::timeout, describe_timeout(grid, resident.front().get())};
  }
  while (!resident.empty()) {
    give_back(std::move(resident.front()));
    resident.pop_front();
  }
  grid.warp_instructions += worker.warp_instructions;
  grid.thread_instructions += worker.thread_instructions;
}

}  // namespace ridge::vm
