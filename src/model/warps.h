// The warps and blocks that an SM holds while their streams are replayed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/async.h"
#include "model/barriers.h"
#include "model/stream.h"

namespace ridge::model {

struct Resident {  // a block
  int warps = 0;
  int left = 0;  // warps that have not ended
  Barrier whole;
  struct Named {
    Barrier barrier;
    int needed = 0;  // warps
  };
  std::array<Named, 16> named;
  std::array<Barrier, 8> warpgroups;  // before they multiply
  ClusterBarrier cluster;
  Phases phases;

  void begin(const Work::Block& block) {
    *this = {};
    warps = left = int(block.warps.size());
    phases.begin(block);
  }
};

struct WarpState {
  const uint32_t *begin = nullptr, *at = nullptr, *end = nullptr;
  std::vector<Next> chunk;
  size_t next = 0;  // of the chunk
  double time = 0;  // when its next instruction has all it needs
  int block = -1;
  int index = 0;  // in the block
  int scheduler = 0;
  bool waits = false;         // until somebody else lets it go on
  uint64_t elsewhere = 0;     // added to lines where a block stands for a later one
  std::vector<double> ready;  // by register
  // Started, and not waited for. `reads`: when bulk stores have read their source.
  Groups copies, stores, reads, products;
  double loaded = 0;      // when its last bulk load is there
  double asks_again = 0;  // it may not wait for an mbarrier before
  int cluster_arrivals = 0;

  void start(const std::vector<uint32_t>& stream, double when, size_t registers) {
    begin = at = stream.data();
    end = stream.data() + stream.size();
    time = when;
    waits = false;
    ready.assign(registers, 0);
    copies.clear(), stores.clear(), reads.clear(), products.clear();
    loaded = asks_again = 0;
    cluster_arrivals = 0;
  }
};

}  // namespace ridge::model
