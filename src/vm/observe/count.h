// What an access of a warp adds to the counters.
#pragma once

#include "vm/observe/access.h"
#include "vm/observe/profile.h"

namespace ridge::vm::observe {

// An access's cost, kept because the next one of the instruction usually has the same shape: the
// cost depends on where the lanes' addresses lie to each other, and on where the first one lies in
// a line.
template <class T, class Cost>
class Kept {
 public:
  template <class Compute>
  const Cost& of(const AccessOf<T>& access, uint32_t period, Compute compute) {
    if (!is_like(access, period)) {
      last_ = access;
      cost_ = compute(access);
    }
    return cost_;
  }

 private:
  bool is_like(const AccessOf<T>& access, uint32_t period) const {
    if (access.mask != last_.mask || access.bytes != last_.bytes) return false;
    const auto lane = size_t(__builtin_ctz(access.mask | 1u << 31));
    const T shift = access.address[lane] - last_.address[lane];
    if (shift % period) return false;
    T different = 0;
    if (access.mask == ~0u)
      for (size_t i = 0; i < 32; ++i) different |= (access.address[i] - last_.address[i]) ^ shift;
    else
      for (size_t i = 0; i < 32; ++i)
        different |=
            ((access.address[i] - last_.address[i]) ^ shift) & (T(0) - (access.mask >> i & 1));
    return different == 0;
  }

  AccessOf<T> last_ = {};
  Cost cost_ = {};
};

struct WholeGlobalCost {
  GlobalCost plain;
  uint32_t sectors = 0;  // with the turns that atomics take
};

// What a fragment's accesses cost, which depends on where its lines lie in the banks and sectors.
struct KeptFragment {
  uint64_t pitch = ~0ull, phase = 0;
  Counters cost;
  Worst worst;
};

// What is kept for one access of the machine.
struct Memory {
  KeptFragment fragment;
  Kept<uint64_t, WholeGlobalCost> global;
  Kept<uint32_t, SharedCost> shared;
  Worst worst;
  // What is kept to try changes on; nothing where enough is known. A copy has two sides.
  std::unique_ptr<Seen> seen_global, seen_shared;
  Footprint* footprint = nullptr;  // the launch's
  Footprint::Last last_page;
  uint64_t lowest = ~0ull, end = 0;  // bytes of global memory that were touched
};

// Parts of count_touch, for instructions that only some kernels have (count_bulk.cpp,
// count_peers.cpp).
void count_bulk(Counters& c, Memory& memory, const Touch& touch, const Warp& w, const Inst* inst);
void count_tensor(Counters& c, Memory& memory, const Touch& touch, const Warp& w, const Inst* inst);
void count_peer_store(Counters& c, const Touch& touch, const Warp& w, const Inst* inst);
// Lanes of an access to shared memory, by offsets from the block's own, that reach other blocks of
// the cluster; and what such lanes cost.
uint32_t lanes_of_peers(const SharedAccess& access);
void count_peers(Counters& c, const SharedAccess& access, const Touch& touch);

// The access that `inst` is about to make.
void count_touch(Counters& counters, Memory& memory, const Touch& touch, const Warp& w,
                 const Inst* inst);

}  // namespace ridge::vm::observe
