// Products of wgmma.mma_async that a warp has started and that have not been made.
//
// Hardware may read the operands in shared memory and write the accumulator at any time between the
// instruction and the wait for its group. Here both happen at the latest legal moment, so that a
// program which reads the accumulator or overwrites an operand before it has waited sees that, and
// does not work by luck. Under another schedule (schedule.h) some products are made at once.
//
// The four warps of a warpgroup execute each wgmma together. A warp's part of the product is its 16
// rows of A and D. When the first of them waits for a product, all four parts are made: whoever is
// told then, by one warp alone, that the operands are free may overwrite them. For that the first
// one waits until the others have started the product, too. That all four execute the same
// instructions is checked beside it (Warpgroup).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridge::vm {

struct Block;
struct Code;
struct Inst;
struct Warp;
struct Worker;

struct Product {
  const Inst* inst = nullptr;
  uint8_t* registers = nullptr;  // of the frame that has the accumulator
  uint64_t group = 0;            // which of the warp's groups it belongs to
  bool adds = false;             // D = A B + D; otherwise D = A B
  uint64_t a_descriptor = 0, b_descriptor = 0;
  uint32_t a[4][32];      // A, where it comes from registers: by register and lane
  uint32_t metadata[32];  // of a sparse A
};

class ProductQueue {
 public:
  bool empty() const { return head_ == products_.size(); }
  void clear() { *this = {}; }
  // A product of the open group; the caller fills in its operands.
  Product& push(const Warp& w, const Inst* inst);
  void commit() { ++group_; }
  // Products are numbered from the start of the block. How many are made:
  uint64_t made() const { return made_; }
  // And how many must be, when all groups but the `newest` last ones that were committed are over.
  uint64_t due(uint32_t newest) const;
  // Makes the first `count` products, as far as they were started.
  void make(const Warp& w, uint64_t count);
  void finish(const Warp& w) { make(w, made_ + products_.size() - head_); }

 private:
  std::vector<Product> products_;
  size_t head_ = 0;  // products before it are made
  uint64_t made_ = 0;
  uint64_t group_ = 0;  // the open one
};

// Which products the warps of a warpgroup have started, for as long as one of them lags behind.
class Warpgroup {
 public:
  static constexpr uint32_t kWarps = 4;
  explicit Warpgroup(uint32_t first_warp) : first_warp_(first_warp) {}
  // False if another warp of the group executed a different instruction as its next wgmma.
  bool starts(const Warp& w, const Inst* inst);
  // Whether all its warps have started `count` products. Those that have ended never will; that is
  // told when the block ends.
  bool has_started(const Block& block, uint64_t count) const;
  // The first instruction that another warp has executed and `warp` has not; nullptr: none.
  struct Step {
    const Inst* inst = nullptr;
    const Code* code = nullptr;
  };
  Step missed_by(uint32_t warp) const;

 private:
  uint32_t first_warp_;
  std::vector<Step> steps_;
  uint64_t first_ = 0;  // number of the first one in steps_
  std::array<uint64_t, kWarps> started_{};
};
Warpgroup& warpgroup_of(const Warp& w);
// wgmma.wait_group: makes the products that are due, of all four warps; nullptr: the warp waits
// until the others have started them.
const Inst* wait_for_products(Warp& w, const Inst* inst, uint32_t newest);
// True if the warps of each warpgroup have executed the same products, now that the block has
// ended; otherwise raises a fault.
bool warpgroups_agree(Block& block);

}  // namespace ridge::vm
