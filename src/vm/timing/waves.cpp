#include "vm/timing/waves.h"

#include <algorithm>

#include "core/mix.h"

namespace ridge::vm::timing {
namespace {

// A launch of no more instructions than this runs completely: the next one may go by what it wrote.
constexpr double kCheap = 4e6;
constexpr uint64_t kFew = 2;  // waves: all of their blocks run, if blocks may wait for others
constexpr double kMostSpread = 128;    // blocks from all over the grid
constexpr double kSpreadIssued = 2e6;  // their instructions, more or less

}  // namespace

uint64_t block_of_sm(uint64_t turn, uint64_t sms, uint64_t blocks) {
  const uint64_t first = turn * sms;
  return first + (turn ? mixed(turn) % std::min(sms, blocks - first) : 0);
}

Waves::Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool may_wait)
    : blocks_(blocks),
      wave_(wave),
      sms_(sms),
      may_wait_(may_wait),
      runs_all_(may_wait && blocks <= kFew * wave),
      second_(may_wait ? 1 : 0) {
  if (may_wait) return;
  for (uint64_t turn = 0; turn * sms < std::min(blocks, wave); ++turn)
    single_.push_back(block_of_sm(turn, sms, blocks));
}

bool Waves::is_whole(uint64_t block) const {
  return may_wait_ || is_cheap_ || std::ranges::binary_search(single_, block);
}

std::vector<uint64_t> Waves::without_single(uint64_t from, uint64_t end) const {
  std::vector<uint64_t> chosen;
  for (uint64_t block = from; block < end; ++block)
    if (!std::ranges::binary_search(single_, block)) chosen.push_back(block);
  return chosen;
}

// Blocks from all over the grid, one at a random place of each part.
std::vector<uint64_t> Waves::spread(const std::vector<float>& issued) {
  double each = 0;
  for (const uint64_t block : single_) each += double(issued[block]) / double(single_.size());
  const auto most = uint64_t(std::clamp(kSpreadIssued / std::max(1.0, each), 2.0, kMostSpread));
  std::vector<uint64_t> chosen;
  const double part = double(blocks_) / double(most);
  for (uint64_t i = 0; i < most && blocks_ > 1; ++i) {
    const double at = (double(i) + double(mixed(i + 1) >> 11) * 0x1p-53) * part;
    const auto block = std::min(blocks_ - 1, uint64_t(at));
    spread_.push_back(block);
    if (!std::ranges::binary_search(single_, block)) chosen.push_back(block);
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

bool Waves::is_cheap(const std::vector<float>& issued) const {
  double some = 0;
  for (const uint64_t block : single_) some += double(issued[block]);
  return some / double(single_.size()) * double(blocks_) <= kCheap;
}

// The blocks of one SM in the wave that half of the work lies before.
std::vector<uint64_t> Waves::typical(const std::vector<float>& issued) {
  double all = 0, before = 0;
  for (const uint64_t block : spread_) all += double(issued[block]);
  for (const uint64_t block : spread_) {
    before += double(issued[block]);
    second_ = block / wave_;
    if (before >= all / 2) break;
  }
  std::vector<uint64_t> chosen;
  if (second_ == 0) return chosen;
  for (uint64_t turn = second_ * wave_ / sms_;
       turn * sms_ < std::min(blocks_, (second_ + 1) * wave_); ++turn) {
    const uint64_t block = block_of_sm(turn, sms_, blocks_);
    if (block / wave_ == second_ && !std::ranges::binary_search(single_, block))
      chosen.push_back(block);
  }
  return chosen;
}

std::vector<uint64_t> Waves::next(bool enough, const std::vector<float>& issued) {
  if (runs_all_) {
    end_ = blocks_;
    return {};
  }
  const auto take = [&](std::vector<uint64_t> more) {
    single_.insert(single_.end(), more.begin(), more.end());
    std::ranges::sort(single_);
    return more;
  };
  if (!may_wait_ && stage_ == Stage::first) {
    stage_ = Stage::spread;
    return single_;
  }
  if (!may_wait_ && stage_ == Stage::spread) {
    stage_ = Stage::typical;
    if (auto chosen = take(spread(issued)); !chosen.empty()) return chosen;
  }
  if (!may_wait_ && stage_ == Stage::typical && is_cheap(issued)) {
    stage_ = Stage::all;
    is_cheap_ = true;
    end_ = blocks_;
    return without_single(0, blocks_);
  }
  if (!may_wait_ && stage_ == Stage::typical) {
    stage_ = Stage::waves;
    if (auto chosen = take(typical(issued)); !chosen.empty()) return chosen;
  }
  if (stage_ == Stage::all) return {};
  stage_ = Stage::waves;
  while (end_ < blocks_ && (!enough || (may_wait_ && end_ < kFew * wave_))) {
    const uint64_t from = end_;
    end_ = std::min(blocks_, end_ + wave_);
    auto chosen = without_single(from, end_);
    if (!chosen.empty()) return chosen;
  }
  return {};
}

void Waves::fill_gaps(std::vector<float>& of_block) const {
  const double part = double(blocks_) / double(std::max<size_t>(1, spread_.size()));
  for (size_t i = 0; i < of_block.size() && !spread_.empty(); ++i)
    if (of_block[i] == 0)
      of_block[i] = of_block[spread_[std::min(spread_.size() - 1, size_t(double(i) / part))]];
  for (size_t i = 1; i < of_block.size(); ++i)
    if (of_block[i] == 0) of_block[i] = of_block[i - 1];
}

}  // namespace ridge::vm::timing
