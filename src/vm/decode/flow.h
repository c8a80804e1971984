// Control flow of one function: instructions as items, basic blocks, immediate post-dominators,
// liveness and slots.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm {

// An instruction on its way through the decoder. Guards on instructions that wait or jump have
// become branches by now.
struct Item {
  enum class Kind : uint8_t { op, jump, branch, exit, ret, call, brx };
  Kind kind = Kind::op;
  const Instruction* source = nullptr;
  const Match* match = nullptr;
  int32_t guard = -1;
  bool guard_negated = false;
  uint32_t target = 0;                     // jump, branch: an item index
  uint8_t counts = 1;                      // PTX instructions it stands for
  std::vector<const Instruction*> merged;  // further loads that this one does too
  std::vector<int32_t> defs, uses;         // registers
};

struct BasicBlock {
  uint32_t begin = 0, end = 0;  // items
  std::vector<uint32_t> successors;
  int32_t post_dominator = -1;  // block index; -1: the function's end
  bool is_join = false;         // some branch reconverges here
};

struct FlowGraph {
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> block_of;  // by item
};

FlowGraph build_flow(const std::vector<Item>& items, const Function& function,
                     const std::vector<std::vector<uint32_t>>& tables);

// The bits of an immediate where an operand of this type is expected.
uint64_t immediate_bits(const Operand& op, Type type);

// The lane width a type's values have in registers: 2, 4 or 8 bytes (8-bit values in 2), 0 for a
// predicate.
int lane_bytes(Type type);

// Which registers hold something that is still needed where a block begins and ends: one bit per
// register, by block.
struct Liveness {
  std::vector<std::vector<uint64_t>> live_in, live_out;
};
Liveness find_liveness(const std::vector<Item>& items, const FlowGraph& flow, size_t registers);

// A byte offset in the frame for every register; registers never live together may share one of
// their own width, and only of their own: two widths in one place would let the lanes of divergent
// fragments overlap.
struct Slots {
  std::vector<uint32_t> offset;  // by register
  uint32_t frame_bytes = 0;
  uint32_t peak_words = 0;  // 32-bit words live at once
};
// `reserved` bytes at the start of the frame are the decoder's own.
Slots assign_slots(const std::vector<Item>& items, const FlowGraph& flow,
                   const std::vector<Register>& registers, uint32_t reserved);

}  // namespace ridge::vm
