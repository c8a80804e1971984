// Loops whose end can be foreseen while they run: a counter moves by the same amount from turn to
// turn, towards a bound that stays. So a block that does the same again and again need not run to
// its end for its time to be known. Only a loop that is inside no other, and that no other loop of
// its length follows, says how much of its kernel is left.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vm/decode/code.h"
#include "vm/exec/warp.h"
#include "vm/observe/plan.h"

namespace ridge::vm::timing {

// The comparisons of a function that end such loops.
class Loops {
 public:
  Loops() = default;
  Loops(const Code& code, const observe::Plan& plan);

  struct End {
    uint32_t length;  // instructions of the loop's body
    bool is_wide, is_signed;
  };
  const End* at(uint32_t step) const {
    const auto found = ends_.find(step);
    return found == ends_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<uint32_t, End> ends_;  // by decoded instruction
};

// Whether a block may wait for another one: a loop asks for what others write.
bool may_wait(const Code& code, const observe::Plan& plan);

// Whether what a block does may depend on which others have run before it.
bool asks_others(const observe::Plan& plan);

// What a warp has seen of its loops.
class Foreseen {
 public:
  void clear() { loops_.clear(); }
  // The warp is about to make the comparison, after so many instructions.
  void note(const Loops::End& end, const Warp& w, const Inst* inst, double executed);
  // How many instructions are left. False: it cannot be known.
  bool knows(double& left) const;

 private:
  struct Loop {
    const Inst* at;
    uint32_t length;
    int64_t value, bound, step = 0;
    double first, last;  // instructions that were executed before the first turn, and this one
    uint32_t turns = 0, alike = 0;  // alike: since the step changed last
  };
  std::vector<Loop> loops_;
};

}  // namespace ridge::vm::timing
