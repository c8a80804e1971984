#include "vm/observe/sample.h"

#include <algorithm>
#include <cmath>

#include "core/mix.h"

namespace ridge::vm::observe {
namespace {

constexpr uint64_t kRounds = 8, kMostTimes = 8;
constexpr double kGoodEnough = 0.008;  // 2 % is two and a half times as far

}  // namespace

Sample::Sample(uint64_t blocks, uint64_t count, uint64_t seed)
    : blocks_(blocks), count_(count), state_(seed) {}

// Whether it is new.
bool Sample::take(uint64_t block, const std::vector<bool>& has_run) {
  if (chosen_.contains(block) || (!has_run.empty() && has_run[block])) return false;
  chosen_.insert(block);
  return true;
}

// The launch is cut into as many pieces, and each gives one block by chance, so that edges and
// interior, early and late have their share.
std::vector<uint64_t> Sample::pick(uint64_t count, const std::vector<bool>& has_run) {
  std::vector<uint64_t> out;
  const uint64_t small = blocks_ / count, larger = blocks_ % count;
  uint64_t begin = 0;
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t size = small + (k < larger);
    const uint64_t block = begin + next_mixed(state_) % size;
    if (take(block, has_run)) out.push_back(block);
    begin += size;
  }
  return out;
}

std::vector<uint64_t> Sample::rest(const std::vector<bool>& has_run) {
  std::vector<uint64_t> out;
  for (uint64_t block = 0; block < blocks_; ++block)
    if (take(block, has_run)) out.push_back(block);
  return out;
}

std::vector<uint64_t> Sample::next(const Work& work, const std::vector<bool>& has_run) {
  if (under_way_) {
    Work each;
    for (size_t k = 0; k < each.size(); ++k) each[k] = (work[k] - before_[k]) / double(under_way_);
    of_a_block_.push_back(each);
    before_ = work;
  }
  std::vector<uint64_t> round;
  const uint64_t done = chosen_.size();
  const bool enough =
      of_a_block_.size() >= kRounds && (error() <= kGoodEnough || done >= kMostTimes * count_);
  if (done < blocks_ && !enough) {
    const uint64_t left = count_ > done ? count_ - done : count_;
    const uint64_t size = std::max<uint64_t>(count_ / kRounds, 1);
    round = done > blocks_ / 2 ? rest(has_run)
                               : pick(of_a_block_.size() + 1 == kRounds ? left : size, has_run);
    if (round.empty()) round = rest(has_run);
  }
  under_way_ = round.size();
  return round;
}

double Sample::error() const {
  const auto rounds = double(of_a_block_.size());
  if (rounds < 2 || chosen_.size() == blocks_) return 0;
  double worst = 0;
  for (size_t k = 0; k < Work{}.size(); ++k) {
    double mean = 0, squares = 0;
    for (const Work& work : of_a_block_) mean += work[k] / rounds;
    for (const Work& work : of_a_block_) squares += (work[k] - mean) * (work[k] - mean);
    if (mean > 0) worst = std::max(worst, std::sqrt(squares / (rounds - 1) / rounds) / mean);
  }
  return worst * std::sqrt(1 - double(chosen_.size()) / double(blocks_));
}

}  // namespace ridge::vm::observe
