// Blocks of a grid over CPU threads, in launch order. A worker takes a chunk of neighbouring blocks
// and runs them one after the other, each to its end; only when all warps of a block do nothing but
// spin does it start another beside it, so that blocks may wait for each other up to the number the
// GPU would keep resident. Where the launch has clusters, a worker takes whole ones.
#include "vm/exec/grid.h"

#include <algorithm>
#include <deque>
#include <new>
#include <thread>
#include <utility>

#include "vm/exec/cluster.h"

namespace ridge::vm {
namespace {

// How often a block is found spinning before its worker starts another. A cooperative launch
// promises residency, so its blocks make room at once; elsewhere spinning is usually on a block
// that another worker is about to finish.
constexpr unsigned kPatience = 64;
constexpr uint64_t kWindow = 31;  // blocks that may overtake one under a seeded schedule

// Blocks keep their memory between launches, but for the later ones of a cluster. A worker takes
// one along and gives its own back when it is done. (Not a thread's own: glibc ends the process
// when it has no memory to note a thread_local's destructor.)
class SpareClusters {
 public:
  SpareClusters() {
    mine_.reserve(kMine);
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (all.clusters.empty()) return;
    mine_.push_back(std::move(all.clusters.back()));
    all.clusters.pop_back();
  }
  ~SpareClusters() {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    for (auto& cluster : mine_) {
      cluster->blocks.resize(1);
      if (all.clusters.size() < all.clusters.capacity()) all.clusters.push_back(std::move(cluster));
    }
  }
  SpareClusters(const SpareClusters&) = delete;

  std::unique_ptr<Cluster> take() {
    if (mine_.empty()) return std::make_unique<Cluster>();
    auto cluster = std::move(mine_.back());
    mine_.pop_back();
    return cluster;
  }
  void give_back(std::unique_ptr<Cluster> cluster) {
    if (mine_.size() < kMine) mine_.push_back(std::move(cluster));
  }

 private:
  static constexpr size_t kMine = 4, kShared = 64;
  struct Shared {
    Shared() { clusters.reserve(kShared); }
    std::mutex mutex;
    std::vector<std::unique_ptr<Cluster>> clusters;
  };
  static Shared& shared() {
    static Shared& all = *new Shared;  // workers may outlive main
    return all;
  }
  std::vector<std::unique_ptr<Cluster>> mine_;
};

// A worker has nothing to do before the grids that this one depends on have ended.
void wait_for_other_grids(GridRun& grid, unsigned index) {
  if (index == 0) grid.dependence->parks();
  // An order of warps that is to be seen again must not depend on the time: no look in between.
  bool over = grid.dependence->wait();
  while (!over && grid.schedule && !grid.stop.load()) over = grid.dependence->wait();
  if (!over) return;
  if (!grid.dependence->goes_on()) grid.stop.store(true);
  grid.waits.store(false, std::memory_order_release);
}

void run_blocks(GridRun& grid, unsigned index) {
  Worker worker;
  worker.engine = grid.engine;
  worker.memory = &grid.engine->memory();
  worker.grid = &grid;
  worker.index = index;
  SpareClusters spare;
  std::deque<std::unique_ptr<Cluster>> resident;
  unsigned patience = 0;
  uint64_t next = 0, end = 0;  // this worker's chunk of clusters
  uint64_t done = 0;           // blocks done and not yet told to the grid

  const auto start_next = [&] {
    if (next == end) {
      grid.done.fetch_add(std::exchange(done, 0), std::memory_order_relaxed);
      next = grid.next.fetch_add(grid.chunk);
      end = std::min(next + grid.chunk, grid.clusters);
      if (next >= grid.clusters) {
        next = end;
        return false;
      }
    }
    auto cluster = spare.take();
    const uint64_t window = 1 + std::min<uint64_t>(grid.extra_limit, kWindow);
    start_cluster(worker, *cluster,
                  !grid.chosen.empty() ? grid.chosen[next]
                  : grid.schedule      ? grid.schedule.block(next, grid.clusters, window)
                                       : next);
    ++next;
    if (grid.observer)
      for (const auto& block : cluster->blocks) grid.observer->block_begins(*block);
    resident.push_front(std::move(cluster));
    return true;
  };
  // A worker's own block always may start: the earliest unfinished block is then always under way,
  // whatever waits for it.
  const auto start_extra = [&] {
    if (grid.extra.fetch_add(1) < grid.extra_limit && start_next()) return true;
    grid.extra.fetch_sub(1);
    return false;
  };

  const auto end_front = [&] {
    if (grid.observer)
      for (const auto& block : resident.front()->blocks) grid.observer->block_ends(*block);
    if (grid.releases)
      for (const auto& block : resident.front()->blocks) block_has_ended(grid, block->triggered);
    spare.give_back(std::move(resident.front()));
    resident.pop_front();
  };
  // Dependent launches: a block waits for other grids, or for the other blocks of its own to let
  // dependent grids begin. So all that fit come as far as they can, this worker's share of them.
  const uint64_t share = (grid.clusters + grid.workers - 1) / grid.workers;
  size_t idle = 0;  // turns since a block has started
  const auto wait_for_grids = [&] {
    if (resident.size() < share && start_extra()) {
      idle = 0;
      return;
    }
    if (++idle < resident.size()) return;
    if (grid.gathers.load() && idle < resident.size() + kPatience) {  // others may be about to come
      std::this_thread::yield();
      return;
    }
    idle = 0;
    if (grid.gathers.load()) {
      if (start_extra()) return;  // nobody else has taken it
      grid.may_gather = false;
      grid.gathers = false;
    } else {
      wait_for_other_grids(grid, index);
    }
  };
  // What a report of the time limit speaks of.
  const auto unfinished = [&] {
    for (const auto& block : resident.front()->blocks)
      if (!block->ended) return block.get();
    return resident.front()->blocks[0].get();
  };

  while (!grid.stop.load(std::memory_order_relaxed)) {
    if (resident.empty() && !start_next()) break;
    const uint64_t epoch = worker.memory->epoch();
    if (epoch != worker.epoch) {
      worker.ranges.fill(CheckedRange{});
      worker.epoch = epoch;
    }
    BlockState state = run_cluster(worker, *resident.front());
    if (state == BlockState::stalled && grid.observer)
      if (auto finding = grid.observer->stuck(*resident.front())) {
        worker.fault = {FaultKind::timeout, std::move(*finding)};
        state = BlockState::stopped;
      }
    switch (state) {
      case BlockState::done:
        end_front();
        if (!resident.empty()) grid.extra.fetch_sub(1);
        done += grid.cluster_size;
        patience = 0;
        break;
      case BlockState::waiting:  // run_cluster does not say so
      case BlockState::stalled: {
        resident.push_back(std::move(resident.front()));
        resident.pop_front();
        if (grid.waits.load() || grid.gathers.load()) {
          wait_for_grids();
          break;
        }
        const bool make_room = grid.launch->cooperative || ++patience > kPatience;
        if (make_room && start_extra()) patience = 0;
        else if (resident.size() == 1 && grid.workers > 1) std::this_thread::yield();
        break;
      }
      case BlockState::stopped: {
        if (grid.timed_out.load() && !worker.fault)
          worker.fault = {FaultKind::timeout, timeout_finding(grid, unfinished())};
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
    if (!grid.fault) grid.fault = {FaultKind::timeout, timeout_finding(grid, unfinished())};
  }
  while (!resident.empty()) end_front();
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
