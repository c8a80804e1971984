#include "vm/check/checker.h"

#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

constexpr uint32_t kSegmentsAtOnce = 256;

// The block this thread looked up last. In the static part of its storage: this is asked for every
// instruction.
__attribute__((tls_model("initial-exec"))) thread_local struct {
  const Block* block = nullptr;
  BlockState* state = nullptr;
} last;

thread_local WorkOrderRef order_here;

}  // namespace

const WorkOrderRef& current_order() { return order_here; }
void Checker::work_begins(const WorkOrderRef& order) { order_here = order; }

Checker::Checker() : findings_(sites_), races_(sites_, findings_) {}
Checker::~Checker() = default;

void Checker::begin(const GridRun& grid, unsigned workers) {
  auto launch = std::make_unique<LaunchState>();
  launch->grid = &grid;
  launch->workers.resize(workers);
  if (grid.launch->notes)
    for (const LaunchNotes::Tensor& tensor : grid.launch->notes->tensors) {
      if (tensor.param >= launch->tensors.size()) launch->tensors.resize(tensor.param + 1);
      launch->tensors[tensor.param] = &tensor;
    }
  const std::lock_guard lock(mutex_);
  memory_ = &grid.engine->memory();
  shadow_.forget_freed(*memory_);
  shadow_.look_at_host_arrays(*memory_);
  const WorkOrderRef order = current_order();
  if ((!order || order->alone) &&
      launches_.empty()) {  // all that was is ordered before all to come
    past_.clear();
    segments_.forget_before(segments_.next());
  }
  launch->bound = bound_of(order);
  launch->id = uint32_t(orders_.size());
  orders_.push_back(order);
  ++launch_count_;
  launches_[grid.id] = std::move(launch);
}

void Checker::end(const GridRun& grid) {
  const std::lock_guard lock(mutex_);
  launches_.erase(grid.id);
}

void Checker::finish() {
  races_.finish();
  findings_.finish(launch_count_);
}

void Checker::block_begins(const Block& block) {
  const GridRun& grid = *block.grid;
  LaunchState* launch = nullptr;
  {
    const std::lock_guard lock(mutex_);
    launch = launches_.at(grid.id).get();
  }
  WorkerState& worker = launch->workers.at(block.warps[0].worker->index);
  std::unique_ptr<BlockState> state;
  if (worker.spare.empty()) {
    state = std::make_unique<BlockState>();
  } else {
    state = std::move(worker.spare.back());
    worker.spare.pop_back();
  }
  BlockState& b = *state;
  b.launch = launch;
  b.worker = &worker;
  b.block = &block;
  b.code = nullptr;
  b.index = uint32_t(block.index);
  b.interval = 1;
  b.fine = false;
  for (const WarpState& ws : b.warps)
    for (const Flight& f : ws.flights)  // of a block before that did not wait for them
      for (uint32_t k = 0; k < f.bytes; k += 4) b.cells[(f.to + k) / 4] = {};
  forget_products(b);
  for (const BulkLoad& load : b.loads)
    for (uint32_t at = load.box.begin; at < load.box.end; at += 4) b.cells[at / 4] = {};
  for (const auto& [begin, end] : b.disputed)
    for (uint32_t at = begin; at < end; at += 4) b.cells[at / 4] = {};
  b.warps.clear();
  b.warps.resize(block.warps.size());
  const size_t words = (grid.shared_bytes + 3) / 4;
  if (b.cells.size() < words) b.cells.resize(words);
  b.written.assign(words, 0);
  b.remote.clear();
  b.cluster_bound = 0;
  b.peers.clear();
  b.visits.clear();
  b.skipped = {};
  b.start_told = false;
  b.exit_site = 0;
  b.known.clear();
  b.columns = uint32_t(b.warps.size());
  for (auto& at : b.arrived) at.clear();
  b.tokens.clear();
  b.mbarriers.clear();
  b.loads.clear();
  b.disputed.clear();
  b.reads.clear();
  b.writes.clear();
  b.warpgroups.clear();
  b.barrier_site.fill(0);
  b.grid_waits.clear();
  segment_of(b, b.warps[0], 0);
  b.first = b.bound = b.warps[0].segment;
  worker.blocks[&block] = std::move(state);
  last = {&block, &b};
}

void Checker::block_ends(const Block& block) {
  BlockState& b = state_of(block);
  for (uint32_t w = 0; w < b.warps.size(); ++w)
    if (b.warps[w].waiting.site) report_part_of_warp(b, w);
  WorkerState& worker = *b.worker;
  auto found = worker.blocks.find(&block);
  worker.spare.push_back(std::move(found->second));
  worker.blocks.erase(found);
  last = {};
}

BlockState& Checker::state_of(const Block& block) {
  if (last.block == &block) return *last.state;
  LaunchState* launch = nullptr;
  {
    const std::lock_guard lock(mutex_);
    launch = launches_.at(block.grid->id).get();
  }
  WorkerState& worker = launch->workers[block.warps[0].worker->index];
  last = {&block, worker.blocks.at(&block).get()};
  return *last.state;
}

const Site& Checker::site_of(BlockState& b, const Code& code, const Inst* inst) {
  if (b.code != &code) {
    const CodeSites& found = sites_.of(code);
    b.code = &code;
    b.sites = found.sites.data();
    b.acts = found.acts.data();
    b.first_inst = found.first;
    b.speculated = &found.speculated;
    b.touches = &found.touches;
    b.told = found.told.data();
  }
  return b.sites[inst - b.first_inst];
}

uint32_t Checker::new_segment(BlockState& b) {
  WorkerState& worker = *b.worker;
  if (worker.next_segment == worker.last_segment) {
    worker.next_segment = segments_.reserve(kSegmentsAtOnce);
    worker.last_segment = worker.next_segment + kSegmentsAtOnce;
  }
  return worker.next_segment++;
}

uint32_t Checker::segment_of(BlockState& b, WarpState& ws, uint32_t warp) {
  if (ws.segment) return ws.segment;
  ws.segment = new_segment(b);
  segments_[ws.segment] = {b.launch->id, b.index, b.interval, warp, ws.tick, ws.turn};
  return ws.segment;
}

Observer::Watch Checker::watch(const Warp& w) {
  BlockState& b = state_of(*w.block);
  site_of(b, *w.frame->code, w.frame->code->insts.data());
  return {.executed = nullptr, .told = b.told};
}

void Checker::before(const Warp& w, const Inst* inst) {
  BlockState& b = last.block == w.block ? *last.state : state_of(*w.block);
  WarpState& ws = b.warps[w.index];
  if (ws.waits_at) [[unlikely]]
    take_result(b, ws, w);
  const Code* code = w.frame->code;
  if (b.code == code && b.acts[inst - b.first_inst] == Act::none) return;
  const Site& s = site_of(b, *code, inst);
  if (s.act == Act::none) return;
  b.last_act = s.act;
  act({b, ws, w, inst, s, segment_of(b, ws, w.index), w.index * kWarpSize});
}

void Checker::act(const Access& a) {
  if (a.s.besides) [[unlikely]] {
    if (a.s.besides & Site::kDecides) decide(a);
    if (a.s.besides & Site::kTouches) on_touch(a);
    if (a.s.besides & Site::kBehind) on_behind(a);
  }
  switch (a.s.act) {
    case Act::none: break;
    case Act::load:
    case Act::store:
    case Act::atomic: on_memory(a); break;
    case Act::load_matrix:
    case Act::store_matrix: on_matrix(a); break;
    case Act::load_tile:
    case Act::store_tile: on_tile(a); break;
    case Act::copy: on_copy(a); break;
    case Act::bulk_copy:
    case Act::bulk_store: break;  // copy_starts follows
    case Act::copy_wait: break;   // copy_lands follows
    case Act::bulk_wait: on_bulk_wait(a); break;
    case Act::fence: on_fence(a); break;
    case Act::proxy_fence: on_proxy_fence(a); break;
    case Act::barrier: on_barrier(a); break;
    case Act::meet:
    case Act::lanes: on_lanes(a); break;
    case Act::copy_arrive:
    case Act::token_init:
    case Act::token_end:
    case Act::token_arrive:
    case Act::token_wait: on_token(a); break;
    case Act::grid_wait: on_grid_wait(a); break;
    case Act::load_speculated: on_speculated(a); break;
    case Act::decide: decide(a); break;
    case Act::turn:
      if (a.ws.turn >= Segment::kTurns) break;
      ++a.ws.turn;
      a.ws.segment = 0;
      break;
    case Act::product: on_product(a); break;
    case Act::product_fence: on_product_fence(a); break;
    case Act::product_commit: on_product_commit(a); break;
    case Act::product_wait: on_product_wait(a); break;
    case Act::touch: on_touch(a); break;
    case Act::cluster_arrive:
    case Act::cluster_wait: on_cluster_barrier(a); break;
    case Act::leave: on_leave(a); break;
  }
}

}  // namespace ridge::vm::check
