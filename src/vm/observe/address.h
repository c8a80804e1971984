// What is known of a function's registers without running it: each as a sum of unknowns and a
// constant, and which of its bits are zero. Two addresses with the same unknowns differ by a known
// number of bytes, which is what a compiler needs to make one wide access of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::observe {

// A sum of unknowns, each times a factor, and a constant; modulo 2^32 or 2^64.
struct Sum {
  std::vector<std::pair<uint32_t, uint64_t>> terms;  // unknown, factor; sorted, no factor is 0
  uint64_t constant = 0;

  bool operator==(const Sum&) const = default;
};

class Addresses {
 public:
  // `shared` are the places of the variables that share a block's memory.
  Addresses(const Function& function, const std::unordered_map<const Variable*, uint32_t>& shared);

  // The address that a memory instruction's operand names; meaningful for an instruction that can
  // be reached.
  const Sum& of(const Instruction& instruction) const;
  // The largest power of two that is known to divide the sum of a Sum's unknowns.
  uint64_t alignment(const Sum& sum) const;
  // Whether the instruction begins a basic block.
  bool begins_block(size_t instruction) const { return begins_[instruction]; }

 private:
  struct Unknown {
    uint64_t zeros = 0;     // bits known to be zero
    bool is_place = false;  // of a variable: bits of sums with it are not looked into
  };
  using Values = std::map<int32_t, Sum>;

  void find_blocks();
  bool pass();  // true when it learnt something new
  Sum evaluate(const Instruction& ins);
  Sum value(const Operand& op, int bits);
  Sum address(const Operand& op);
  Sum unknown(const std::string& name, uint64_t zeros, bool is_place = false);
  Sum fresh(int32_t reg);
  uint64_t zeros(const Sum& sum, int bits) const;
  std::string name(const Sum& sum) const;

  const Function& function_;
  const std::unordered_map<const Variable*, uint32_t>& shared_;
  std::vector<bool> begins_;
  std::vector<int64_t> only_predecessor_;  // by the block's first instruction; -1: none or several
  std::vector<uint32_t> writes_;           // by register: how many instructions write it
  std::vector<uint64_t> merged_zeros_;     // by register: zero after every write
  std::map<std::string, uint32_t> names_;
  std::vector<Unknown> unknowns_;
  std::vector<std::optional<Sum>> once_;            // of registers that are written once
  Values values_;                                   // of the others, as the pass stands
  std::map<size_t, Values> at_end_;                 // of a block, by its last instruction
  std::unordered_map<const Instruction*, Sum> of_;  // memory instructions
  size_t block_ = 0;
};

}  // namespace ridge::vm::observe
