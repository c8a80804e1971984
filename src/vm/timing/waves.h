// Which blocks of a launch run if only its time is wanted, and which of them to their end.
//
// Blocks start in their order, as many at a time as the GPU holds: a wave. First those run that one
// SM has of two waves, whose every instruction is written down. Then whole waves from the first
// block on show what blocks share in the second cache: each block only as far as it takes to fill
// that cache. Single blocks from all over the grid show whether blocks differ in their work.
//
// A kernel whose blocks learn from each other can rely on earlier blocks only (later ones might not
// have started), so of such a kernel the first waves run, and all of their blocks to the end.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::vm::timing {

class Waves {
 public:
  Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool communicates);

  // Which blocks to run next, in ascending order. None at first: all of them. None later: enough.
  // `issued`: instructions of the blocks that ran so far.
  std::vector<uint64_t> next(bool enough, double issued);
  bool runs_all() const { return runs_all_; }
  uint64_t end() const { return end_; }  // all blocks before it run, or have run
  // Whether the block is to run to its end.
  bool is_whole(uint64_t block) const;
  // The wave that is followed beside the first one.
  uint64_t second() const { return second_; }
  // Blocks that did not run to their end are like the one before them that did.
  void fill_gaps(std::vector<float>& of_block) const;

 private:
  std::vector<uint64_t> without_single(uint64_t from, uint64_t end) const;

  uint64_t blocks_, wave_;
  bool communicates_, runs_all_;
  uint64_t second_, end_ = 0;
  enum class Stage : uint8_t { followed, spread, waves } stage_ = Stage::followed;
  std::vector<uint64_t> single_;  // in ascending order
};

}  // namespace ridge::vm::timing
