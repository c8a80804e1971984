#include "model/sm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace ridge::model {
namespace {

constexpr int kSchedulers = 4;
constexpr double kMostIssued = 6e6;

// The first cache: who asks for a line that is on its way waits for the same answer.
class FirstCache {
 public:
  explicit FirstCache(double bytes) : sets_(std::max<size_t>(1, size_t(bytes) / 128 / kWays)), lines_(sets_ * kWays) {}
  struct Line {
    uint64_t line = ~0ull;
    double used = -1, ready = 0;
    uint8_t sectors = 0;
  };
  Line& find(uint64_t line, double now) {
    Line* set = &lines_[(line * 0x9e3779b97f4a7c15ull >> 32) % sets_ * kWays];
    Line* oldest = set;
    for (int i = 0; i < kWays; ++i) {
      if (set[i].line == line) {
        set[i].used = now;
        return set[i];
      }
      if (set[i].used < oldest->used) oldest = &set[i];
    }
    *oldest = {line, now, now, 0};
    return *oldest;
  }
  void drop(uint64_t line) {
    Line* set = &lines_[(line * 0x9e3779b97f4a7c15ull >> 32) % sets_ * kWays];
    for (int i = 0; i < kWays; ++i)
      if (set[i].line == line) set[i] = {};
  }

 private:
  static constexpr int kWays = 8;
  size_t sets_;
  std::vector<Line> lines_;
};

struct BlockState {
  int left = 0;      // warps that have not ended
  int waiting = 0;   // at the barrier
  double latest = 0; // arrival
};

struct WarpState {
  const uint32_t* at = nullptr;
  const uint32_t* end = nullptr;
  struct Next {
    uint32_t op, level;
    const uint32_t* access;
  };
  std::vector<Next> chunk;  // what is issued next, in ptxas's order
  size_t next = 0;          // of the chunk
  double time = 0;     // when its next op may issue
  double copies = 0;   // when its asynchronous copies have landed
  int block = -1;
  bool waits = false;
  uint64_t shift = 0;  // of lines, where a trace is replayed
  std::vector<double> ready;
};

class Sm {
 public:
  Sm(const Trace& t, const Figures& f, double blocks, int resident, double active)
      : t_(t), f_(f), cache_(std::max(16.0 * 1024, f.l1_bytes - resident * (t.shared_bytes + 1024.0))),
        resident_(resident), blocks_(blocks) {
    const double share = f.sms / std::max(1.0, active);
    share_ = 1 / share;
    dirty_left_ = f.l2_dirty_bytes / std::max(1.0, active);
    l2_rate_ = std::min(f.port_bytes_per_cycle, f.l2_bytes_per_cycle * share);
    dram_rate_ = std::min(f.port_bytes_per_cycle, f.dram_bytes_per_cycle * share);
    interval_ = f.block_interval * active / f.sms;
    levels_.resize(t.register_count);
    miss_.resize(t.ops.size());
    carry_.resize(t.ops.size());
    dirty_.resize(t.ops.size());
    owed_.resize(t.ops.size());
    for (size_t i = 0; i < t.ops.size(); ++i)
      if (t.traffic[i].sectors) {
        miss_[i] = double(t.traffic[i].misses) / double(t.traffic[i].sectors);
        dirty_[i] = double(t.traffic[i].dirtied) / double(t.traffic[i].sectors);
      }
  }

  SmTime run() {
    SmTime out;
    if (t_.sm.empty()) return out;
    for (int i = 0; i < resident_ && started_ < blocks_; ++i) start_block(f_.first_instruction + i * interval_);
    std::vector<std::pair<double, double>> ends;
    double first_half = 0;
    double half_blocks = 0;
    while (live_) {
      int best = -1, warp = -1;
      double when = 1e300;
      for (int s = 0; s < kSchedulers; ++s) {
        double w_when = 1e300;
        int w_best = -1;
        for (const int w : by_scheduler_[s]) {
          WarpState& ws = warps_[size_t(w)];
          if (ws.waits) continue;
          const double at = std::max({ws.time, slot_[s], pipe_free(s, ws)});
          if (at < w_when - 1e-9) w_when = at, w_best = w;
        }
        if (w_when < when) when = w_when, best = s, warp = w_best;
      }
      if (warp < 0) break;  // all wait: the trace is not whole
      issue(best, warp, when);
      if (half_blocks == 0 && issued_ > kMostIssued / 2) first_half = now_, half_blocks = ended_;
      if (issued_ > kMostIssued) break;
    }
    out.simulated = std::max({now_, store_end_});
    const double done = live_ ? ended_ + 0.5 * std::min<double>(resident_, blocks_) : ended_;
    out.extrapolated = std::max(0.0, blocks_ - done);
    out.cycles = out.simulated;
    if (out.extrapolated > 0 && done > 0) {
      double per_block = out.simulated / done;
      if (ended_ > half_blocks + 4 && half_blocks > 0) per_block = (now_ - first_half) / (ended_ - half_blocks);
      out.cycles += per_block * out.extrapolated;
    }
    out.issued = issued_;
    out.busy = busy_;
    out.l2_bytes = l2_bytes_, out.dram_bytes = dram_bytes_;
    out.l1_hits = l1_hits_, out.l1_sectors = l1_sectors_;
    return out;
  }

 private:
  void start_block(double when) {
    when = std::max(when, last_start_ + interval_);
    last_start_ = when;
    const size_t which = size_t(started_) % t_.sm.size();
    const uint64_t round = uint64_t(started_) / t_.sm.size();
    const Trace::Block& block = t_.sm[which];
    int b = -1;
    for (size_t i = 0; i < states_.size(); ++i)
      if (!states_[i].left) b = int(i);
    if (b < 0) b = int(states_.size()), states_.emplace_back();
    states_[size_t(b)] = {};
    int index = 0;
    for (const auto& stream : block.warps) {
      int w = -1;
      if (!free_.empty()) w = free_.back(), free_.pop_back();
      else w = int(warps_.size()), warps_.emplace_back();
      WarpState& ws = warps_[size_t(w)];
      ws = {};
      ws.at = stream.data();
      ws.end = stream.data() + stream.size();
      ws.time = when;
      ws.block = b;
      ws.shift = round * 0x10000001ull;
      ws.ready.assign(t_.register_count, 0);
      ++states_[size_t(b)].left;
      ++live_;
      const int s = (index++ + b * int(block.warps.size())) % kSchedulers;
      if (ws.at == ws.end) {  // nothing to do
        end_warp(s, w, when);
        continue;
      }
      by_scheduler_[s].push_back(w);
      take_chunk(ws);
    }
    started_ += 1;
  }

  // The next instructions up to a branch or a barrier, in the order that ptxas would give them:
  // loads as early as their addresses and earlier stores allow, then what needs them.
  void take_chunk(WarpState& ws) {
    constexpr size_t kLongest = 512;
    ws.chunk.clear();
    ws.next = 0;
    ++epoch_;
    int repeats = 0;
    uint32_t after_store[2] = {0, 0}, highest = 0;
    for (bool open = true; open && ws.at < ws.end && ws.chunk.size() < kLongest;) {
      const Step& step = t_.steps[*ws.at++];
      for (uint32_t k = step.op; k < step.op + step.ops; ++k) {
        const Op& op = t_.ops[k];
        uint32_t level = 0;
        for (uint32_t i = 0; i < op.reads; ++i) level = std::max(level, level_of(t_.registers[op.registers + i]));
        const bool writes = op.kind == Op::Kind::store || op.kind == Op::Kind::atomic || op.kind == Op::Kind::reduction;
        if (op.accesses && !writes) level = std::max(level, after_store[op.is_shared]);
        if (writes) after_store[op.is_shared] = level;
        if (op.ends) level = highest;
        highest = std::max(highest, level);
        ws.chunk.push_back({k, level, ws.at});
        const bool slow = op.accesses && op.kind != Op::Kind::store;
        for (uint32_t i = 0; i < op.writes; ++i) set_level(t_.registers[op.registers + op.reads + i], level + slow);
        for (int a = 0; a < op.accesses; ++a) ws.at += 2 + 2 * ws.at[1];
        if (op.ends && ++repeats >= op.repeats) open = false;
      }
    }
    std::ranges::stable_sort(ws.chunk, {}, &WarpState::Next::level);
    if (!ws.chunk.empty()) set_time(ws);
  }
  uint32_t level_of(uint32_t reg) const { return levels_[reg].first == epoch_ ? levels_[reg].second : 0; }
  void set_level(uint32_t reg, uint32_t level) { levels_[reg] = {epoch_, level}; }

  void set_time(WarpState& ws) {
    const Op& op = op_of(ws);
    if (op.issues > 0 || op.accesses)
      for (uint32_t i = 0; i < op.reads; ++i)
        ws.time = std::max(ws.time, ws.ready[t_.registers[op.registers + i]]);
    if (op.kind == Op::Kind::wait_copies) ws.time = std::max(ws.time, ws.copies);
  }
  const Op& op_of(const WarpState& ws) const { return t_.ops[ws.chunk[ws.next].op]; }

  double pipe_free(int s, const WarpState& ws) const {
    const Op& op = op_of(ws);
    if (op.issues == 0) return 0;
    if (op.pipe == Pipe::lsu) {
      double at = lsu_ - f_.queue;
      if (op.kind == Op::Kind::store || op.kind == Op::Kind::reduction) at = std::max(at, std::max(dram_, l2_) - f_.store_backlog);
      return at;
    }
    return pipe_[size_t(s)][size_t(op.pipe)];
  }

  void issue(int s, int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    const Op& op = op_of(ws);
    now_ = std::max(now_, now);
    double done = now + op.latency;
    if (op.issues == 0 && !op.accesses) {  // no instruction: hands its operands on
      done = 0;
      for (uint32_t i = 0; i < op.reads; ++i) done = std::max(done, ws.ready[t_.registers[op.registers + i]]);
    } else {
      slot_[s] = now + op.issues;
      issued_ += double(op.issues);
      busy_[size_t(op.pipe)] += op.busy;
      if (op.pipe != Pipe::lsu) pipe_[size_t(s)][size_t(op.pipe)] = now + op.busy;
      ws.time = now + op.issues;
      if (op.accesses) done = access(op, ws, now);
      else if (op.pipe == Pipe::lsu) lsu_ = std::max(lsu_, now) + op.busy;
    }
    for (uint32_t i = 0; i < op.writes; ++i) ws.ready[t_.registers[op.registers + op.reads + i]] = done;
    if (op.kind == Op::Kind::barrier) {
      meet(s, w, now);
      if (warps_[size_t(w)].waits) return;
    }
    advance(s, w, now);
  }

  void advance(int s, int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    if (++ws.next < ws.chunk.size()) return set_time(ws);
    while (ws.at < ws.end) {
      take_chunk(ws);
      if (!ws.chunk.empty()) return;
    }
    auto& list = by_scheduler_[s];
    list.erase(std::find(list.begin(), list.end(), w));
    end_warp(s, w, std::max(now + 4, ws.time));
  }

  void end_warp(int, int w, double now) {
    BlockState& b = states_[size_t(warps_[size_t(w)].block)];
    --live_;
    free_.push_back(w);
    if (--b.left == 0) {
      ended_ += 1;
      if (started_ < blocks_) start_block(now + f_.block_turnaround);
    } else {
      open(warps_[size_t(w)].block);
    }
  }

  void meet(int, int w, double now) {
    BlockState& b = states_[size_t(warps_[size_t(w)].block)];
    barrier_ = std::max(barrier_, now) + 2;
    b.latest = std::max(b.latest, barrier_);
    ++b.waiting;
    warps_[size_t(w)].waits = true;
    open(warps_[size_t(w)].block);
  }

  void open(int block) {
    BlockState& b = states_[size_t(block)];
    if (!b.waiting || b.waiting < b.left) return;
    b.waiting = 0;
    const double when = b.latest + 12;
    for (int s = 0; s < kSchedulers; ++s) {
      const std::vector<int> list = by_scheduler_[s];
      for (const int w : list)
        if (warps_[size_t(w)].block == block && warps_[size_t(w)].waits) {
          warps_[size_t(w)].waits = false;
          warps_[size_t(w)].time = std::max(warps_[size_t(w)].time, when);
          advance(s, w, when);
        }
    }
  }

  // What a line costs DRAM: single sectors take more than their bytes.
  double dram_cost(int sectors) const { return sectors >= 3 ? 32.0 * sectors : 32.0 * sectors + f_.dram_sector_bytes / sectors; }

  // Takes DRAM's time for some sectors of a line; returns it in bytes.
  double to_dram(double now, int sectors, bool writes) {
    double cost = dram_cost(sectors);
    dram_bytes_ += 32.0 * sectors;
    written_ += writes ? cost : 0;
    read_ += writes ? 0 : cost;
    if (dirty_left_ > 0) {  // what was in the L2 before has to leave, and was written
      dirty_left_ -= 32.0 * sectors;
      written_ += 32.0 * sectors;
      cost += 32.0 * sectors;
    }
    const double share = written_ / std::max(1.0, written_ + read_);
    cost /= 1 - 4 * f_.dram_mix_loss * share * (1 - share);
    dram_ = std::max(dram_, now) + cost / dram_rate_;
    return cost;
  }

  double from_l2(uint32_t op, double now, uint64_t line, int sectors) {
    const double bytes = 32.0 * sectors;
    l2_ = std::max(l2_, now) + std::max(bytes / l2_rate_, f_.l2_request * share_);
    l2_bytes_ += bytes;
    double done = l2_ + f_.l2_latency + f_.l2_spread * distance(line);
    carry_[op] += miss_[op];
    if (carry_[op] >= 1) {
      carry_[op] -= 1;
      const double cost = to_dram(now, sectors, false);
      done = std::max(l2_, dram_) + f_.dram_latency + f_.dram_spread * distance(line) + slower(now, cost);
    }
    return done;
  }

  // DRAM answers later the busier it is, before it is full: requests of many SMs meet.
  double slower(double now, double cost) {
    constexpr double kWindow = 2000;  // cycles
    use_ = use_ * std::exp(-std::max(0.0, now - seen_) / kWindow) + cost / (dram_rate_ * kWindow);
    seen_ = std::max(seen_, now);
    return f_.queueing * std::min(1.2, use_);
  }
  // Lines lie nearer or further away: a number in [-1, 1] that belongs to the line.
  static double distance(uint64_t line) {
    return double(line * 0x9e3779b97f4a7c15ull >> 40) / double(1 << 23) - 1;
  }

  double access(const Op& op, WarpState& ws, double now) {
    const uint32_t number = ws.chunk[ws.next].op;
    const uint32_t* payload = ws.chunk[ws.next].access;
    double done = now;
    double start = std::max(now, lsu_);
    for (int a = 0; a < op.accesses; ++a) {
      const uint32_t wavefronts = payload[0], lines = payload[1];
      const uint32_t* line = payload + 2;
      payload += 2 + 2 * lines;
      const double turns = std::max(1.0, double(std::max(wavefronts, lines)));
      lsu_ = start + turns;
      busy_[size_t(Pipe::lsu)] += turns;
      if (!lines) {
        done = std::max(done, start + turns + f_.shared_latency);
        start = lsu_;
        continue;
      }
      for (uint32_t i = 0; i < lines; ++i) {
        const uint64_t at = (uint64_t(line[2 * i + 1] & 0xfff) << 32 | line[2 * i]) + ws.shift;
        const uint32_t sectors = line[2 * i + 1] >> 28;
        const int count = std::popcount(sectors);
        const double begin = start + i;
        l1_sectors_ += count;
        switch (op.kind) {
          case Op::Kind::load:
          case Op::Kind::copy: {
            if (op.bypasses_l1) {
              done = std::max(done, from_l2(number, begin, at, count));
              break;
            }
            FirstCache::Line& kept = cache_.find(at, begin);
            const uint32_t missing = sectors & ~kept.sectors;
            l1_hits_ += count - std::popcount(missing);
            if (missing) {
              kept.ready = std::max(kept.ready, from_l2(number, begin, at, std::popcount(missing)));
              kept.sectors |= uint8_t(missing);
            }
            done = std::max({done, kept.ready, begin + f_.l1_latency});
            break;
          }
          case Op::Kind::store: {
            cache_.drop(at);
            const double end = write(number, begin, count);
            store_end_ = std::max(store_end_, end);
            break;
          }
          default:
            done = std::max(done, from_l2(number, begin, at, count));
            store_end_ = std::max(store_end_, done);
        }
      }
      start = lsu_;
    }
    if (op.kind == Op::Kind::copy) {
      ws.copies = std::max(ws.copies, done);
      return now;
    }
    return done;
  }

  double write(uint32_t op, double now, int sectors) {
    const double bytes = 32.0 * sectors;
    l2_ = std::max(l2_, now) + std::max(bytes / l2_rate_, sectors == 1 ? f_.l2_write_request * share_ : 0);
    l2_bytes_ += bytes;
    owed_[op] += dirty_[op] * kept_writes();
    if (owed_[op] >= 1) {
      owed_[op] -= 1;
      slower(now, to_dram(now, sectors, true));
    }
    return l2_;
  }
  // The part of what is written that does not stay in the L2 until the end.
  double kept_writes() const {
    const double all = double(t_.written_sectors) * 32 * double(t_.blocks) / std::max<double>(1, double(t_.blocks_run));
    return std::clamp(1 - 20e6 / std::max(1.0, all), 0.0, 1.0);
  }

  const Trace& t_;
  const Figures& f_;
  FirstCache cache_;
  const int resident_;
  const double blocks_;
  double l2_rate_ = 0, dram_rate_ = 0, interval_ = 0;
  std::vector<double> miss_, carry_, dirty_, owed_;
  std::vector<BlockState> states_;
  std::vector<WarpState> warps_;
  std::vector<int> free_;
  std::vector<std::pair<uint64_t, uint32_t>> levels_;  // by register: in which chunk, after how many loads
  uint64_t epoch_ = 0;
  std::array<std::vector<int>, kSchedulers> by_scheduler_;
  std::array<double, kSchedulers> slot_ = {};
  std::array<std::array<double, kPipes>, kSchedulers> pipe_ = {};
  double lsu_ = 0, l2_ = 0, dram_ = 0, barrier_ = 0;
  double now_ = 0, last_start_ = -1e9, store_end_ = 0;
  double started_ = 0, ended_ = 0;
  int live_ = 0;
  double issued_ = 0;
  std::array<double, kPipes> busy_ = {};
  double l2_bytes_ = 0, dram_bytes_ = 0, l1_hits_ = 0, l1_sectors_ = 0;
  double use_ = 0, seen_ = 0, share_ = 1;
  double written_ = 0, read_ = 0, dirty_left_ = 0;
};

}  // namespace

SmTime run_sm(const Trace& trace, const Figures& figures, double blocks, int resident, double active_sms) {
  return Sm(trace, figures, blocks, resident, active_sms).run();
}

}  // namespace ridge::model
