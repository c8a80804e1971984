// Asynchronous copies that a warp has started and that have not landed.
//
// Hardware may finish a copy at any time between its start and a wait for it. Here it lands at the
// latest legal moment, so that a program which reads the destination before it has waited sees
// what was there before, and does not work by luck.
//
// A warp's queue holds copies (cp.async), commits, arrivals (cp.async.mbarrier.arrive), bulk loads
// and bulk stores (of bytes or of boxes of a tensor) in program order, each with the lanes that it
// is still open for. A commit closes a group of copies for its lanes; bulk stores have groups of
// their own. An arrival happens once its lane's earlier copies have landed; a bulk load, and a
// store to a peer of the cluster, lands and tells its barrier when somebody waits there; a bulk
// store lands when its lane waits for its group, or when the block ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/exec/tensor_copy.h"

namespace ridge::vm {

struct Block;
struct Code;
struct Inst;
struct Warp;

struct AsyncEntry {
  enum class Kind : uint8_t {
    copy,
    commit,
    arrive,
    bulk_load,
    bulk_store,
    bulk_commit,
    peer_store
  };
  Kind kind = Kind::copy;
  uint8_t bytes = 0;           // copy: 4, 8 or 16 in shared memory
  uint32_t lanes = 0;          // not landed
  const Inst* inst = nullptr;  // what started it, and in which function: for reports
  const Code* code = nullptr;
  uint64_t epoch = 0;  // of the allocations, when the global address was checked
  // Offset in the block's shared memory. arrive: the barrier's address; bulk_load, peer_store: the
  // destination's, which may be a peer's.
  uint32_t shared[32];
  uint64_t
      global[32];     // address in global memory; peer_store: offset of the source in shared memory
  uint32_t size[32];  // bytes; copy: of the source, zeros follow up to `bytes`
  uint32_t barrier[32];         // bulk_load, peer_store: a shared address
  BulkUpdate update = nullptr;  // bulk_store, peer_store
  // The source by lane. bulk_store: as it was when a wait gave it free, empty before. peer_store: a
  // value from registers; empty: the source is memory.
  std::vector<std::vector<uint8_t>> held;
  // bulk_load, bulk_store: by lane, where they copy boxes of tensors; empty where bytes. Their
  // `size` is what the barrier is told, and their `global` means nothing.
  std::vector<TensorCopy> tensors;
};

class AsyncQueue {
 public:
  bool empty() const { return head_ == entries_.size(); }
  void clear() {
    entries_.clear();
    head_ = 0;
  }
  // An entry with its own memory left as it was: the caller fills what its kind needs.
  AsyncEntry& push(Warp& w, AsyncEntry::Kind kind, uint32_t lanes, const Inst* inst);

  // A bulk copy's entry is filled: whoever watches is told of it.
  static void started(const Warp& w, const AsyncEntry& entry);

  // These return false after raising a fault.
  // Lands what the lanes have committed but for their `newest` last groups.
  bool wait_groups(Warp& w, uint32_t lanes, uint32_t newest);
  bool wait_all(Warp& w, uint32_t lanes);
  // The same for bulk stores: until they have landed, or only until they have read their source.
  bool wait_bulk_groups(Warp& w, uint32_t lanes, uint32_t newest, bool only_read);
  // The block has ended: bulk stores that nobody waited for land.
  bool finish(Warp& w);
  // Lands everything that the barrier at this shared address waits for.
  bool land_for_barrier(Warp& w, uint32_t barrier);

 private:
  bool land(Warp& w, AsyncEntry& entry, uint32_t lanes);
  uint32_t hold_sources(const Warp& w, AsyncEntry& entry, uint32_t lanes);  // those not held yet
  // Calls `due(entry, lanes)` for entries of this kind in all but the `newest` groups of each lane.
  template <class Due>
  bool each_due(uint32_t lanes, uint32_t newest, AsyncEntry::Kind kind, AsyncEntry::Kind commit,
                Due due);
  bool arrive_unblocked(Warp& w, uint32_t lanes);
  void drop_landed();

  std::vector<AsyncEntry> entries_;
  size_t head_ = 0;  // entries before it are gone
};

}  // namespace ridge::vm
