// Makes the statements of a program. Plain statements are in generate.cpp, those that touch memory
// in generate_memory.cpp, those that exchange lanes or branch in generate_flow.cpp.
#pragma once

#include <string>
#include <vector>

#include "pools.h"
#include "program.h"
#include "random.h"
#include "rows.h"

namespace ridge::differential {

// Where a statement stands, as far as it decides what may stand there.
struct Context {
  uint32_t depth = 0;     // of control flow: %m<depth>, %c<depth> … are this level's
  bool uniform = true;    // all threads of the block are here: barriers may be
  bool masked = true;     // %m<depth> holds exactly the lanes of this warp that are here
  bool full = true;       // … and they are all 32
  bool function = false;  // in a function, not in the kernel
  uint32_t work = 1;      // how often this is executed, at most
  // The label that a break, a continue or an early return jumps to; empty where none may.
  std::string leave;
  std::string rejoin_mask;  // a mask that a lane which leaves has to be taken out of, too
  std::string mask() const { return "%m" + std::to_string(depth); }
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed * 0x2545f4914f6cdd1d + 1) {
    program_.seed = seed;
  }
  Program run();

 private:
  std::vector<Node> statements(uint32_t count, const Context& at);
  Node statement(const Context& at);
  Node node() {
    Node n;
    n.id = program_.nodes++;
    return n;
  }
  Node leaf(std::string text) {
    Node n = node();
    n.arms.push_back({std::move(text), {}});
    return n;
  }

  // generate.cpp
  std::string spelling(std::string_view pattern);
  std::string operand(std::string_view& pattern, bool destination);
  std::string reg(char letter);
  std::string immediate(char letter);
  std::string guard(uint32_t percent);
  Node row();
  Node division();
  Node carry_chain();
  Node packing();
  Node special();
  // generate_memory.cpp
  Node scratch_access();
  Node input_load();
  Node constant_load();
  Node accumulate();
  Node private_atomic();
  Node exchange_in_block();
  Node exchange_in_warp(const Context& at);
  std::string scratch_address(uint32_t size, bool& generic, std::string& space);
  // generate_flow.cpp
  Node collective(const Context& at);
  Node shuffle(const Context& at);
  Node barrier(const Context& at);
  Node branch(const Context& at);
  Node loop(const Context& at);
  Node table_branch(const Context& at);
  Node leave(const Context& at);
  Node call(const Context& at);
  std::string member_lane(const Context& at);

  Program program_;
  Random random_;
  std::vector<bool> masked_functions_;  // those that need to know their lanes
};

}  // namespace ridge::differential
