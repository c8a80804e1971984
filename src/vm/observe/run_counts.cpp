#include "vm/observe/run_counts.h"

#include "vm/observe/access.h"

namespace ridge::vm::observe {
namespace {

void add_waits(Counters& c, Sync sync) {
  switch (sync) {
    case Sync::cluster: c.cluster_barriers += c.warps; break;
    case Sync::token_arrive: c.mbarrier_arrivals += c.warps; break;
    case Sync::copy_wait:
    case Sync::bulk_wait: c.copy_waits += c.warps; break;
    case Sync::bulk_commit: c.bulk_commits += c.warps; break;
    case Sync::product_wait: c.product_waits += c.warps; break;
    default: break;
  }
}

// Operands in shared memory never meet in a bank, whatever their layout.
void add_product(Counters& c, const TensorWork& work) {
  c.tensor_instructions += c.warps * work.instructions;
  c.tensor_ops += c.warps * work.operations;
  if (!work.by_warpgroup) return;
  constexpr uint64_t kWarps = 4;
  c.shared_requests += c.warps;
  c.shared_bytes += c.warps * work.shared_bytes / kWarps;
  c.wavefronts += c.warps * work.shared_bytes / (kWarps * kLineBytes);
}

}  // namespace

void add_run_counts(Counters& counters, const Entry& entry) {
  if (!entry.match) return;
  add_waits(counters, entry.match->facts().sync);
  add_product(counters, entry.tensor);
  const Reach reach = entry.as_written.reach;
  if (reach != Reach::texture && reach != Reach::surface) return;
  counters.image_requests += counters.warps;
  counters.image_fetches += counters.threads;
}

}  // namespace ridge::vm::observe
