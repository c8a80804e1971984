// Products of wgmma that a warp has started and not waited for, and what its registers have to do
// with them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace ridge::vm {
struct Code;
struct Inst;
}  // namespace ridge::vm

namespace ridge::vm::check {

// One warp's.
struct Products {
  static constexpr uint32_t kNever = ~0u;

  struct Product {
    const Inst* inst = nullptr;
    uint32_t site = 0;
    uint64_t group = 0;
    uint64_t a = 0, b = 0;  // descriptors
  };
  // What a register's place holds. Products are named by their numbers, which begin with 1.
  struct Place {
    uint32_t sum_of = 0;   // the accumulator of this product
    uint32_t read_by = 0;  // a fragment of A for this one
    // What was a fragment of A for this product was overwritten before it was waited for. Compilers
    // use a register again as soon as nobody else reads it; ptxas finds another one. It cannot if a
    // further product reads the new value before the wait.
    uint32_t late_for = 0, late_site = 0;
    // A move has put the accumulator of this product here before it was waited for.
    uint32_t copy_of = 0, copy_site = 0;
    // After how many wgmma.fence it was last written, and last used, by ordinary instructions or a
    // product.
    uint32_t written = kNever, write_site = 0, used = kNever;
  };

  const Code* code = nullptr;  // of the places
  std::vector<Place> places;
  std::deque<Product> under_way;  // the first one is number done + 1
  uint32_t done = 0, last = 0;    // products
  uint32_t told = 0;              // up to this one, a hazard was reported
  uint64_t group = 0;             // the open one
  uint32_t fences = 0;

  bool is_under_way(uint32_t product) const { return product > done && product > told; }
  const Product& operator[](uint32_t product) const { return under_way[product - done - 1]; }
};

// What the four warps of a warpgroup have done together. Hardware makes a product for all of them
// at once: when one has waited for it, it has read its matrices. The warpgroup is one more party
// beside the warps of the block, with a column of its own in what warps know of each other
// (knowledge.h). Its ticks are the products.
struct WarpgroupProducts {
  uint32_t column = 0;  // 0: it has not multiplied yet
  uint32_t done = 0;    // products that a warp has waited for
};

}  // namespace ridge::vm::check
