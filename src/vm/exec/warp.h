// The state of a warp, its block and its worker while a kernel runs: what every instruction handler
// sees.
//
// A warp is a set of *fragments*: lanes that share a program counter. A converged warp is one
// fragment. A divergent branch splits a fragment in two and creates a *join* at the branch's
// immediate post-dominator, where the lanes wait for each other (this is Volta's convergence
// barrier). Fragments are scheduled in turn, so each makes progress whatever the others wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "vm/exec/async.h"
#include "vm/exec/engine.h"
#include "vm/exec/products.h"
#include "vm/exec/register_pool.h"
#include "vm/isa/inst.h"
#include "vm/mem/windows.h"

namespace ridge::vm {

struct Block;
struct Cluster;
struct Worker;
struct Code;
struct GridRun;

// Memory that grows and is otherwise kept from one block to the next. 64-byte aligned, never
// cleared.
class Buffer {
 public:
  uint8_t* at_least(size_t bytes) {
    if (bytes > size_) {
      storage_.reset(new (std::align_val_t(64)) uint8_t[bytes]);
      size_ = bytes;
    }
    return storage_.get();
  }

 private:
  struct Delete {
    void operator()(uint8_t* p) const { operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<uint8_t[], Delete> storage_;
  size_t size_ = 0;
};

// One activation of a function: its registers, and where its local variables start in each thread's
// local memory.
struct Frame {
  const Code* code = nullptr;
  uint8_t* registers = nullptr;
  Buffer storage;  // holds `registers` of a called function; the entry's are the block's
  uint32_t local_base = 0;
  Frame* caller = nullptr;
  const Inst* return_pc = nullptr;
  uint32_t lanes = 0;  // lanes that have not returned yet
  // Where each lane's stack ends, once it has used alloca; else where the variables do.
  std::unique_ptr<uint32_t[]> stack_tops;
};

struct Join {
  const Inst* pc = nullptr;
  Frame* frame = nullptr;
  Join* parent = nullptr;
  uint32_t expected = 0, arrived = 0;
};

struct Fragment {
  enum class State : uint8_t {
    runnable,
    at_barrier,
    at_cluster_barrier,
    at_sync,
    at_registers,  // setmaxnreg.inc: until other warps have given enough back
    // From here on nobody tells the fragment that its wait is over (run_warp asks).
    asleep,
    at_products,       // wgmma.wait_group: until the other warps have started the same products
    at_prerequisites,  // griddepcontrol.wait
    at_trigger,        // griddepcontrol.launch_dependents: until the other blocks came there
  };
  const Inst* pc = nullptr;
  uint32_t mask = 0;
  State state = State::runnable;
  uint8_t barrier = 0;            // at_barrier: which
  const Inst* reduces = nullptr;  // at_barrier: the bar.red that waits for the barrier's result
  uint32_t need = 0;              // at_sync: lanes the member masks name
  uint64_t wake = 0;              // asleep: until nanoseconds() says so; at_products: how many
  bool sync_open = false;         // resumes at a .sync instruction whose wait is over
  Join* join = nullptr;
  Frame* frame = nullptr;
};

// Why a handler returned nullptr. other_loop: the fragment goes on where it says, but it has
// become a full warp, or is one no longer.
enum class Stop : uint8_t { reschedule, other_loop, yield, fault };

struct Warp {
  // Registers of the running frame; constant vectors of its function.
  uint8_t* base[2] = {nullptr, nullptr};
  uint32_t mask = 0;   // lanes executing now
  uint32_t carry = 0;  // the carry flag of add.cc and its kind, one bit per lane
  int32_t budget = 0;  // backward branches left before the warp yields
  Stop stop = Stop::reschedule;
  uint8_t* shared = nullptr;
  uint32_t shared_size = 0;
  uint32_t shared_start = 0;  // the address of its first byte: the block's rank << kRankShift
  uint32_t local_size = 0;    // bytes per thread
  // 4-byte words interleaved by lane: word w of lane l at (w * 32 + l) * 4.
  uint8_t* local = nullptr;
  Worker* worker = nullptr;
  Block* block = nullptr;
  const uint8_t* params = nullptr;

  Frame* frame = nullptr;  // of the running fragment
  uint32_t present = 0;    // lanes that exist
  uint32_t exited = 0;     // lanes that are gone (or never were)
  uint32_t arrived = 0;    // lanes that wait, or will, for this phase of the cluster's barrier
  uint32_t index = 0;      // in the block
  uint32_t current = 0;    // running fragment
  bool sync_open = false;  // the running .sync instruction has all its lanes: do not gather again
  // It has used atomics or volatile loads in this turn: it may be waiting for somebody.
  bool polls = false;
  int32_t turn = 0;            // how long the next turn may be
  uint32_t next_fragment = 0;  // where the scheduler looks first
  std::vector<Fragment> fragments;
  std::vector<Join*> joins;  // live ones
  // Activations of called functions; the entry's is first.
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::unique_ptr<Frame>> spare_frames;  // of calls that have returned
  std::vector<std::unique_ptr<Join>> join_pool;
  std::vector<Join*> free_joins;
  AsyncQueue async;       // copies under way
  ProductQueue products;  // of wgmma, not made yet

  template <class T>
  T* reg(uint32_t operand) {
    return reinterpret_cast<T*>(base[0] + operand);
  }
  template <class T>
  const T* src(uint32_t operand) const {
    return reinterpret_cast<const T*>(base[operand >> 31] + (operand & ~kConstantBit));
  }
  uint32_t pred(uint32_t operand) const {
    const uint32_t bits = *src<uint32_t>(operand & ~kNegatedBit);
    return operand & kNegatedBit ? ~bits : bits;
  }
  void set_pred(uint32_t operand, uint32_t bits) {
    uint32_t& p = *reg<uint32_t>(operand);
    p = (p & ~mask) | (bits & mask);
  }
};

struct Barrier {
  uint32_t arrived = 0;      // threads
  uint32_t expected = 0;     // 0: nobody has arrived yet
  bool whole_block = false;  // expected is all threads: exited ones count as arrived
  bool any = false, all = true;
  uint32_t count = 0;  // bar.red accumulators
};

struct Block {
  const GridRun* grid = nullptr;
  Cluster* cluster = nullptr;
  uint32_t rank = 0;  // in the cluster
  bool ended = false;  // all its threads are gone
  bool left = false;   // so is its shared memory: since its end, the cluster has had a turn
  uint64_t index = 0;
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t threads = 0;
  uint32_t exited_threads = 0;  // of whole warps' lanes, absent ones included
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;  // those that use wgmma
  std::array<Barrier, 16> barriers;
  uint32_t open_barriers = 0;  // those somebody has arrived at, a bit each
  bool progressed = false;     // an mbarrier has changed: warps that wait for one may not be stuck
  bool triggered = false;      // it has let dependent grids begin
  bool has_waited = false;     // for the grids that this one depends on
  RegisterPool pool;           // setmaxnreg
  Buffer registers, shared, local;
};

// Blocks that run together, on one worker, and see each other's shared memory. Without a cluster
// launch every block is a cluster of its own.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;  // by rank
  // barrier.cluster: live threads that have arrived in this phase, and those that have left for
  // good (lanes that never were included). Who has left counts as arrived.
  uint32_t arrived = 0, exited = 0;
  bool moved = false;          // a block has let another one go on
  uint32_t turns_in_vain = 0;  // see waits_for_registers_in_vain
};

// A range of memory an instruction was last seen to touch, already checked, and how far from its
// addresses its bytes lie (Allocations::shift).
struct alignas(32) CheckedRange {  // as far apart as instructions are: see range_of
  uint64_t begin = 1, end = 0, shift = 0;
};

// A texture or surface object that was found under these epochs.
struct KnownObject {
  uint64_t handle = 0, objects_epoch = 0, memory_epoch = 0;
  texture::ObjectRef object;
};

// One CPU thread running blocks of one launch.
struct Worker {
  Engine* engine = nullptr;
  const Allocations* memory = nullptr;
  GridRun* grid = nullptr;
  unsigned index = 0;
  uint64_t epoch = 0;
  std::array<CheckedRange, 64> ranges;
  uint64_t places[32];  // by lane: where check_global found what lies in several ranges
  std::array<KnownObject, 8> objects;  // by handle
  uint64_t warp_instructions = 0, thread_instructions = 0;
  Fault fault;
};

// --- what handlers call ---

// A lane did something the hardware would fault on. Records the report and returns nullptr for the
// handler to return.
const Inst* raise(Warp& w, const Inst* inst, FaultKind kind, uint32_t lane, uint64_t address,
                  uint32_t size, const char* what);

// Whether a live allocation holds all of global memory [begin, end); remembers it for `inst`.
bool check_range(Warp& w, const Inst* inst, uint64_t begin, uint64_t end);
// Where it does not: whether a GPU lets the access pass all the same, and nobody wants to stop
// there (EngineOptions::strict). Says so, once for each line of the source. The bytes lie at
// Allocations::place.
bool passes_on_a_gpu(Warp& w, const Inst* inst, uint32_t lane, uint64_t address, uint32_t size,
                     const char* what);

// What is wrong with a shared address that is not in the block's own memory; null: it is a peer's.
const char* wrong_shared(const Warp& w, uint32_t address, uint64_t bytes);
// Where the byte at a shared address lies in this process: the block's own, or that of a peer,
// which wrong_shared was asked about.
uint8_t* shared_place(const Warp& w, uint32_t address);

inline CheckedRange& range_of(const Warp& w, const Inst* inst) {
  return w.worker->ranges[(reinterpret_cast<uintptr_t>(inst) >> 5) & 63];
}
inline bool range_is_known(const Warp& w, const Inst* inst, uint64_t begin, uint64_t end) {
  const CheckedRange& r = range_of(w, inst);
  return begin >= r.begin && end <= r.end;
}
// Where the byte at an address lies in this process, once its range is known.
inline uint8_t* known_place(const Warp& w, const Inst* inst, uint64_t address) {
  return reinterpret_cast<uint8_t*>(address + range_of(w, inst).shift);
}

}  // namespace ridge::vm
