// What the warps of one SM did in a launch, as the model of time reads it: which machine
// instructions, in which order, and where their accesses went.
//
// A warp's stream is a list of 32-bit words: the number of a step, then, for each access that the
// step makes, the turns that it takes in shared memory or in the first cache (of an atomic on
// global memory: its lanes; of constant memory: its different words), its number of cache lines,
// and two words per line: the line's number and, in the highest four bits, which of its sectors.
// Asynchronous work has accesses of the same form, which mean something else:
//
//   bulk_load, bulk_store    the bytes; the lines
//   signal, wait_phase       0; per mbarrier its address in shared memory and the phase's number
//   lands                    the same, for the warp's last bulk load
//   delivered                the same for a copy that another block of the cluster has asked for
//                            (multicast): its bytes; the mbarrier
//   arrived                  the same for arrivals and stores of other blocks of the cluster
//   named_barrier            which, and whether the warp waits (1) or only arrives (0); one pair:
//                            the threads it is for, nothing
//
// Bytes that go between SMs are a line without sectors, whose number is their count.
// A step that no lane executes has a mark and no accesses: ptxas has no branch around a short body,
// so the step takes its slots.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ridge::model {

enum class Pipe : uint8_t { none, fma, fma_heavy, alu, fp64, sfu, lsu, tensor, control };
inline constexpr int kPipes = 9;
inline constexpr uint32_t kSwitchedOff = 1u << 31;

// One machine instruction.
struct Op {
  enum class Kind : uint8_t {
    arithmetic,
    load,
    store,
    atomic,
    reduction,
    copy,
    constant,       // a load from constant memory at a place that is in a register
    barrier,        // of the whole block
    named_barrier,  // of some of its warps
    cluster_arrive,
    cluster_wait,
    commit_copies,  // of cp.async
    wait_copies,
    bulk_load,  // by the copy engine, as the next three
    bulk_store,
    commit_bulk,
    wait_bulk,
    product,         // of a warpgroup, as the next three
    fence_products,  // its four warps meet: a product starts when all of them have come to it
    commit_products,
    wait_products,
    signal,      // an arrival at an mbarrier
    wait_phase,  // until a phase of one is over
    lands,       // no instructions, but what happens because of others
    delivered,
    arrived
  };
  Kind kind = Kind::arithmetic;
  Pipe pipe = Pipe::none;
  float issues = 1;      // slots of its scheduler; a part of one where ptxas unrolls a loop
  uint8_t accesses = 0;  // that follow its step in the stream
  bool bypasses_l1 = false;
  bool is_shared = false;    // its access stays on the SM
  bool may_use_fma = false;  // an addition, say: ptxas gives it to the pipe that has less to do
  bool is_float = false;     // of atomics
  bool only_read = false;    // wait_bulk: until the stores have read their source
  uint8_t newest =
      0;            // of waits: so many groups may still be under way; 255: all, committed or not
  float stall = 0;  // cycles that the warp itself takes: of fences
  float operands = 0;  // of products: cycles that shared memory takes to bring them
  // What ptxas does not move instructions across: a branch, a barrier; `repeats`: the branch of a
  // short loop, which it unrolls so often.
  bool ends = false;
  uint8_t repeats = 1;
  float busy = 0;                  // cycles that its pipe is taken
  float latency = 0;               // cycles until the result can be used
  uint16_t reads = 0, writes = 0;  // how many registers
  uint32_t registers = 0;          // where they begin in Work::registers: first those it reads
};

// One instruction of the decoded program: machine instructions that follow each other.
struct Step {
  uint32_t op = 0;
  uint32_t ops = 0;
};

struct OpTraffic {                   // of all blocks that were run
  uint64_t sectors = 0, misses = 0;  // sectors that came to the L2, and those not found there
  uint64_t fetched = 0;              // sectors that DRAM brings for those
  uint64_t dirtied = 0;              // sectors that are to be written back because of it
  bool is_steady = false;            // counted after the L2 had filled
  // Of atomics: different words, as far as they were counted; the lowest one tells those ops that
  // go to the same words.
  uint64_t words = 0, lowest_word = 0;
  double bytes = 0, stored = 0;  // of stores: bytes of all lanes, and sectors that they went to
  // Of stores: the lowest op of those that write to the same sectors. An unrolled loop writes the
  // parts of a sector by one instruction each.
  uint32_t with = 0;
};

struct Work {
  std::string kernel;
  uint64_t blocks = 0;  // of the launch
  uint64_t blocks_run = 0;
  uint32_t block_threads = 0, cluster = 1;
  uint32_t registers_per_thread = 0, shared_bytes = 0;
  uint32_t register_count = 0;  // different registers of all functions
  std::vector<Op> ops;
  std::vector<Step> steps;
  std::vector<uint32_t> registers;
  std::vector<OpTraffic> traffic;  // by op
  uint64_t written_sectors = 0;    // different ones, of blocks_run
  struct Block {
    std::vector<std::vector<uint32_t>> warps;
    double followed = 0, cut = 0;  // steps that are in the streams, and those for which they ended
    double issued = 0;             // machine instructions of all its warps
    // By mbarrier and phase (phase_key): signals and copies in the streams that complete it.
    std::unordered_map<uint64_t, uint32_t> signals = {};
  };
  std::vector<Block> sm;                      // blocks of one SM in the order they start
  std::unordered_set<uint64_t> common_lines;  // that several of them touch
  std::vector<float> issued;                  // machine instructions of each block of the launch
  // Why the time may be further off than usual: sentences, and by how much the band is wider.
  std::vector<std::string> notes;
  double band = 1;
};

// Fills in Work::common_lines from the streams.
void find_common_lines(Work& work);

// A phase of an mbarrier of one block.
constexpr uint64_t phase_key(uint32_t address, uint32_t phase) {
  return uint64_t(address) << 32 | phase;
}

}  // namespace ridge::model
