#include "vm/timing/waves.h"

#include <algorithm>

namespace ridge::vm::timing {
namespace {

constexpr uint64_t kFew = 2;        // waves: all of their blocks run, if blocks communicate
constexpr double kMostSpread = 128;  // blocks from all over the grid
constexpr double kSpreadIssued = 2e6;  // their instructions, more or less

}  // namespace

Waves::Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool communicates)
    : blocks_(blocks),
      wave_(wave),
      communicates_(communicates),
      runs_all_(communicates && blocks <= kFew * wave),
      second_(communicates ? 1 : blocks / wave / 2) {
  if (communicates) return;
  for (uint64_t block = 0; block < blocks; block += sms)
    if (block / wave == 0 || block / wave == second_) single_.push_back(block);
}

bool Waves::is_whole(uint64_t block) const {
  return communicates_ || std::ranges::binary_search(single_, block);
}

std::vector<uint64_t> Waves::without_single(uint64_t from, uint64_t end) const {
  std::vector<uint64_t> chosen;
  for (uint64_t block = from; block < end; ++block)
    if (!std::ranges::binary_search(single_, block)) chosen.push_back(block);
  return chosen;
}

std::vector<uint64_t> Waves::next(bool enough, double issued) {
  if (runs_all_) {
    end_ = blocks_;
    return {};
  }
  if (!communicates_ && stage_ == Stage::followed) {
    stage_ = Stage::spread;
    end_ = std::min(wave_, blocks_);
    return single_;
  }
  if (!communicates_ && stage_ == Stage::spread) {
    stage_ = Stage::waves;
    const double each = issued / double(std::max<size_t>(1, single_.size()));
    const auto most = uint64_t(std::clamp(kSpreadIssued / std::max(1.0, each), 2.0, kMostSpread));
    std::vector<uint64_t> spread;
    for (uint64_t i = 1; i <= most && blocks_ > 1; ++i) {
      const uint64_t block = (blocks_ - 1) * i / most;
      if (!std::ranges::binary_search(single_, block)) spread.push_back(block);
    }
    std::vector<uint64_t> chosen = without_single(0, end_);
    chosen.insert(chosen.end(), spread.begin(), spread.end());
    single_.insert(single_.end(), spread.begin(), spread.end());
    for (auto* list : {&single_, &chosen}) {
      std::ranges::sort(*list);
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    if (!chosen.empty()) return chosen;
  }
  stage_ = Stage::waves;
  while (end_ < blocks_ && (!enough || (communicates_ && end_ < kFew * wave_))) {
    const uint64_t from = end_;
    end_ = std::min(blocks_, end_ + wave_);
    auto chosen = without_single(from, end_);
    if (!chosen.empty()) return chosen;
  }
  return {};
}

void Waves::fill_gaps(std::vector<float>& of_block) const {
  for (size_t i = 1; i < of_block.size(); ++i)
    if (of_block[i] == 0) of_block[i] = of_block[i - 1];
}

}  // namespace ridge::vm::timing
