// Which blocks of a launch run if only its time is wanted.
//
// Blocks start in their order, as many at a time as the GPU holds: a wave. Whole waves from the
// first block on show what blocks share in the second cache; single blocks from all over the grid
// show whether blocks differ in their work. A kernel whose blocks learn from each other can rely on
// earlier blocks only (later ones might not have started), so of such a kernel only the first waves
// run.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::vm::timing {

class Waves {
 public:
  Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool communicates);

  // Which blocks to run next, in ascending order. None at first: all of them. None later: enough.
  std::vector<uint64_t> next(bool enough);
  uint64_t end() const { return end_; }  // all blocks before it run, or have run
  // The wave that is followed beside the first one.
  uint64_t second() const { return second_; }
  // Blocks that did not run are like the next one before or behind them that did.
  void fill_gaps(std::vector<float>& of_block) const;

 private:
  uint64_t blocks_, wave_, sms_, second_, end_ = 0;
  std::vector<uint64_t> single_;  // those behind the first wave, in ascending order
};

}  // namespace ridge::vm::timing
