#include "model/memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace ridge::model {
namespace {

// Lines lie nearer or further away: a number in [-1, 1] that belongs to the line.
double distance_of(uint64_t line) {
  return double(line * 0x9e3779b97f4a7c15ull >> 40) / double(1 << 23) - 1;
}

// Between two measured places, in proportion to the logarithm.
double between(const std::array<double, 6>& at, const std::array<double, 6>& value, double x) {
  size_t i = 1;
  while (i + 1 < at.size() && at[i] < x) ++i;
  const double part =
      std::clamp(std::log(std::max(x, 1.0) / at[i - 1]) / std::log(at[i] / at[i - 1]), 0.0, 1.0);
  return value[i - 1] * std::pow(value[i] / value[i - 1], part);
}

// So many stores write a whole sector.
double stores_per_sector(const OpTraffic& traffic) {
  return std::max(1.0, 32 * traffic.stored / std::max(1.0, traffic.bytes));
}

}  // namespace

Memory::Memory(const Work& work, const Figures& figures, double active_sms) : figures_(figures) {
  share_ = std::max(1.0, active_sms) / figures.sms;
  l2_rate_ = std::min(figures.port_bytes_per_cycle, figures.l2_bytes_per_cycle / share_);
  bulk_rate_ = std::min(figures.bulk_bytes_per_cycle, figures.bulk_l2_bytes_per_cycle / share_);
  dram_rate_ = std::min(figures.port_bytes_per_cycle, figures.dram_bytes_per_cycle / share_);
  dirty_left_ = figures.l2_dirty_bytes / std::max(1.0, active_sms);
  const double written = double(work.written_sectors) * 32 * double(work.blocks) /
                         std::max(1.0, double(work.blocks_run));
  kept_writes_ = std::clamp(1 - figures.l2_kept_bytes / std::max(1.0, written), 0.0, 1.0);
  for (const OpTraffic& traffic : work.traffic) {
    const double sectors = std::max(1.0, double(traffic.sectors));
    misses_.push_back(double(traffic.misses) / sectors);
    dirtied_.push_back(double(traffic.dirtied) / sectors);
    fetched_.push_back(double(traffic.fetched) / std::max(1.0, double(traffic.misses)));
  }
  const auto lane_cycles = [&](bool is_float, double words) {
    const auto& rates = is_float ? figures.atomic_float_lanes_per_ns : figures.atomic_lanes_per_ns;
    return figures.clock_ghz * std::max(1.0, active_sms) /
           between(figures.atomic_words, rates, words);
  };
  std::unordered_map<uint64_t, size_t> known;  // groups of ops that go to the same words
  std::vector<double> words;                   // of each
  bool any_float = false;
  for (size_t i = 0; i < work.ops.size(); ++i) {
    const OpTraffic& traffic = work.traffic[i];
    const auto [group, is_new] = known.try_emplace(traffic.lowest_word, words.size());
    if (is_new) words.push_back(0);
    words[group->second] = std::max(words[group->second], double(traffic.words));
    any_float |= traffic.words && work.ops[i].is_float;
    group_.push_back(group->second);
    lane_cycles_.push_back(lane_cycles(work.ops[i].is_float, double(traffic.words)));
    writes_parts_.push_back(stores_per_sector(traffic) > 1.01);
  }
  find_left_in_parts(work);
  any_lane_cycles_ = lane_cycles(any_float, std::accumulate(words.begin(), words.end(), 0.0));
  group_free_.resize(words.size());
  missing_.resize(misses_.size());
  owed_.resize(misses_.size());
}

// A sector that is not written as a whole before it leaves has to be completed from DRAM. One that
// is written word by word comes eight times, and is missing once.
void Memory::find_left_in_parts(const Work& work) {
  std::unordered_map<uint32_t, OpTraffic> together;
  for (const OpTraffic& traffic : work.traffic) {
    OpTraffic& sum = together[traffic.with];
    sum.sectors += traffic.sectors, sum.misses += traffic.misses;
    sum.bytes += traffic.bytes, sum.stored += traffic.stored;
  }
  for (const OpTraffic& traffic : work.traffic) {
    const OpTraffic& sum = together[traffic.with];
    const double times = stores_per_sector(sum);
    const double missing = double(sum.misses) / std::max(1.0, double(sum.sectors));
    left_in_parts_.push_back(
        times > 1.01 ? std::clamp((times * missing - 1) / (times - 1), 0.0, 1.0) : 0);
  }
}

void Memory::take_l2(double now, int sectors, double rate, double least, double counts) {
  const double cycles = std::max(32.0 * sectors / rate, least);
  l2_ = std::max(l2_, now) + cycles;
  l2_busy_ += cycles;
  l2_bytes_ += 32.0 * sectors * counts;
}

// Of an op's accesses as many are missing as in the second cache.
bool Memory::is_missing(uint32_t op) {
  missing_[op] += misses_[op];
  if (missing_[op] < 1) return false;
  missing_[op] -= 1;
  return true;
}

double Memory::read(uint32_t op, double now, uint64_t line, int sectors) {
  return answer(op, now, line, sectors,
                {l2_rate_, figures_.l2_spread, figures_.l2_hit, figures_.l2_lone_hit});
}
double Memory::read_bulk(uint32_t op, double now, uint64_t line, int sectors) {
  return answer(op, now, line, sectors,
                {bulk_rate_, 0, figures_.l2_bulk_hit, figures_.l2_bulk_hit});
}
double Memory::receive(double now, double bytes) {
  const double cycles = bytes / bulk_rate_;
  l2_ = std::max(l2_, now) + cycles;
  l2_busy_ += cycles;
  l2_bytes_ += bytes * figures_.l2_bulk_hit;
  return l2_ + figures_.l2_latency;
}

double Memory::answer(uint32_t op, double now, uint64_t line, int sectors, const Way& way) {
  const bool missing = is_missing(op);
  take_l2(now, sectors, way.rate, figures_.l2_request * share_,
          missing ? (sectors == 1 ? figures_.l2_lone_miss : 1)
                  : (sectors == 1 ? way.lone_hit : way.hit));
  if (!missing) return l2_ + figures_.l2_latency + way.spread * distance_of(line);
  const double bytes = std::min(128.0, 32.0 * sectors * std::max(1.0, fetched_[op]));
  const double later = slower(now, take_dram(now, bytes, sectors, false));
  return backlog() + figures_.dram_latency + figures_.dram_spread * distance_of(line) + later;
}

double Memory::update(uint32_t op, double now, uint64_t line, int sectors, double lanes) {
  // Neighbouring lanes on neighbouring words go together. More lanes than there are words are on
  // the same words, and do not.
  constexpr double kWords = 8;  // of a sector
  const double together =
      figures_.clock_ghz * figures_.sms * share_ / figures_.atomic_coalesced_lanes_per_ns;
  const double apart = lane_cycles_[op];
  const bool are_neighbours = lanes > 1.5 * sectors && lanes <= kWords * sectors;
  const double cycles = lanes * (are_neighbours && apart < 5 * together ? together : apart);
  // Those on other words do not wait for these, but the units that do the work are shared.
  double& words_free = group_free_[group_[op]];
  words_free = std::max(words_free, now) + cycles;
  const double shared = lanes * std::min(any_lane_cycles_, cycles / lanes);
  atomic_ = std::max(atomic_, now) + shared;
  atomics_busy_ += shared;
  const double done = std::max(atomic_, words_free) + figures_.l2_latency;
  return std::max(read(op, now, line, sectors), done);
}

double Memory::write(uint32_t op, double now, int sectors) {
  const bool is_lone = sectors == 1;
  const bool in_parts = writes_parts_[op];
  const double request = in_parts ? figures_.l2_write_request : figures_.l2_request;
  const double each =
      request + (is_missing(op) ? left_in_parts_[op] * figures_.l2_write_completed : 0);
  take_l2(now, sectors, l2_rate_, is_lone ? each * share_ : 0,
          is_lone && in_parts ? figures_.l2_lone_write : 1);
  owed_[op] += dirtied_[op] * kept_writes_;
  if (owed_[op] >= 1) {
    owed_[op] -= 1;
    slower(now, take_dram(now, 32.0 * sectors, sectors, true));
  }
  return l2_;
}

// Takes DRAM's time; returns it in bytes.
double Memory::take_dram(double now, double bytes, int sectors, bool writes) {
  double cost = bytes;
  if (sectors == 1) cost += figures_.dram_lone_bytes;
  if (sectors == 2 && !writes) cost += figures_.dram_pair_bytes;
  double emptied = 0;  // cycles
  (writes ? written_ : read_) += cost;
  dram_bytes_ += bytes;
  if (dirty_left_ > 0) {  // what was in the L2 before has to leave, and was written
    dirty_left_ -= bytes;
    written_ += bytes;
    emptied = bytes * share_ / figures_.dram_bytes_per_cycle;
  }
  const double part = written_ / (written_ + read_);
  // A third of writes costs next to nothing; half of them or more cost all there is to lose.
  const double mixed = 1 - figures_.dram_mix_loss * std::min(1.0, std::pow(2 * part, 3));
  const double cycles = (cost / dram_rate_ + emptied) / mixed;
  emptied_ += emptied / mixed;
  dram_ = std::max(dram_, now) + cycles;
  dram_busy_ += cycles;
  return cycles * dram_rate_;
}

// DRAM answers later the busier it is, before it is full: requests of many SMs meet.
double Memory::slower(double now, double cost) {
  constexpr double kWindow = 2000;  // cycles
  used_ = used_ * std::exp(-std::max(0.0, now - seen_) / kWindow) + cost / (dram_rate_ * kWindow);
  seen_ = std::max(seen_, now);
  return figures_.dram_queueing * std::min(1.2, used_);
}

}  // namespace ridge::model
