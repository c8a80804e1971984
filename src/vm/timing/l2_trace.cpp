#include "vm/timing/l2_trace.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace ridge::vm::timing {
namespace {

constexpr size_t kMostAccesses = 1 << 20, kMostFollowed = 1 << 20, kMostWords = 1 << 16;

struct Found {  // of an op's sectors
  double sectors = 0, misses = 0, fetched = 0, dirtied = 0;
  void add(const L2Access& a, const model::Cache::New& now) {
    sectors += std::popcount(a.sectors);
    misses += std::popcount(now.missing);
    fetched += std::popcount(now.fetched);
    dirtied += std::popcount(now.clean);
  }
};

// Ops that write to the same sectors, in sets that are named by their lowest op.
class Writers {
 public:
  explicit Writers(size_t ops) : lower_(ops) { std::iota(lower_.begin(), lower_.end(), 0u); }
  void add(const L2Access& a) {
    for (uint32_t left = a.sectors; left; left &= left - 1) {
      const uint64_t sector = a.line * 4 + uint64_t(std::countr_zero(left));
      const auto [known, is_new] = last_.try_emplace(sector, a.op);
      if (!is_new && known->second != a.op) join(known->second, a.op);
    }
  }
  uint32_t lowest(uint32_t op) {
    while (lower_[op] != op) op = lower_[op] = lower_[lower_[op]];
    return op;
  }

 private:
  void join(uint32_t a, uint32_t b) {
    a = lowest(a), b = lowest(b);
    lower_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<uint32_t> lower_;                  // by op: itself, or a lower one of its set
  std::unordered_map<uint64_t, uint32_t> last_;  // by sector: one of the ops that write to it
};

}  // namespace

void L2Trace::begin(uint64_t blocks, uint64_t wave, uint64_t per_sm, double l2_bytes) {
  blocks_ = blocks;
  wave_ = wave;
  per_sm_ = std::min(per_sm, blocks);
  l2_bytes_ = l2_bytes;
}

size_t L2Trace::most_followed() const { return kMostFollowed / std::max<uint64_t>(1, per_sm_); }

void L2Trace::extend(uint64_t end, uint32_t progress) {
  const std::lock_guard lock(mutex_);
  end_ = end;
  progress_ = progress;
  advance();
}

void L2Trace::stop() { stop_ = std::min(stop_.load(), next_); }

void L2Trace::take(uint64_t block, L2Asked asked) {
  if (!asked.is_followed && block >= stop_.load()) return;
  const std::lock_guard lock(mutex_);
  waiting_[block] = std::move(asked);
  advance();
}

// Looks at the blocks whose turn it is.
void L2Trace::advance() {
  const auto several = size_t(kFills * l2_bytes_) / 128 / model::kSampledOne;
  while (next_ < end_ && !has_enough()) {
    const auto found = waiting_.find(next_);
    if (found == waiting_.end()) return;
    use(found->second);
    waiting_.erase(found);
    ++next_;
    if (lines_.size() >= several || some_.size() >= kMostAccesses) stop_ = next_;
  }
}

void L2Trace::use(L2Asked& asked) {
  for (const L2Access& access : asked.some) {
    if (access.progress > progress_) continue;
    some_.push_back(access);
    if (!has_enough()) lines_.insert(access.line);
  }
  all_.insert(all_.end(), asked.all.begin(), asked.all.end());
  for (const auto& [op, stored] : asked.stored) {
    stored_[op].bytes += stored.bytes;
    stored_[op].sectors += stored.sectors;
  }
  for (const auto& [op, words] : asked.words) {
    Words& known = words_[op];
    for (const uint64_t word : words) {
      if (known.some.size() < kMostWords) known.some.insert(word);
      known.lowest = std::min(known.lowest, word);
    }
  }
}

double L2Trace::followed_bytes() const {
  std::unordered_set<uint64_t> lines;
  for (const auto& [block, asked] : waiting_)
    for (const L2Access& access : asked.all)
      if (model::is_sampled(access.line)) lines.insert(access.line);
  return double(lines.size()) * 128 * model::kSampledOne;
}

uint32_t L2Trace::furthest() const {
  uint32_t most = 0;
  for (const auto& [block, asked] : waiting_) most = std::max(most, asked.furthest);
  return most;
}

// Blocks of a wave run side by side on a GPU: their accesses come mixed, as far as each warp has
// come. If not all blocks were seen, then those that found the cache empty say nothing of the rest.
void L2Trace::answer(model::Work& work) {
  work.blocks_run = next_;
  const bool is_whole = next_ >= blocks_ && !has_enough();
  for (auto& [block, asked] : waiting_) {
    if (!asked.is_followed) continue;
    // Its neighbours were not seen: its accesses help only where it stands for the rest of them.
    if (block >= wave_ || progress_ == kAnyProgress) asked.some.clear();
    use(asked);
  }
  waiting_.clear();
  std::ranges::stable_sort(some_, {},
                           [](const L2Access& a) { return std::pair(a.wave, a.progress); });
  model::Cache l2(uint64_t(l2_bytes_) / model::kSampledOne, 16);
  const size_t first = is_whole ? 0 : some_.size() / 2;
  for (size_t i = 0; i < some_.size(); ++i) {
    const L2Access& a = some_[i];
    const auto now = l2.access(a.line, a.sectors, a.writes);
    model::OpTraffic& traffic = work.traffic[a.op];
    work.written_sectors += uint64_t(std::popcount(now.clean)) * model::kSampledOne;
    if (i < first && traffic.is_steady) continue;
    if (i >= first && !traffic.is_steady) traffic = {.is_steady = true};
    traffic.sectors += uint64_t(std::popcount(a.sectors)) * model::kSampledOne;
    traffic.misses += uint64_t(std::popcount(now.missing)) * model::kSampledOne;
    traffic.fetched += uint64_t(std::popcount(now.fetched)) * model::kSampledOne;
    traffic.dirtied += uint64_t(std::popcount(now.clean)) * model::kSampledOne;
  }
  if (progress_ != kAnyProgress) answer_later(work);
  for (const auto& [op, words] : words_) {
    work.traffic[op].words = words.some.size();
    work.traffic[op].lowest_word = words.lowest;
  }
  Writers writers(work.traffic.size());
  for (const auto* accesses : {&some_, &all_})
    for (const L2Access& a : *accesses)
      if (stored_.contains(a.op)) writers.add(a);
  for (uint32_t op = 0; op < work.traffic.size(); ++op) work.traffic[op].with = writers.lowest(op);
  for (const auto& [op, stored] : stored_) {
    work.traffic[op].bytes = stored.bytes;
    work.traffic[op].stored = stored.sectors;
  }
}

// Most blocks ended early. What they would have found later is seen in the blocks of one SM, which
// have that part of the second cache to themselves.
void L2Trace::answer_later(model::Work& work) {
  std::ranges::stable_sort(all_, {}, &L2Access::progress);
  const double part = double(per_sm_) / double(std::min(wave_, blocks_));
  model::Cache l2(uint64_t(l2_bytes_ * part), 16);
  std::map<uint32_t, std::pair<Found, Found>> found;  // by op: before, later
  for (const L2Access& a : all_) {
    auto& [before, later] = found[a.op];
    (a.progress <= progress_ ? before : later).add(a, l2.access(a.line, a.sectors, a.writes));
  }
  double written = 0, cut = 0;  // sectors of all of their blocks
  for (const model::Work::Block& block : work.sm) cut += block.cut / (block.followed + 1);
  for (const auto& [op, parts] : found) written += parts.first.dirtied + parts.second.dirtied;
  work.written_sectors = uint64_t(written / std::max(1.0, double(per_sm_)) *
                                  (1 + cut / std::max(1.0, double(work.sm.size()))) * 1e3);
  work.blocks_run = 1000;
  for (const auto& [op, parts] : found) {
    const auto& [before, later] = parts;
    if (later.sectors == 0) continue;
    model::OpTraffic& traffic = work.traffic[op];
    // The later ones count by their number. What other blocks bring for them is seen before only.
    const bool is_shared = traffic.sectors && before.misses > 0;
    const double shared = is_shared ? double(traffic.misses) / double(traffic.sectors) *
                                          before.sectors / before.misses
                                    : 1;
    const double scale =
        traffic.sectors && before.sectors ? double(traffic.sectors) / before.sectors : 1;
    traffic.sectors += uint64_t(later.sectors * scale);
    traffic.misses += uint64_t(later.misses * scale * shared);
    traffic.fetched += uint64_t(later.fetched * scale * shared);
    traffic.dirtied += uint64_t(later.dirtied * scale * shared);
  }
}

}  // namespace ridge::vm::timing
