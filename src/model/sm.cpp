#include "model/sm.h"

#include <algorithm>
#include <bit>

#include "model/first_cache.h"
#include "model/memory.h"
#include "model/stream.h"

namespace ridge::model {
namespace {

constexpr int kSchedulers = 4;
// Instructions that are replayed: at least so many, so that the beginning does not count for much;
// more where blocks are long, so that all of their parts are seen.
constexpr double kLeastReplayed = 5e5, kMostReplayed = 3e6, kWavesReplayed = 1.5;

struct Resident {  // a block
  int warps = 0;
  int left = 0;       // warps that have not ended
  int waiting = 0;    // at its barrier
  double latest = 0;  // arrival there
};

constexpr double kNever = 1e300;

// Who may issue next, of a scheduler's warps.
struct Candidate {
  int warp = -1;
  double when = 0;
  bool is_known = false;  // not only a lower bound
  bool is_none() const { return is_known && warp < 0; }
};

struct WarpState {
  const uint32_t *begin = nullptr, *at = nullptr, *end = nullptr;
  std::vector<Next> chunk;
  size_t next = 0;    // of the chunk
  double time = 0;    // when its next instruction has all it needs
  double copies = 0;  // when its asynchronous copies have landed
  int block = -1;
  int scheduler = 0;
  bool waits = false;         // at a barrier
  uint64_t elsewhere = 0;     // added to lines where a block stands for a later one
  std::vector<double> ready;  // by register
};

class Sm {
 public:
  Sm(const Work& t, const Figures& f, double blocks, int resident, double active_sms)
      : t_(t),
        f_(f),
        blocks_(blocks),
        resident_(resident),
        active_sms_(active_sms),
        interval_(f.block_interval * active_sms / f.sms),
        cache_(std::max(16.0 * 1024, f.l1_bytes - resident * (t.shared_bytes + 1024.0))),
        memory_(t, f, active_sms),
        ordering_(t) {}

  SmTime run() {
    double of_wave = 0;
    for (int i = 0; i < resident_; ++i) of_wave += t_.sm[size_t(i) % t_.sm.size()].followed;
    const double most = std::clamp(kWavesReplayed * of_wave, kLeastReplayed, kMostReplayed);
    for (int i = 0; i < resident_ && started_ < blocks_; ++i)
      start_block(f_.first_instruction + i * interval_);
    double half_time = 0, half_done = 0;
    while (live_ && issued_ < most) {
      double when = 0;
      const int warp = earliest(when);
      if (warp < 0) break;  // all wait: the work is not whole
      const auto s = size_t(warps_[size_t(warp)].scheduler);
      issue(warp, when);
      look_again(s);
      if (lsu_moved_)  // what the others said of it is a lower bound now
        for (Candidate& other : next_) other.is_known = false;
      lsu_moved_ = false;
      if (half_time == 0 && issued_ > most / 2) half_time = now_, half_done = done();
    }
    SmTime out;
    out.replayed = out.cycles = std::max({now_, stored_, 1.0});
    out.extrapolated = std::max(0.0, blocks_ - done());
    if (out.extrapolated > 0 && done() > half_done)
      out.cycles += out.extrapolated * (now_ - half_time) / (done() - half_done);
    out.issue = issued_ / kSchedulers / out.replayed;
    out.lsu = lsu_busy_ / out.replayed;
    out.l2 = memory_.l2_busy() / out.replayed;
    out.dram = memory_.dram_busy() / out.replayed;
    const double clean = out.replayed - memory_.emptied() * std::min(1.0, out.dram);
    const double ns = clean / f_.clock_ghz / active_sms_;
    out.l2_of_peak = memory_.l2_bytes() / ns / f_.l2_peak_bytes_per_ns;
    out.dram_of_peak = memory_.dram_bytes() / ns / f_.dram_peak_bytes_per_ns;
    out.atomics = memory_.atomics_busy() / out.replayed;
    for (size_t i = 0; i < kPipes; ++i) out.pipes[i] = busy_[i] / kSchedulers / out.replayed;
    out.l1_hits = l1_hits_ / std::max(1.0, l1_sectors_);
    return out;
  }

 private:
  // --- blocks and warps ---

  // Blocks that have ended, and how far the others have come.
  double done() const {
    double sum = ended_;
    for (const Resident& block : blocks_here_)
      if (block.left) sum += double(block.warps - block.left) / block.warps;
    for (const auto& list : by_scheduler_)
      for (const int w : list) {
        const WarpState& ws = warps_[size_t(w)];
        const double whole = double(ws.end - ws.begin);
        sum += (1 - double(ws.end - ws.at) / whole) / blocks_here_[size_t(ws.block)].warps;
      }
    return sum;
  }

  void start_block(double when) {
    when = std::max(when, last_start_ + interval_);
    last_start_ = when;
    const auto which = size_t(started_);
    const Work::Block& block = t_.sm[which % t_.sm.size()];
    int slot = 0;
    while (slot < int(blocks_here_.size()) && blocks_here_[size_t(slot)].left) ++slot;
    if (slot == int(blocks_here_.size())) blocks_here_.emplace_back();
    blocks_here_[size_t(slot)] = {.warps = int(block.warps.size()),
                                  .left = int(block.warps.size())};
    started_ += 1;
    int index = 0;
    for (const auto& stream : block.warps) {
      int w = int(warps_.size());
      if (free_.empty()) warps_.emplace_back();
      else w = free_.back(), free_.pop_back();
      WarpState& ws = warps_[size_t(w)];
      ws.begin = ws.at = stream.data();
      ws.end = stream.data() + stream.size();
      ws.time = when;
      ws.copies = 0;
      ws.waits = false;
      ws.block = slot;
      ws.scheduler = (index++ + slot * int(block.warps.size())) % kSchedulers;
      ws.elsewhere = which / t_.sm.size() * 0x10000001ull;
      ws.ready.assign(t_.register_count, 0);
      ++live_;
      by_scheduler_[size_t(ws.scheduler)].push_back(w);
      look_again(size_t(ws.scheduler));
      take_chunk(w, when);
    }
  }

  void take_chunk(int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    ws.next = 0;
    ws.chunk.clear();
    while (ws.at < ws.end && ws.chunk.empty()) ordering_.take(ws.at, ws.end, ws.chunk);
    if (ws.chunk.empty()) end_warp(w, std::max(now + 4, ws.time));
    else wait_for_operands(ws);
  }

  void end_warp(int w, double now) {
    const WarpState& ws = warps_[size_t(w)];
    auto& list = by_scheduler_[size_t(ws.scheduler)];
    list.erase(std::find(list.begin(), list.end(), w));
    free_.push_back(w);
    --live_;
    if (--blocks_here_[size_t(ws.block)].left) return open(ws.block);
    ended_ += 1;
    if (started_ < blocks_) start_block(now + f_.block_turnaround);
  }

  void wait_for_operands(WarpState& ws) {
    const Op& op = op_of(ws);
    if ((op.issues > 0 || op.accesses) && ws.chunk[ws.next].accesses)
      for (uint32_t i = 0; i < op.reads; ++i)
        ws.time = std::max(ws.time, ws.ready[t_.registers[op.registers + i]]);
    if (op.kind == Op::Kind::wait_copies) ws.time = std::max(ws.time, ws.copies);
  }
  const Op& op_of(const WarpState& ws) const { return t_.ops[ws.chunk[ws.next].op]; }

  // --- issue ---

  // The warp that can issue first, and when. What each scheduler said last is a lower bound: others
  // may have taken the memory pipe since, and nothing comes sooner than it said.
  int earliest(double& when) {
    while (true) {
      size_t first = 0;
      for (size_t s = 1; s < kSchedulers; ++s)
        if (next_[s].when < next_[first].when - 1e-9) first = s;
      if (next_[first].is_known) {
        when = next_[first].when;
        return next_[first].warp;
      }
      look(first);
      if (next_[first].warp < 0 && std::ranges::all_of(next_, &Candidate::is_none)) return -1;
    }
  }
  void look(size_t s) {
    Candidate best = {.warp = -1, .when = kNever, .is_known = true};
    for (const int w : by_scheduler_[s]) {
      const WarpState& ws = warps_[size_t(w)];
      if (ws.waits) continue;
      const double at = std::max({ws.time, slot_[s], pipe_free(s, op_of(ws))});
      if (at < best.when - 1e-9) best.when = at, best.warp = w;
    }
    next_[s] = best;
  }
  // Something has changed that may let a warp of the scheduler issue sooner.
  void look_again(size_t s) { next_[s] = {.warp = -1, .when = 0, .is_known = false}; }

  Pipe pipe_of(size_t scheduler, const Op& op) const {
    const auto free = [&](Pipe pipe) { return pipe_[scheduler][size_t(pipe)]; };
    return op.may_use_fma && free(Pipe::fma_heavy) < free(op.pipe) ? Pipe::fma_heavy : op.pipe;
  }
  double pipe_free(size_t scheduler, const Op& op) const {
    if (op.issues == 0) return 0;
    if (op.pipe != Pipe::lsu) return pipe_[scheduler][size_t(pipe_of(scheduler, op))];
    const bool stores = op.kind == Op::Kind::store || op.kind == Op::Kind::reduction;
    return std::max(lsu_ - f_.lsu_queue, stores ? memory_.backlog() - f_.store_backlog : 0);
  }

  void issue(int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    const auto s = size_t(ws.scheduler);
    const Op& op = op_of(ws);
    now_ = std::max(now_, now);
    double done = now + double(op.latency);
    const bool is_off = !ws.chunk[ws.next].accesses;
    if (op.issues == 0 && !op.accesses) {  // no instruction: hands its operands on
      done = 0;
      for (uint32_t i = 0; i < op.reads; ++i)
        done = std::max(done, ws.ready[t_.registers[op.registers + i]]);
    } else {
      slot_[s] = ws.time = now + double(op.issues);
      issued_ += double(op.issues);
      if (op.accesses && !is_off) {
        lsu_moved_ = true;
        done = access(op, ws, now);
      } else if (op.pipe == Pipe::lsu || op.kind == Op::Kind::barrier) {
        lsu_moved_ = true;
        const double turns = op.pipe == Pipe::lsu ? double(op.busy) : 1;
        lsu_ = std::max(lsu_, now) + turns;
        lsu_busy_ += turns;
      } else {
        const auto pipe = size_t(pipe_of(s, op));
        pipe_[s][pipe] = now + double(op.busy);
        busy_[pipe] += double(op.busy);
      }
    }
    for (uint32_t i = 0; i < op.writes && !is_off; ++i)
      ws.ready[t_.registers[op.registers + op.reads + i]] = done;
    if (op.kind == Op::Kind::barrier) meet(w, now);
    else advance(w, now);
  }

  void advance(int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    if (++ws.next < ws.chunk.size()) wait_for_operands(ws);
    else take_chunk(w, now);
  }

  // --- barriers ---

  void meet(int w, double now) {
    const int block = warps_[size_t(w)].block;
    Resident& b = blocks_here_[size_t(block)];
    barrier_ = std::max(barrier_, now) + f_.barrier_per_warp;
    b.latest = std::max(b.latest, barrier_);
    ++b.waiting;
    warps_[size_t(w)].waits = true;
    open(block);
  }

  void open(int block) {
    Resident& b = blocks_here_[size_t(block)];
    if (!b.waiting || b.waiting < b.left) return;
    b.waiting = 0;
    const double when = b.latest + f_.barrier_latency;
    std::vector<int> waiting;
    for (const auto& list : by_scheduler_)
      for (const int w : list)
        if (warps_[size_t(w)].block == block && warps_[size_t(w)].waits) waiting.push_back(w);
    for (const int w : waiting) {
      warps_[size_t(w)].waits = false;
      warps_[size_t(w)].time = std::max(warps_[size_t(w)].time, when);
      look_again(size_t(warps_[size_t(w)].scheduler));
    }
    for (const int w : waiting) advance(w, when);
  }

  // --- memory ---

  // Makes the accesses of an instruction; returns when their results are there.
  double access(const Op& op, WarpState& ws, double now) {
    const uint32_t* payload = ws.chunk[ws.next].accesses;
    double done = now;
    if (op.kind == Op::Kind::constant) {
      constant_ = std::max(constant_, now) + 1 + (payload[0] - 1) * f_.constant_word;
      return constant_ + f_.constant_latency;
    }
    for (int a = 0; a < op.accesses; ++a) {
      const uint32_t lines = payload[1];
      const double start = std::max(now, lsu_);
      const bool by_lanes = op.kind == Op::Kind::atomic || op.kind == Op::Kind::reduction;
      const double turns =
          std::max(1.0, double(lines && by_lanes ? lines : payload[0])) * f_.wavefront_cycles;
      lsu_ = start + turns;
      lsu_busy_ += turns;
      if (!lines) done = std::max(done, start + turns + f_.shared_latency);
      for (uint32_t i = 0; i < lines; ++i) {
        const uint32_t low = payload[2 + 2 * i], high = payload[3 + 2 * i];
        uint64_t line = uint64_t(high & 0xfff) << 32 | low;
        if (ws.elsewhere && !t_.common_lines.contains(line)) line += ws.elsewhere;
        done = std::max(done, touch(op, ws.chunk[ws.next].op, start + i, line, high >> 28,
                                    double(payload[0]) / lines));
      }
      payload += 2 + 2 * lines;
    }
    if (op.kind != Op::Kind::copy) return done;
    ws.copies = std::max(ws.copies, done);
    return now;
  }

  // Some sectors of a line of global memory.
  double touch(const Op& op, uint32_t number, double now, uint64_t line, uint32_t sectors,
               double lanes) {
    const int count = std::popcount(sectors);
    const bool reads = op.kind == Op::Kind::load || op.kind == Op::Kind::copy;
    if (op.kind == Op::Kind::store) {
      cache_.drop(line);
      stored_ = std::max(stored_, memory_.write(number, now, count));
      return now;
    }
    if (!reads) {
      const double done = memory_.update(number, now, line, count, lanes);
      stored_ = std::max(stored_, done);
      return done;
    }
    if (op.bypasses_l1) return memory_.read(number, now, line, count);
    FirstCache::Line& kept = cache_.find(line, now);
    const uint32_t missing = sectors & ~uint32_t(kept.sectors);
    l1_sectors_ += count;
    l1_hits_ += count - std::popcount(missing);
    if (missing) {
      kept.ready = std::max(kept.ready, memory_.read(number, now, line, std::popcount(missing)));
      kept.sectors |= uint8_t(missing);
    }
    return std::max(kept.ready, now + f_.l1_latency);
  }

  const Work& t_;
  const Figures& f_;
  const double blocks_;
  const int resident_;
  const double active_sms_, interval_;
  FirstCache cache_;
  Memory memory_;
  Ordering ordering_;

  std::vector<Resident> blocks_here_;
  std::vector<WarpState> warps_;
  std::vector<int> free_;  // warps that have ended
  std::array<std::vector<int>, kSchedulers> by_scheduler_;
  double started_ = 0, ended_ = 0;  // blocks
  double last_start_ = -1e9;
  int live_ = 0;  // warps

  double now_ = 0;
  std::array<Candidate, kSchedulers> next_ = {};
  bool lsu_moved_ = false;
  std::array<double, kSchedulers> slot_ = {};                      // when each may issue again
  std::array<std::array<double, kPipes>, kSchedulers> pipe_ = {};  // when each pipe is free again
  double lsu_ = 0, barrier_ = 0, stored_ = 0, constant_ = 0;

  double issued_ = 0, lsu_busy_ = 0, l1_hits_ = 0, l1_sectors_ = 0;
  std::array<double, kPipes> busy_ = {};
};

}  // namespace

SmTime run_sm(const Work& work, const Figures& figures, double blocks, int resident,
              double active_sms) {
  if (work.sm.empty()) return {};
  return Sm(work, figures, blocks, resident, active_sms).run();
}

}  // namespace ridge::model
