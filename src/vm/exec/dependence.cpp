#include "vm/exec/dependence.h"

#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

const Inst* park(Warp& w, const Inst* next, Fragment::State state) {
  Fragment& f = w.fragments[w.current];
  f.state = state;
  f.pc = next;
  w.stop = Stop::reschedule;
  return nullptr;
}

// True if the block was the last one.
bool count_released(GridRun& grid) { return grid.released.fetch_add(1) + 1 == grid.blocks; }

}  // namespace

const Inst* let_dependents_begin(Warp& w, const Inst* next) {
  GridRun& grid = *w.worker->grid;
  Block& block = *w.block;
  if (!grid.releases || block.triggered) return next;
  block.triggered = true;
  // Whether there still was something to wait for is a matter of time, which nobody may rely on.
  grid.dependence->trigger(block.has_waited);
  if (count_released(grid)) {
    grid.gathers = false;
    grid.dependence->release();
    return next;
  }
  // A dependent grid begins as early as it may only if the other blocks come here before this one
  // goes on.
  if (!grid.may_gather.load() || !grid.dependence->has_dependents()) return next;
  grid.gathers = true;
  if (grid.released.load() == grid.blocks) grid.gathers = false;  // the others were faster
  return park(w, next, Fragment::State::at_trigger);
}

const Inst* wait_for_prerequisites(Warp& w, const Inst* next) {
  w.block->has_waited = true;
  if (!w.worker->grid->waits.load(std::memory_order_acquire)) return next;
  return park(w, next, Fragment::State::at_prerequisites);
}

void block_has_ended(GridRun& grid, bool has_triggered) {
  if (has_triggered || !count_released(grid)) return;
  grid.gathers = false;
  grid.dependence->release();
}

}  // namespace ridge::vm
