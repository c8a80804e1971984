// Special registers: one row each.
#include <chrono>
#include <cstring>

#include "core/align.h"
#include "vm/exec/grid.h"
#include "vm/isa/internal.h"
#include "vm/isa/lane.h"
#include "vm/isa/sync.h"

uint64_t ridge::vm::nanoseconds() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count());
}

namespace ridge::vm::internal {
namespace {

constexpr SpecialDef kSpecials[] = {
    {"%tid.x", Special::tid_x, false},
    {"%tid.y", Special::tid_y, false},
    {"%tid.z", Special::tid_z, false},
    {"%ntid.x", Special::ntid_x, false},
    {"%ntid.y", Special::ntid_y, false},
    {"%ntid.z", Special::ntid_z, false},
    {"%ctaid.x", Special::ctaid_x, false},
    {"%ctaid.y", Special::ctaid_y, false},
    {"%ctaid.z", Special::ctaid_z, false},
    {"%nctaid.x", Special::nctaid_x, false},
    {"%nctaid.y", Special::nctaid_y, false},
    {"%nctaid.z", Special::nctaid_z, false},
    {"%laneid", Special::laneid, false},
    {"%warpid", Special::warpid, false},
    {"%nwarpid", Special::nwarpid, false},
    {"%smid", Special::smid, false},
    {"%nsmid", Special::nsmid, false},
    {"%gridid", Special::gridid, true},
    {"%lanemask_eq", Special::lanemask_eq, false},
    {"%lanemask_le", Special::lanemask_le, false},
    {"%lanemask_lt", Special::lanemask_lt, false},
    {"%lanemask_ge", Special::lanemask_ge, false},
    {"%lanemask_gt", Special::lanemask_gt, false},
    {"%clock", Special::clock, false},
    {"%clock_hi", Special::clock_hi, false},
    {"%clock64", Special::clock64, true},
    {"%globaltimer", Special::globaltimer, true},
    {"%globaltimer_lo", Special::globaltimer_lo, false},
    {"%globaltimer_hi", Special::globaltimer_hi, false},
    {"%dynamic_smem_size", Special::dynamic_smem_size, false},
    {"%total_smem_size", Special::total_smem_size, false},
    {"%aggr_smem_size", Special::aggr_smem_size, false},
    {"%reserved_smem_offset_begin", Special::zero, false},
    {"%reserved_smem_offset_cap", Special::zero, false},
    {"%reserved_smem_offset_0", Special::zero, false},
    {"%reserved_smem_offset_1", Special::zero, false},
    {"%reserved_smem_offset_end", Special::zero, false},
    // A cooperative launch's workspace address, low and high word.
    {"%envreg1", Special::envreg1, false},
    {"%envreg2", Special::envreg2, false},
    {"%cluster_ctarank", Special::cluster_ctarank, false},
    {"%cluster_nctarank", Special::cluster_nctarank, false},
    {"%is_explicit_cluster", Special::is_explicit_cluster, false},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x, false},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y, false},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z, false},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x, false},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y, false},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z, false},
    {"%clusterid.x", Special::clusterid_x, false},
    {"%clusterid.y", Special::clusterid_y, false},
    {"%clusterid.z", Special::clusterid_z, false},
    {"%nclusterid.x", Special::nclusterid_x, false},
    {"%nclusterid.y", Special::nclusterid_y, false},
    {"%nclusterid.z", Special::nclusterid_z, false},
    {"%current_graph_exec", Special::zero, true},  // no kernel is launched by a device graph
};

constexpr uint32_t kSharedUnit = 128;  // bytes; blocks get multiples of it

// Cycles of the pretended GPU's clock, so that programs which spin for so many cycles spin for that
// long.
uint64_t cycles(const Warp& w) {
  const auto product = __uint128_t(nanoseconds()) * uint32_t(w.block->grid->gpu->clock_khz);
  return uint64_t(product / 1'000'000);
}

uint64_t value(const Warp& w, Special which, uint32_t lane) {
  const GridRun& grid = *w.block->grid;
  const uint32_t thread = w.index * kWarpSize + lane;
  const Dim3 &n = grid.launch->block, &c = grid.launch->cluster;
  switch (which) {
    case Special::tid_x: return thread % n.x;
    case Special::tid_y: return thread / n.x % n.y;
    case Special::tid_z: return thread / n.x / n.y;
    case Special::ntid_x: return n.x;
    case Special::ntid_y: return n.y;
    case Special::ntid_z: return n.z;
    case Special::ctaid_x: return w.block->ctaid[0];
    case Special::ctaid_y: return w.block->ctaid[1];
    case Special::ctaid_z: return w.block->ctaid[2];
    case Special::nctaid_x: return grid.launch->grid.x;
    case Special::nctaid_y: return grid.launch->grid.y;
    case Special::nctaid_z: return grid.launch->grid.z;
    case Special::laneid: return lane;
    case Special::warpid: return w.index;
    case Special::nwarpid: return uint64_t(grid.gpu->max_threads_per_sm / kWarpSize);
    case Special::smid: return w.block->index % uint64_t(grid.gpu->sm_count);
    case Special::nsmid: return uint64_t(grid.gpu->sm_count);
    case Special::gridid: return grid.id;
    case Special::lanemask_eq: return 1u << lane;
    case Special::lanemask_le: return uint32_t((2ull << lane) - 1);
    case Special::lanemask_lt: return (1u << lane) - 1;
    case Special::lanemask_ge: return uint32_t(~((1u << lane) - 1));
    case Special::lanemask_gt: return uint32_t(~((2ull << lane) - 1));
    case Special::clock:
    case Special::clock64: return cycles(w);
    case Special::clock_hi: return cycles(w) >> 32;
    case Special::globaltimer:
    case Special::globaltimer_lo: return nanoseconds();
    case Special::globaltimer_hi: return nanoseconds() >> 32;
    case Special::dynamic_smem_size: return grid.launch->dynamic_shared;
    case Special::total_smem_size: return round_up(w.shared_size, kSharedUnit);
    case Special::aggr_smem_size:
      return round_up(w.shared_size, kSharedUnit) + uint32_t(grid.gpu->shared_reserved_per_block);
    case Special::envreg1: return uint32_t(grid.workspace >> 32);
    case Special::envreg2: return uint32_t(grid.workspace);
    case Special::cluster_ctarank: return w.block->rank;
    case Special::cluster_nctarank: return grid.cluster_size;
    case Special::is_explicit_cluster: return grid.launch->explicit_cluster;
    case Special::cluster_ctaid_x: return w.block->ctaid[0] % c.x;
    case Special::cluster_ctaid_y: return w.block->ctaid[1] % c.y;
    case Special::cluster_ctaid_z: return w.block->ctaid[2] % c.z;
    case Special::cluster_nctaid_x: return c.x;
    case Special::cluster_nctaid_y: return c.y;
    case Special::cluster_nctaid_z: return c.z;
    case Special::clusterid_x: return w.block->ctaid[0] / c.x;
    case Special::clusterid_y: return w.block->ctaid[1] / c.y;
    case Special::clusterid_z: return w.block->ctaid[2] / c.z;
    case Special::nclusterid_x: return grid.launch->grid.x / c.x;
    case Special::nclusterid_y: return grid.launch->grid.y / c.y;
    case Special::nclusterid_z: return grid.launch->grid.z / c.z;
    default: return 0;
  }
}

// Thread indices are wanted at the start of nearly every kernel, so they are not left to `value`.
template <class T>
void thread_indices(const Warp& w, Special which, T* out) {
  const Dim3& n = w.block->grid->launch->block;
  const uint32_t first = w.index * kWarpSize;
  if (n.y == 1 && n.z == 1) {
    for (uint32_t i = 0; i < kWarpSize; ++i) out[i] = which == Special::tid_x ? T(first + i) : T(0);
    return;
  }
  uint32_t x = first % n.x, y = first / n.x % n.y, z = first / n.x / n.y;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    out[i] = T(which == Special::tid_x ? x : which == Special::tid_y ? y : z);
    if (++x == n.x) {
      x = 0;
      if (++y == n.y) {
        y = 0;
        ++z;
      }
    }
  }
}

template <class T>
const Inst* special(Warp& w, const Inst* inst) {
  const auto which = Special(inst->a);
  T lane[kWarpSize];
  if (which <= Special::tid_z) {
    thread_indices(w, which, lane);
  } else if (which == Special::laneid ||
             (which >= Special::lanemask_eq && which <= Special::lanemask_gt)) {
    for (uint32_t i = 0; i < kWarpSize; ++i) lane[i] = T(value(w, which, i));
  } else {
    const T same = T(value(w, which, 0));
    for (T& v : lane) v = same;
  }
  T* d = w.reg<T>(inst->d);
  if (w.mask == kAllLanes) std::memcpy(d, lane, sizeof lane);
  else each_lane<false>(d, w.mask, [&](int i) { return lane[i]; });
  return inst + 1;
}

const Inst* special_predicate(Warp& w, const Inst* inst) {
  w.set_pred(inst->d, value(w, Special(inst->a), 0) ? kAllLanes : 0);
  return inst + 1;
}

}  // namespace

const SpecialDef* find_special(std::string_view name) {
  for (const SpecialDef& def : kSpecials)
    if (def.name == name) return &def;
  // The driver's registers, of which programs see only those above, and performance counters
  // that nobody has set up.
  static constexpr SpecialDef kZero = {"", Special::zero, false},
                              kZero64 = {"", Special::zero, true};
  const auto numbered = [&](std::string_view prefix, size_t digits) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           name.size() <= prefix.size() + digits &&
           name.find_first_not_of("0123456789", prefix.size()) == name.npos;
  };
  if (numbered("%envreg", 2) || numbered("%pm", 1)) return &kZero;
  if (name.size() == 7 && name.starts_with("%pm") && name.ends_with("_64")) return &kZero64;
  return nullptr;
}
const Handlers kSpecial32 = {special<uint32_t>, special<uint32_t>};
const Handlers kSpecial64 = {special<uint64_t>, special<uint64_t>};
const Handlers kSpecialPredicate = {special_predicate, special_predicate};

}  // namespace ridge::vm::internal
