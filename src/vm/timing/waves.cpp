#include "vm/timing/waves.h"

#include <algorithm>

namespace ridge::vm::timing {
namespace {

constexpr uint64_t kSpread = 128;  // blocks from all over the grid
constexpr uint64_t kFew = 2;       // waves: all of their blocks run

}  // namespace

Waves::Waves(uint64_t blocks, uint64_t wave, uint64_t sms, bool communicates)
    : blocks_(blocks), wave_(wave), sms_(sms), second_(communicates ? 1 : blocks / wave / 2) {
  if (communicates || blocks <= kFew * wave) return;
  for (uint64_t block = second_ * wave; block < (second_ + 1) * wave; block += 1)
    if (block % sms == 0) single_.push_back(block);
  for (uint64_t i = 1; i <= kSpread; ++i)
    single_.push_back(wave + (blocks - 1 - wave) / kSpread * i);
  std::ranges::sort(single_);
  single_.erase(std::unique(single_.begin(), single_.end()), single_.end());
}

std::vector<uint64_t> Waves::next(bool enough) {
  const bool is_first = end_ == 0;
  if (is_first && blocks_ <= kFew * wave_) {
    end_ = blocks_;
    return {};
  }
  std::vector<uint64_t> chosen;
  if (end_ >= blocks_ || (enough && end_ >= (second_ == 1 ? kFew : 1) * wave_)) return chosen;
  const uint64_t from = end_;
  end_ = std::min(blocks_, end_ + wave_);
  for (uint64_t block = from; block < end_; ++block)
    if (!std::ranges::binary_search(single_, block)) chosen.push_back(block);
  if (is_first) chosen.insert(chosen.end(), single_.begin(), single_.end());
  return chosen;
}

void Waves::fill_gaps(std::vector<float>& of_block) const {
  for (size_t i = 1; i < of_block.size(); ++i)
    if (of_block[i] == 0) of_block[i] = of_block[i - 1];
}

}  // namespace ridge::vm::timing
