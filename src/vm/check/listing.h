// A function's PTX as a graph: what each instruction reads and writes, where control goes on, which
// registers and addresses are the same. Made once per function, when something is asked about it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::check {

class Listing {
 public:
  static constexpr uint32_t kNone = ~0u;

  explicit Listing(const Function& function);

  uint32_t size() const { return uint32_t(nodes_.size()); }
  // kNone for an instruction that is not the function's (the decoder adds some).
  uint32_t index_of(const Instruction* source) const;
  const Instruction& at(uint32_t i) const { return function_.instructions[i]; }
  const std::vector<int32_t>& defs(uint32_t i) const { return nodes_[i].defs; }
  const std::vector<int32_t>& uses(uint32_t i) const { return nodes_[i].uses; }
  const std::vector<uint32_t>& next(uint32_t i) const { return nodes_[i].next; }
  // From its row: which instruction it is ("add"), what it does, what its modifiers say.
  std::string_view root(uint32_t i) const { return at(i).match ? at(i).match->root : ""; }
  const Facts& facts(uint32_t i) const { return at(i).match ? at(i).match->facts() : kRegs; }
  const Form& form(uint32_t i) const;
  // Whether its result may be any value: loaded, another thread's, a function's.
  bool is_opaque(uint32_t i) const;

  const std::vector<uint32_t>& writers(int32_t reg) const { return writers_[size_t(reg)]; }
  const std::vector<uint32_t>& readers(int32_t reg) const { return readers_[size_t(reg)]; }
  // The one instruction that writes the register; kNone where there are several, or a guard may
  // leave the old value standing.
  uint32_t only_writer(int32_t reg) const;

  // What an instruction's address is made of. Equal addresses are the same place in memory as
  // long as the registers behind them do not change.
  struct Address {
    uint64_t base = 0;
    const Variable* variable = nullptr;
    int64_t offset = 0;
    bool operator==(const Address&) const = default;
  };
  std::optional<Address> address(uint32_t i) const;
  bool same_value(int32_t a, int32_t b) const { return value_of(a, 0) == value_of(b, 0); }

  // Runs of instructions that are executed together.
  uint32_t block_of(uint32_t i) const { return block_of_[i]; }
  bool dominates(uint32_t block, uint32_t other) const;
  bool is_back_edge(uint32_t from, uint32_t to) const;

  // Whether control can come from behind `from` to `to` without passing an instruction that
  // `stops`: within a turn of every loop around them, or by way of another turn.
  struct Paths {
    bool within_turn = false, by_turn = false;
  };
  Paths paths(uint32_t from, uint32_t to, const std::function<bool(uint32_t)>& stops) const;
  // Whether the loop from `head` to the jump back at `tail` writes memory that others see.
  bool loop_stores(uint32_t tail, uint32_t head) const;

 private:
  struct Node {
    std::vector<int32_t> defs, uses;
    std::vector<uint32_t> next;
  };
  void find_blocks();
  void find_dominators();
  uint64_t value_of(int32_t reg, int depth) const;

  const Function& function_;
  std::vector<Node> nodes_;
  std::vector<std::vector<uint32_t>> writers_, readers_;
  std::vector<uint32_t> block_of_, begins_;
  std::vector<std::vector<uint32_t>> predecessors_;  // of blocks
  std::vector<uint32_t> dominator_;                  // immediate, of blocks; the entry's is itself
  mutable std::unordered_map<int32_t, uint64_t> values_;
};

}  // namespace ridge::vm::check
