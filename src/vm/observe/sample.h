// Which blocks stand for all of a launch.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace ridge::vm::observe {

// Blocks are run in rounds that each could stand for the launch by itself. How much the rounds
// differ says how far off their sum may be; where that is too far, further rounds follow.
class Sample {
 public:
  using Work = std::array<double, 3>;  // what the blocks so far have done, in several measures

  // About `count` of `blocks`, and no more than 8 times as many.
  Sample(uint64_t blocks, uint64_t count, uint64_t seed);

  // The blocks of the next round, in ascending order; none: it is enough. `work` is that of all
  // rounds so far. Blocks of `has_run`, by block, have run for somebody else and are not taken.
  std::vector<uint64_t> next(const Work& work, const std::vector<bool>& has_run = {});
  uint64_t blocks() const { return chosen_.size(); }  // of all rounds so far
  // The standard error of the whole, as a part of it.
  double error() const;

 private:
  bool take(uint64_t block, const std::vector<bool>& has_run);
  std::vector<uint64_t> pick(uint64_t count, const std::vector<bool>& has_run);
  std::vector<uint64_t> rest(const std::vector<bool>& has_run);

  const uint64_t blocks_, count_;
  uint64_t state_;
  std::unordered_set<uint64_t> chosen_;
  Work before_ = {};
  uint64_t under_way_ = 0;        // blocks of the last round
  std::vector<Work> of_a_block_;  // by round
};

}  // namespace ridge::vm::observe
