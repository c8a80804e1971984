// What an instruction does beyond its registers, as its row of the tables says. The decoder, the
// observers and the checker ask here; nobody reads it out of an instruction's spelling.
#pragma once

#include <cstdint>
#include <string_view>

namespace ridge::vm {

// What an instruction does with memory.
enum class AccessKind : uint8_t {
  none,
  load,  // one address per lane, as have the next three
  store,
  atomic,
  reduction,    // an atomic without a result
  load_matrix,  // ldmatrix, stmatrix: one row of 16 bytes per lane
  store_matrix,
  load_tile,  // wmma.load, wmma.store
  store_tile,
  copy,          // cp.async: from global to shared memory
  bulk_copy,     // cp.async.bulk to shared memory
  bulk_store,    // cp.async.bulk and cp.reduce.async.bulk from shared memory
  tensor_load,   // cp.async.bulk.tensor to shared memory
  tensor_store,  // cp.async.bulk.tensor and cp.reduce.async.bulk.tensor from shared memory
  tensor_map,    // a CUtensorMap is changed
  peer_store,    // the same to shared memory of the cluster; st.async, red.async
  barrier_word,  // an mbarrier object
  sample,        // tex, tld4
  query_image,   // txq, suq
  load_surface,
  store_surface,
  reduce_surface,
};

// Where control goes on.
enum class Flow : uint8_t { next, jump, table, call, ret, exit, trap };

// What an instruction waits for, or puts in order.
enum class Sync : uint8_t {
  none,
  lanes,  // the lanes of a member mask, to exchange values
  warp,   // the same lanes, only to meet
  block,
  block_arrive,
  cluster,
  cluster_arrive,
  fence,
  proxy_fence,  // between accesses and asynchronous copies
  map_fence,    // between accesses and the use of tensor maps
  copy_commit,  // cp.async groups
  copy_wait,
  copy_arrive,  // cp.async.mbarrier.arrive
  bulk_commit,  // cp.async.bulk groups
  bulk_wait,
  product_fence,  // wgmma groups
  product_commit,
  product_wait,
  grid_trigger,   // griddepcontrol: dependent grids may begin
  grid_wait,      // for the grids that this one depends on
  registers_dec,  // setmaxnreg
  registers_inc,
  token_init,     // mbarrier objects
  token_end,
  token_arrive,
  token_wait,
};

// How the operands become fields of an Inst; decode/emit.cpp has one function for each.
enum class Encoding : uint8_t {
  operands,  // in the order written
  memory,    // an address and data registers
  fragments,
  copy,    // several addresses
  tensor,  // a tensor map with coordinates, and what a copy of a tensor has besides
  move,
  image,
};

// How the results of a warp's lanes compare.
enum class Across : uint8_t {
  operands,  // equal where all operands are
  varies,
  same,
  shuffled,  // another lane's value
};

struct Facts {
  AccessKind access = AccessKind::none;
  Sync sync = Sync::none;
  Flow flow = Flow::next;
  Encoding encoding = Encoding::operands;
  Across across = Across::operands;
  bool exchanges = false;  // values between lanes
  bool converges = false;  // waits for other lanes: a guard becomes a branch around it
  bool fences = false;     // accesses do not move across it
  bool carries = false;    // reads or writes the carry flag
  bool aligned = false;    // whole warps must reach it together
  bool counted = false;    // a barrier for as many threads as an operand says
  bool grows_stack = false;
  bool negates = false;        // its operands may be written with a minus
  bool arch_specific = false;  // only in modules for one architecture: sm_90a, not sm_90
  // What the hardware does here and the software GPU does not; empty: it does all.
  std::string_view left_out = {};

  constexpr bool reads() const {
    return access != AccessKind::none && access != AccessKind::store &&
           access != AccessKind::store_matrix && access != AccessKind::store_tile &&
           access != AccessKind::store_surface;
  }
  constexpr bool writes() const {
    switch (access) {
      case AccessKind::none:
      case AccessKind::load:
      case AccessKind::load_matrix:
      case AccessKind::load_tile:
      case AccessKind::sample:
      case AccessKind::query_image:
      case AccessKind::load_surface: return false;
      default: return true;
    }
  }
  constexpr bool is_atomic() const {
    return access == AccessKind::atomic || access == AccessKind::reduction ||
           access == AccessKind::reduce_surface;
  }
  constexpr bool is_plain_access() const {
    return access == AccessKind::load || access == AccessKind::store;
  }
  constexpr bool is_barrier() const {
    return sync == Sync::warp || sync == Sync::block || sync == Sync::block_arrive ||
           sync == Sync::cluster || sync == Sync::cluster_arrive;
  }
  // The next instruction in the text need not be the next that runs.
  constexpr bool leaves() const { return flow != Flow::next && flow != Flow::call; }
  // Nothing but registers: it may be moved, repeated or left out like arithmetic.
  constexpr bool only_registers() const {
    return access == AccessKind::none && (flow == Flow::next || flow == Flow::trap) && !exchanges &&
           !converges && !fences && !carries;
  }
};

inline constexpr Facts kRegs{};

}  // namespace ridge::vm
