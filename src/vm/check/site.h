// What an instruction means to the checker, read off its row once, and where it stands in the
// source.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/check/definedness.h"
#include "vm/check/listing.h"
#include "vm/check/touches.h"
#include "vm/decode/program.h"

namespace ridge::vm::check {

enum class Act : uint8_t {
  none,
  load,
  store,
  atomic,
  load_matrix,  // ldmatrix, stmatrix: a row of 16 bytes for each of the first lanes
  store_matrix,
  load_tile,  // wmma.load, wmma.store
  store_tile,
  copy,        // cp.async
  bulk_copy,   // cp.async.bulk to shared memory
  bulk_store,  // from shared memory
  copy_wait,
  bulk_wait,    // for bulk stores
  copy_arrive,  // cp.async.mbarrier.arrive
  fence,
  proxy_fence,  // between ordinary accesses and bulk copies
  barrier,      // of the block
  meet,         // __syncwarp
  lanes,        // other .sync instructions
  token_init,   // mbarrier
  token_end,
  token_arrive,
  token_wait,
  grid_wait,        // griddepcontrol.wait
  load_speculated,  // a load that counts only where its value can matter
  decide,           // what that depends on is known now
  turn,             // a loop begins again
  product,          // wgmma.mma_async
  product_fence,
  product_commit,
  product_wait,
  touch,  // of a register that a wgmma uses, and nothing else
  cluster_arrive,
  cluster_wait,
  leave,  // the kernel; only where blocks of a cluster may see each other
};

struct Site {
  Act act = Act::none;
  Space space = Space::generic;
  uint8_t bytes = 0;    // per lane
  uint8_t element = 4;  // bytes of what a store takes out of one register
  uint8_t rows = 0;     // load_matrix, store_matrix: lanes that name one
  bool strong = false, acquires = false, releases = false;
  bool merged = false;   // several loads in one (src/vm/decode/merge.cpp)
  bool returns = false;  // an atomic with a result
  bool blind = false;    // an atomic that does not ask what was there (exch)
  bool block_scope = false;
  bool aligned = false;  // a barrier that whole warps must reach together
  bool writes = false;   // of a barrier: it counts (bar.sync id, n); of a store: always
  // It acts, and besides: what speculated loads depend on is known before it; it touches registers
  // that a wgmma uses; it stands behind all barriers of the cluster.
  uint8_t besides = 0;
  static constexpr uint8_t kDecides = 1, kTouches = 2, kBehind = 4;
  bool is_volatile = false;
  bool in_step = false;    // a volatile load, not of a flag: its warp may be taken for ordered
  uint8_t mask_field = 0;  // lanes: which operand is the member mask; 0: a, 1: b, 2: c, 3: x[0]
  uint16_t id = 0;         // in Sites; 0: none left
  uint8_t shuffle = 0;     // lanes: 1 and the mode of a shuffle (../isa/shuffle.h)
  const Variable* array = nullptr;  // load, store, atomic: the __shared__ array it must stay in
  uint32_t array_begin = 0, array_end = 0;  // where that lies in shared memory
  static constexpr uint16_t kNoParam = 0xffff;
  uint16_t param = kNoParam;  // of the kernel: points to the global memory that it accesses
};

struct Spot {
  std::string file;
  uint32_t line = 0;
  bool operator==(const Spot&) const = default;
};

struct SiteInfo {
  std::string kernel;  // where it was first met
  std::string file;    // empty without -lineinfo
  uint32_t line = 0, column = 0;
  std::string inside;       // "file:line" of what stands there, inlined; innermost first
  std::vector<Spot> calls;  // from the kernel's own line to this one, where functions were inlined
  uint32_t ptx_line = 0;
  std::string mnemonic;
  Act act = Act::none;
  bool speaks_to_host = false;      // its kernel uses volatile accesses or fences of the system
  const Code* code = nullptr;       // null: the host's
  uint32_t index = Listing::kNone;  // in the function's PTX
  std::vector<uint32_t> indices;    // that, and of the loads that were merged with it
};

// The sites of one function's instructions.
struct CodeSites {
  uint64_t program = 0;
  const Inst* first = nullptr;
  std::vector<Site> sites;    // parallel to Code::insts
  std::vector<Act> acts;      // theirs, closer together: most do nothing
  std::vector<uint8_t> told;  // which the checker wants to hear of (Observer::Watch)
  SpeculatedLoads speculated;
  Touches touches;
  std::unique_ptr<Listing> listing;
};

class Sites {
 public:
  // What the host does has no instruction.
  static constexpr uint32_t kCopy = 1, kFill = 2;

  Sites();
  const CodeSites& of(const Code& code);
  SiteInfo info(uint32_t id);
  uint32_t first_of(const Code& code, Act act);  // 0: the function has none

 private:
  std::mutex mutex_;
  std::unordered_map<const Code*, std::unique_ptr<CodeSites>> codes_;
  std::vector<std::unique_ptr<CodeSites>> old_;  // of unloaded programs: somebody may hold them
  std::vector<SiteInfo> infos_;
};

}  // namespace ridge::vm::check
