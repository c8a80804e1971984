// Which blocks of a launch run if only its time is wanted, and which of them to their end.
//
// Blocks start in their order, as many at a time as the GPU holds: a wave. First those run that one
// SM has of two waves, whose every instruction is written down. Then whole waves from the first
// block on show what blocks share in the second cache: each block only as far as it takes to fill
// that cache. Single blocks from all over the grid show whether blocks differ in their work.
//
// A launch of few instructions runs completely, so that the next one finds what it wrote.
//
// A kernel whose blocks wait for others can wait for earlier blocks only (later ones might not have
// started), so of such a kernel the first waves run, and all of their blocks to the end.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::vm::timing {

// The block that one SM gets when each SM gets its `turn`th one. It is not always the first of
// these: a kernel may give other work to every second or fourth block.
uint64_t block_of_sm(uint64_t turn, uint64_t sms, uint64_t blocks);

class Waves {
 public:
  Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool may_wait);

  // Which blocks to run next, in ascending order. None at first: all of them. None later: enough.
  // `issued`: instructions of each block that ran to its end so far, 0 of others.
  std::vector<uint64_t> next(bool enough, const std::vector<float>& issued);
  // Whether only blocks run now whose every instruction is written down.
  bool is_following() const { return stage_ == Stage::spread; }
  bool runs_all() const { return runs_all_; }
  bool may_wait() const { return may_wait_; }
  uint64_t end() const { return end_; }  // all blocks before it run, or have run
  // Whether the block is to run to its end.
  bool is_whole(uint64_t block) const;
  // The wave that is followed beside the first one.
  uint64_t second() const { return second_; }
  // Blocks that did not run to their end are like the one of their part of the grid that did, or
  // like the one before them.
  void fill_gaps(std::vector<float>& of_block) const;

 private:
  std::vector<uint64_t> without_single(uint64_t from, uint64_t end) const;
  std::vector<uint64_t> spread(const std::vector<float>& issued);
  bool is_cheap(const std::vector<float>& issued) const;
  std::vector<uint64_t> typical(const std::vector<float>& issued);

  uint64_t blocks_, wave_, sms_;
  bool may_wait_, runs_all_, is_cheap_ = false;
  uint64_t second_, end_ = 0;
  enum class Stage : uint8_t { first, spread, typical, waves, all } stage_ = Stage::first;
  std::vector<uint64_t> single_;  // in ascending order
  std::vector<uint64_t> spread_;  // from all over the grid, in ascending order
};

}  // namespace ridge::vm::timing
