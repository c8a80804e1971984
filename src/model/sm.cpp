#include "model/sm.h"

#include <algorithm>
#include <bit>
#include <deque>

#include "model/first_cache.h"
#include "model/memory.h"
#include "model/warps.h"

namespace ridge::model {
namespace {

constexpr int kSchedulers = 4;
// Instructions that are replayed: at least so many, so that the beginning does not count for much;
// more where blocks are long, so that all of their parts are seen.
constexpr double kLeastReplayed = 5e5, kMostReplayed = 3e6, kWavesReplayed = 1.5;

constexpr double kNever = 1e300;

// Who may issue next, of a scheduler's warps.
struct Candidate {
  int warp = -1;
  double when = 0;
  bool is_known = false;  // not only a lower bound
  bool is_none() const { return is_known && warp < 0; }
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
      if (warp < 0) break;  // all wait for what a stream that was cut off would have done
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
    blocks_here_[size_t(slot)].begin(block);
    started_ += 1;
    int index = 0;
    for (const auto& stream : block.warps) {
      int w = int(warps_.size());
      if (free_.empty()) warps_.emplace_back();
      else w = free_.back(), free_.pop_back();
      WarpState& ws = warps_[size_t(w)];
      ws.start(stream, when, t_.register_count);
      ws.block = slot;
      ws.index = index;
      ws.scheduler = (index++ + slot * int(block.warps.size())) % kSchedulers;
      ws.elsewhere = which / t_.sm.size() * 0x10000001ull;
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
    stored_ = std::max(stored_, ws.stores.last());
    if (--blocks_here_[size_t(ws.block)].left) return recheck(ws.block);
    ended_ += 1;
    if (started_ < blocks_) start_block(now + f_.block_turnaround);
  }

  void wait_for_operands(WarpState& ws) {
    const Op& op = op_of(ws);
    if ((op.issues > 0 || op.accesses) && ws.chunk[ws.next].accesses)
      for (uint32_t i = 0; i < op.reads; ++i)
        ws.time = std::max(ws.time, ws.ready[t_.registers[op.registers + i]]);
    ws.time = std::max(ws.time, groups_over(ws, op));
    if (op.kind == Op::Kind::wait_phase) ws.time = std::max(ws.time, ws.asks_again);
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
    if (op.kind == Op::Kind::product)
      return pipe_[scheduler][size_t(Pipe::tensor)] - f_.product_queue;
    if (op.pipe != Pipe::lsu) return pipe_[scheduler][size_t(pipe_of(scheduler, op))];
    const bool stores = op.kind == Op::Kind::store || op.kind == Op::Kind::reduction;
    const double behind = std::max(peers_, stores ? memory_.backlog() : 0);
    return std::max(lsu_ - f_.lsu_queue, behind - f_.store_backlog);
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
      slot_[s] = now + double(op.issues) * f_.issue_cycles;
      ws.time = now + std::max(double(op.issues), double(op.stall));
      issued_ += double(op.issues);
      if (is_asynchronous(op.kind)) {
        lsu_moved_ = true;
        done = start(op, ws, now);
      } else if (op.accesses && !is_off && !is_meeting(op.kind)) {
        lsu_moved_ = true;
        done = access(op, ws, now);
      } else if (op.pipe == Pipe::lsu || op.kind == Op::Kind::barrier ||
                 op.kind == Op::Kind::named_barrier) {
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
    if (goes_on(op, w, now)) advance(w, now);
  }

  void advance(int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    if (++ws.next < ws.chunk.size()) wait_for_operands(ws);
    else take_chunk(w, now);
  }

  // --- barriers ---

  // Whether the warp may go on after the instruction that it has just issued.
  bool goes_on(const Op& op, int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    Resident& b = blocks_here_[size_t(ws.block)];
    if (!ws.chunk[ws.next].accesses) return true;  // switched off
    switch (op.kind) {
      case Op::Kind::barrier:
        ws.waits = true;
        b.whole.arrive(w, true, barrier_turn(now));
        recheck(ws.block);
        return false;
      case Op::Kind::named_barrier: return meet(b, w, barrier_turn(now));
      case Op::Kind::cluster_arrive:
        ++ws.cluster_arrivals;
        if (b.cluster.arrive(std::max(now, peers_), b.left, f_.cluster_barrier))
          let_cluster_go(ws.block);
        return true;
      case Op::Kind::cluster_wait:
        if (b.cluster.is_open(ws.cluster_arrivals)) {
          ws.time = std::max(ws.time, b.cluster.open());
          return true;
        }
        ws.waits = true;
        at_cluster_.push_back(w);
        return false;
      case Op::Kind::wait_phase: return phase_is_over(b, w);
      case Op::Kind::fence_products: {
        Barrier& group = b.warpgroups[size_t(ws.index) / 4 % b.warpgroups.size()];
        group.arrive(w, true, now);
        ws.waits = true;
        const auto open = group.open_for(4);
        if (open.is_open) let_go(open.warps, open.when);
        return false;
      }
      default: return true;
    }
  }

  double barrier_turn(double now) {
    return barrier_ = std::max(barrier_, now) + f_.barrier_per_warp;
  }

  bool meet(Resident& b, int w, double now) {
    WarpState& ws = warps_[size_t(w)];
    const uint32_t* payload = ws.chunk[ws.next].accesses;
    Resident::Named& named = b.named[payload[0] >> 1 & 15];
    const bool waits = payload[0] & 1;
    named.needed = int((payload[2] + 31) / 32);
    named.barrier.arrive(w, waits, now);
    ws.waits = waits;
    auto open = named.barrier.open_for(named.needed);
    if (!open.is_open) return !waits;
    // The warp itself goes on as the others do, but its caller moves it.
    std::erase(open.warps, w);
    ws.waits = false;
    if (waits) ws.time = std::max(ws.time, open.when + f_.barrier_latency);
    let_go(open.warps, open.when + f_.barrier_latency);
    return true;
  }

  // A warp came to the block's barrier or ended: it may be the one that the others wait for.
  void recheck(int block) {
    Resident& b = blocks_here_[size_t(block)];
    const auto open = b.whole.open_for(b.left);
    if (open.is_open) let_go(open.warps, open.when + f_.barrier_latency);
  }

  void let_go(const std::vector<int>& warps, double when) {
    for (const int w : warps) {
      warps_[size_t(w)].waits = false;
      warps_[size_t(w)].time = std::max(warps_[size_t(w)].time, when);
      look_again(size_t(warps_[size_t(w)].scheduler));
    }
    for (const int w : warps) advance(w, when);
  }

  void let_cluster_go(int block) {
    std::vector<int> here;
    std::erase_if(at_cluster_, [&](int w) {
      if (warps_[size_t(w)].block != block) return false;
      here.push_back(w);
      return true;
    });
    let_go(here, blocks_here_[size_t(block)].cluster.open());
  }

  // --- asynchronous work ---

  // Its access in the stream says whom the warp waits for.
  static bool is_meeting(Op::Kind kind) {
    return kind == Op::Kind::named_barrier || kind == Op::Kind::wait_phase;
  }
  static bool is_asynchronous(Op::Kind kind) {
    return kind >= Op::Kind::commit_copies && kind != Op::Kind::wait_phase;
  }

  // When the groups that a wait is for are over.
  static double groups_over(WarpState& ws, const Op& op) {
    switch (op.kind) {
      case Op::Kind::wait_copies: return ws.copies.wait(op.newest);
      case Op::Kind::wait_bulk: return (op.only_read ? ws.reads : ws.stores).wait(op.newest);
      case Op::Kind::wait_products: return ws.products.wait(op.newest);
      default: return 0;
    }
  }

  // Starts it; the result is when the warp's own part is done.
  double start(const Op& op, WarpState& ws, double now) {
    const uint32_t* payload = ws.chunk[ws.next].accesses;
    switch (op.kind) {
      case Op::Kind::commit_copies: ws.copies.commit(); break;
      case Op::Kind::commit_bulk: ws.stores.commit(), ws.reads.commit(); break;
      case Op::Kind::commit_products: ws.products.commit(); break;
      case Op::Kind::product: multiply(op, ws, now); break;
      case Op::Kind::bulk_load:
        if (payload) ws.loaded = std::max(ws.loaded, load_bulk(ws, now));
        ws.asks_again = now + f_.bulk_issue;
        break;
      case Op::Kind::bulk_store:
        if (payload) store_bulk(ws, now);
        break;
      case Op::Kind::signal:
        mbarrier_ = std::max(mbarrier_, now + double(op.stall)) + f_.mbarrier_turn;
        if (payload)
          signal(ws, std::max(mbarrier_, op.newest ? ws.copies.last() : 0) + f_.mbarrier_arrive);
        return mbarrier_ + f_.mbarrier_arrive;
      case Op::Kind::lands: signal(ws, ws.loaded); break;
      case Op::Kind::arrived: signal(ws, now + f_.cluster_latency); break;
      case Op::Kind::delivered:
        signal(ws, std::max(ws.loaded, memory_.receive(now, payload[0])));
        break;
      default: break;
    }
    return now;
  }

  // Sixteen rows of a warpgroup's product on the tensor core of the warp's scheduler. Operands come
  // from shared memory, which all four parts share.
  void multiply(const Op& op, WarpState& ws, double now) {
    double& pipe = pipe_[size_t(ws.scheduler)][size_t(Pipe::tensor)];
    operands_ = std::max(operands_, now) + double(op.operands);
    lsu_ = std::max(lsu_, now) + double(op.operands);
    // The first operands are enough to begin with.
    const double begin = std::max({now, pipe, operands_ - 4 * double(op.operands)});
    pipe = begin + double(op.busy);
    busy_[size_t(Pipe::tensor)] += double(op.busy);
    ws.products.add(pipe + f_.product_latency);
  }

  // Calls `use(line, sectors)` for each line of the access.
  template <class F>
  void each_line(const WarpState& ws, const uint32_t* payload, F use) const {
    for (uint32_t i = 0; i < payload[1]; ++i) {
      const uint32_t low = payload[2 + 2 * i], high = payload[3 + 2 * i];
      uint64_t line = uint64_t(high & 0xfff) << 32 | low;
      if (ws.elsewhere && !t_.common_lines.contains(line)) line += ws.elsewhere;
      use(line, high >> 28);
    }
  }

  // The copy engine asks for one line per cycle, one copy after the other.
  double load_bulk(const WarpState& ws, double now) {
    const Next& next = ws.chunk[ws.next];
    double done = now;
    engine_ = std::max(engine_, now);
    each_line(ws, next.accesses, [&](uint64_t line, uint32_t sectors) {
      done = std::max(done, memory_.read_bulk(next.op, engine_, line, std::popcount(sectors)));
      engine_ += 1;
    });
    return done;
  }

  void store_bulk(WarpState& ws, double now) {
    const Next& next = ws.chunk[ws.next];
    double read = std::max({now, engine_, memory_.backlog() - f_.store_backlog}), written = read;
    each_line(ws, next.accesses, [&](uint64_t line, uint32_t sectors) {
      const int count = std::popcount(sectors);
      cache_.drop(line);
      read += 32.0 * count / f_.bulk_store_bytes_per_cycle;
      written = std::max(written, memory_.write(next.op, read, count));
    });
    engine_ = read;
    ws.reads.add(read);
    ws.stores.add(written + f_.l2_latency);
  }

  void signal(const WarpState& ws, double when) {
    const uint32_t* payload = ws.chunk[ws.next].accesses;
    const int block = ws.block;  // `ws` may move
    for (uint32_t i = 0; payload && i < payload[1]; ++i)
      let_go(blocks_here_[size_t(block)].phases.signal(
                 phase_key(payload[2 + 2 * i], payload[3 + 2 * i]), when),
             when + f_.mbarrier_wake);
  }

  // Waits for the first phase that is not over.
  bool phase_is_over(Resident& b, int w) {
    WarpState& ws = warps_[size_t(w)];
    const uint32_t* payload = ws.chunk[ws.next].accesses;
    for (uint32_t i = 0; i < payload[1]; ++i) {
      const uint64_t key = phase_key(payload[2 + 2 * i], payload[3 + 2 * i]);
      if (!b.phases.is_over(key)) {
        b.phases.wait(key, w);
        ws.waits = true;
        return false;
      }
      ws.time = std::max(ws.time, b.phases.over(key) + f_.mbarrier_wake);
    }
    return true;
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
      if (lines && payload[3] >> 28 == 0) {  // bytes to or from another SM
        const double turns = payload[2] / f_.cluster_bytes_per_cycle;
        peers_ = std::max(peers_, now) + turns;
        done = std::max(done, peers_ + f_.cluster_latency);
        payload += 4;
        continue;
      }
      const double start = std::max(now, lsu_);
      const bool by_lanes = op.kind == Op::Kind::atomic || op.kind == Op::Kind::reduction;
      const double turns =
          std::max(1.0, double(lines && by_lanes ? lines : payload[0])) * f_.wavefront_cycles;
      lsu_ = start + turns;
      lsu_busy_ += turns;
      if (!lines) done = std::max(done, start + turns + f_.shared_latency);
      double each = start;
      each_line(ws, payload, [&](uint64_t line, uint32_t sectors) {
        done = std::max(
            done, touch(op, ws.chunk[ws.next].op, each, line, sectors, double(payload[0]) / lines));
        each += 1;
      });
      payload += 2 + 2 * lines;
    }
    if (op.kind != Op::Kind::copy) return done;
    ws.copies.add(done);
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

  // Deques: who waits is let go, and ends, while references are held.
  std::deque<Resident> blocks_here_;
  std::deque<WarpState> warps_;
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
  // The copy engine, what products read from shared memory, mbarriers, the way to other SMs.
  double engine_ = 0, operands_ = 0, mbarrier_ = 0, peers_ = 0;
  std::vector<int> at_cluster_;  // warps that wait for their cluster

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
