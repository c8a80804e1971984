// Writes down asynchronous work: what the copy engine moves, and who completes which phase of an
// mbarrier. In the software GPU a copy lands when somebody waits for it, and a warp that waits asks
// again and again; in the streams there is one wait per phase, and the replay finds out when the
// phase is over.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/work.h"
#include "vm/exec/grid.h"
#include "vm/observe/plan.h"

namespace ridge::vm::timing {

// Cache lines of one copy, counted from `origin`, and which of their sectors, in the order in which
// the engine asks.
struct BulkLines {
  std::vector<std::pair<uint64_t, uint32_t>> at;
  uint64_t bytes = 0;       // to or from global memory
  uint64_t peer_bytes = 0;  // to other blocks of the cluster
};
bool is_bulk(const observe::Touch& touch);
BulkLines bulk_lines(const observe::Touch& touch, const Warp& w, const Inst* inst, uint64_t origin);

class AsyncWork {
 public:
  // Appends the steps of what happens without an instruction of the warp.
  void begin(model::Work& work);

  // The stream of a warp of a block, if it is followed.
  struct Stream {
    model::Work::Block* block = nullptr;
    std::vector<uint32_t>* words = nullptr;
    // Of a warp that asks again and again: where that begins, since it will be taken back.
    size_t* asks_at = nullptr;
    explicit operator bool() const { return words; }
  };
  using FindStream = std::function<Stream(const Block&, uint32_t warp)>;

  // Behind a step that arrives at mbarriers, the last word of the warp's stream.
  void arrive(const Warp& w, const Inst* inst, bool generic, const FindStream& find);
  // Behind a step that waits, for these lanes' phases, which are over.
  void waited(const Warp& w, const uint32_t* barriers, Stream stream);
  // A copy has started.
  void started(const Warp& w, const AsyncEntry& entry, const FindStream& find);
  void completes(const Block& block, uint32_t offset);

 private:
  struct Told {
    uint32_t barrier = 0, bytes = 0;
  };
  void tell(Stream to, uint32_t step, const Block& owner, const Told& told);
  uint32_t phase_of(const Block& block, uint32_t offset);  // that is not over yet

  uint32_t lands_ = 0, delivered_ = 0, arrived_ = 0;  // steps
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unordered_map<uint32_t, uint32_t>> phases_;  // by block, offset
};

}  // namespace ridge::vm::timing
