// Accesses to shared memory of other blocks of the cluster: what they move between SMs.
#include <algorithm>
#include <bit>

#include "vm/mem/windows.h"
#include "vm/observe/count.h"

namespace ridge::vm::observe {
namespace {

// Four lines of 128 bytes leave the SM in one turn.
void count_sectors(Counters& c, const Access& access) {
  constexpr uint32_t kLinesPerTurn = 4;
  const GlobalCost cost = global_cost(access);
  c.peer_sectors += cost.sectors;
  c.peer_bytes += uint64_t(cost.sectors) * kSectorBytes;
  c.peer_wavefronts += (cost.lines + kLinesPerTurn - 1) / kLinesPerTurn;
}

}  // namespace

uint32_t lanes_of_peers(const SharedAccess& access) {
  uint32_t lanes = 0;
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const auto i = size_t(std::countr_zero(left));
    if (access.address[i] >= kWindowSize) lanes |= 1u << i;
  }
  return lanes;
}

// An atomic sends 8 bytes for 4, and takes its turns in the shared memory that it reaches.
void count_peers(Counters& c, const SharedAccess& access, const Touch& touch) {
  const uint64_t bytes = uint64_t(std::popcount(access.mask)) * access.bytes;
  ++c.peer_requests;
  c.shared_bytes += bytes;
  if (touch.action == Action::reduction || touch.action == Action::atomic) {
    c.peer_bytes += 2 * bytes;
    c.wavefronts += shared_cost(access, Service::atomic).wavefronts;
    return;
  }
  Access wide;
  wide.mask = access.mask;
  wide.bytes = access.bytes;
  std::copy(access.address.begin(), access.address.end(), wide.address.begin());
  count_sectors(c, wide);
}

// st.async and red.async.
void count_peer_store(Counters& c, const Touch& touch, const Warp& w, const Inst* inst) {
  Access access;
  access.mask = w.mask;
  access.bytes = touch.bytes;
  const uint32_t* address = w.src<uint32_t>(inst->a);
  for (size_t i = 0; i < 32; ++i) access.address[i] = address[i] + inst->b;
  ++c.peer_requests;
  if (touch.action == Action::reduction) {
    c.peer_bytes += uint64_t(std::popcount(w.mask)) * touch.bytes;
    return;
  }
  count_sectors(c, access);
}

}  // namespace ridge::vm::observe
