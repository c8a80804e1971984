#include "vm/exec/cluster.h"

#include <array>
#include <bit>
#include <numeric>
#include <span>

#include "vm/exec/block.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

// Which block of the grid is the one of this rank.
uint64_t block_index(const Launch& launch, uint64_t cluster, uint32_t rank) {
  const Dim3 &size = launch.cluster, &grid = launch.grid;
  const uint64_t across = grid.x / size.x, down = grid.y / size.y;
  const uint64_t x = cluster % across * size.x + rank % size.x;
  const uint64_t y = cluster / across % down * size.y + rank / size.x % size.y;
  const uint64_t z = cluster / across / down * size.z + rank / size.x / size.y;
  return x + grid.x * (y + grid.y * z);
}

// Opens the barrier if every thread of the cluster has arrived, or left.
void complete(Cluster& cluster) {
  if (!cluster.arrived) return;
  uint32_t all = 0;
  for (const auto& block : cluster.blocks) all += uint32_t(block->warps.size()) * kWarpSize;
  if (cluster.arrived + cluster.exited < all) return;
  if (Observer* watching = cluster.blocks[0]->grid->observer)
    watching->cluster_barrier_opens(cluster);
  cluster.arrived = 0;
  cluster.moved = true;
  for (const auto& block : cluster.blocks)
    for (Warp& w : block->warps) {
      w.arrived = 0;
      for (Fragment& f : w.fragments)
        if (f.state == Fragment::State::at_cluster_barrier) f.state = Fragment::State::runnable;
    }
}

// Blocks of an SM run side by side: who is a few instructions behind a block that ends still finds
// its shared memory. Here blocks take turns, so it stays until the others have had one.
void leave(Cluster& cluster, uint32_t ended) {
  for (const auto& block : cluster.blocks)
    if (ended >> block->rank & 1) block->left = true;
}

// A warp waits for registers, and for a long time the others have only spun.
bool waits_for_registers_in_vain(Cluster& cluster) {
  constexpr uint32_t kLong = 16;  // turns, each of thousands of iterations where it is a loop
  for (const auto& block : cluster.blocks)
    if (!block->ended && block->pool.is_used() && block->pool.is_hopeless(*block))
      return ++cluster.turns_in_vain > kLong;
  cluster.turns_in_vain = 0;
  return false;
}

}  // namespace

void start_cluster(Worker& worker, Cluster& cluster, uint64_t index) {
  const GridRun& grid = *worker.grid;
  while (cluster.blocks.size() < grid.cluster_size)
    cluster.blocks.push_back(std::make_unique<Block>());
  cluster.blocks.resize(grid.cluster_size);
  cluster.arrived = cluster.exited = cluster.turns_in_vain = 0;
  for (uint32_t rank = 0; rank < grid.cluster_size; ++rank) {
    Block& block = *cluster.blocks[rank];
    start_block(worker, block, cluster, rank,
                grid.cluster_size == 1 ? index : block_index(*grid.launch, index, rank));
    cluster.exited += block.exited_threads;
  }
}

BlockState run_cluster(Worker& worker, Cluster& cluster) {
  Schedule& schedule = worker.grid->schedule;
  std::array<uint32_t, kMostRanks> ranks;
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::span<uint32_t> order(ranks.data(), cluster.blocks.size());
  while (true) {
    bool alive = false, stalled = false;
    uint32_t ended = 0;  // before this turn, by rank
    for (const uint32_t rank : order) ended |= uint32_t(cluster.blocks[rank]->ended) << rank;
    cluster.moved = false;
    if (schedule && order.size() > 1) schedule.shuffle(order);
    for (const uint32_t rank : order) {
      Block& block = *cluster.blocks[rank];
      if (block.ended) continue;
      switch (run_block(worker, block)) {
        case BlockState::stopped: return BlockState::stopped;
        case BlockState::done: block.ended = true; break;
        case BlockState::stalled: stalled = alive = true; break;
        case BlockState::waiting: alive = true; break;
      }
    }
    if (!alive) return BlockState::done;
    leave(cluster, ended);
    if (cluster.moved) continue;
    if (stalled && !waits_for_registers_in_vain(cluster)) return BlockState::stalled;
    for (const auto& block : cluster.blocks)
      if (!block->ended && (!stalled || block->pool.waits())) {
        worker.fault = {FaultKind::timeout, deadlock_finding(*block)};
        break;
      }
    return BlockState::stopped;
  }
}

const Inst* arrive_at_cluster(Warp& w, const Inst* next) {
  Cluster& cluster = *w.block->cluster;
  // A thread that arrives once more without a wait between changes nothing.
  const uint32_t lanes = w.mask & ~w.arrived;
  w.arrived |= lanes;
  cluster.arrived += uint32_t(std::popcount(lanes));
  complete(cluster);
  return next;
}

const Inst* wait_for_cluster(Warp& w, const Inst* next) {
  if (!(w.arrived & w.mask)) return next;
  Fragment& f = w.fragments[w.current];
  f.state = Fragment::State::at_cluster_barrier;
  f.pc = next;
  w.stop = Stop::reschedule;
  return nullptr;
}

void leave_cluster(Warp& w, uint32_t lanes) {
  Cluster& cluster = *w.block->cluster;
  cluster.exited += uint32_t(std::popcount(lanes));
  cluster.arrived -= uint32_t(std::popcount(lanes & w.arrived));
  w.arrived &= ~lanes;
  complete(cluster);
}

uint8_t* shared_place(const Warp& w, uint32_t address) {
  if (const uint32_t own = address - w.shared_start; own < kWindowSize) return w.shared + own;
  const auto& blocks = w.block->cluster->blocks;
  return blocks[address >> kRankShift]->warps[0].shared + address % kWindowSize;
}

const char* wrong_shared(const Warp& w, uint32_t address, uint64_t bytes) {
  const uint32_t rank = address >> kRankShift, offset = address % kWindowSize;
  const auto& blocks = w.block->cluster->blocks;
  if (rank >= blocks.size()) return "shared address of a block that the cluster does not have";
  if (offset + bytes > w.shared_size) return "shared address past the memory of a peer";
  if (blocks[rank]->left) return "shared address of a block that has left the kernel";
  return nullptr;
}

}  // namespace ridge::vm
