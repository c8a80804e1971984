#include "vm/exec/observer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

constexpr size_t kMostObservers = 8;  // one bit of Watch::told for each

// Hands every event on to several observers.
class Observers final : public Observer {
 public:
  std::vector<Observer*> list;

  bool wants_exact_bounds() const override { return any(&Observer::wants_exact_bounds); }
  bool wants_late_stores() const override { return any(&Observer::wants_late_stores); }
  bool watches_host() const override { return any(&Observer::watches_host); }
  bool follows_host() const override { return any(&Observer::follows_host); }
  bool watches(const GridRun& grid) override {
    return std::ranges::any_of(list, [&](Observer* one) { return one->watches(grid); });
  }
  bool wants_order(const GridRun& grid) override {
    return std::ranges::any_of(list, [&](Observer* one) { return one->wants_order(grid); });
  }
  bool looks_for_leaks() const override { return any(&Observer::looks_for_leaks); }

  // Whatever anybody wants.
  std::vector<uint64_t> choose(const GridRun& grid) override {
    InFlight& launch = launch_of(grid);
    for (PerWorker& worker : launch.workers) worker.hand_out();  // what was seen may decide
    const bool first = launch.wanted.empty();
    if (first) launch.wanted.resize(list.size());
    std::vector<uint64_t> all;
    bool whole = false;  // somebody wants all blocks
    for (size_t k = 0; k < list.size(); ++k) {
      std::vector<uint64_t>& wanted = launch.wanted[k];
      if (!first && wanted.empty()) continue;  // it has had enough
      wanted = list[k]->choose(grid);
      whole |= first && wanted.empty();
      std::erase_if(wanted, [&](uint64_t b) { return !grid.has_run.empty() && grid.has_run[b]; });
      all.insert(all.end(), wanted.begin(), wanted.end());
    }
    if (whole) {
      launch.wanted.clear();
      return {};
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }
  void begin(const GridRun& grid, unsigned workers) override {
    launch_of(grid).workers.resize(workers);
    tell(&Observer::begin, grid, workers);
  }
  void end(const GridRun& grid) override {
    InFlight launch;
    {
      const std::lock_guard lock(mutex_);
      launch = std::move(launches_.extract(grid.id).mapped());
    }
    for (PerWorker& worker : launch.workers) worker.hand_out();
    tell(&Observer::end, grid);
  }
  Watch watch(const Warp& w) override {
    const Found& found = find(w);
    if (found.worker->block != w.block->index) {
      found.worker->hand_out();  // before anybody is asked about another block
      found.worker->block = w.block->index;
      ++found.worker->turn;
    }
    Merged& merged = *found.merged;
    if (merged.turn != found.worker->turn) {
      merged.turn = found.worker->turn;
      merged.ask(list, found.launch->wanted, w);
    }
    return {merged.counter(), merged.told};
  }
  void before(const Warp& w, const Inst* inst) override {
    const Merged& merged = *find(w).merged;
    for (uint32_t who = merged.told[size_t(inst - merged.first)]; who; who &= who - 1)
      list[size_t(std::countr_zero(who))]->before(w, inst);
  }
  bool ends_blocks() const override { return any(&Observer::ends_blocks); }
  bool has_enough(const Block& block) override {
    const Wanted& wanted = launch_of(*block.grid).wanted;
    const auto all_who_hear = [&](auto agrees) {
      for (size_t k = 0; k < list.size(); ++k)
        if (wants(wanted, k, block.index) && !agrees(*list[k])) return false;
      return true;
    };
    return all_who_hear([](Observer& one) { return one.ends_blocks(); }) &&
           all_who_hear([&](Observer& one) { return one.has_enough(block); });
  }
  void finish() override { tell(&Observer::finish); }

  void block_begins(const Block& block) override { tell_of(block, &Observer::block_begins, block); }
  void block_ends(const Block& block) override { tell_of(block, &Observer::block_ends, block); }
  void barrier_opens(const Block& block, uint32_t id) override {
    tell_of(block, &Observer::barrier_opens, block, id);
  }
  void cluster_barrier_opens(const Cluster& cluster) override {
    tell(&Observer::cluster_barrier_opens, cluster);
  }
  void lanes_meet(const Warp& w, uint32_t lanes) override {
    tell_of(*w.block, &Observer::lanes_meet, w, lanes);
  }
  void copy_lands(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override {
    tell_of(*w.block, &Observer::copy_lands, w, entry, lanes);
  }
  void copy_starts(const Warp& w, const AsyncEntry& entry) override {
    tell_of(*w.block, &Observer::copy_starts, w, entry);
  }
  void copy_has_read(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override {
    tell_of(*w.block, &Observer::copy_has_read, w, entry, lanes);
  }
  void phase_completes(const Block& block, uint32_t offset) override {
    tell_of(block, &Observer::phase_completes, block, offset);
  }
  void phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                   uint32_t over) override {
    tell_of(*w.block, &Observer::phase_asked, w, inst, barriers, over);
  }
  std::optional<report::Finding> stuck(const Cluster& cluster) override {
    for (Observer* one : list)
      if (auto finding = one->stuck(cluster)) return finding;
    return std::nullopt;
  }

  void work_begins(const WorkOrderRef& order) override { tell(&Observer::work_begins, order); }
  void copies(const Allocations& memory, uint64_t to, uint64_t from, uint64_t bytes) override {
    tell(&Observer::copies, memory, to, from, bytes);
  }
  void fills(const Allocations& memory, uint64_t to, uint64_t bytes) override {
    tell(&Observer::fills, memory, to, bytes);
  }
  void submitted(const WorkOrderRef& order, const Allocations& memory,
                 const std::vector<Use>& uses) override {
    for (Observer* one : list)
      if (one->watches_host()) one->submitted(order, memory, uses);
  }
  void host_waited(const std::map<uint64_t, uint64_t>& host) override {
    tell(&Observer::host_waited, host);
  }
  void asked(const WorkOrderRef& order, const Asked& asked) override {
    tell(&Observer::asked, order, asked);
  }
  void node_begins(size_t node) override { tell(&Observer::node_begins, node); }
  bool wants_host_calls() const override { return any(&Observer::wants_host_calls); }
  bool keeps_time() const override { return any(&Observer::keeps_time); }
  std::optional<double> elapsed_us(const Recorded& from, const Recorded& to) override {
    for (Observer* one : list)
      if (const auto us = one->elapsed_us(from, to)) return us;
    return std::nullopt;
  }
  bool host_touches(const HostAccess& access) override {
    bool opened = false;
    for (Observer* one : list)
      if (one->watches_host()) opened |= one->host_touches(access);
    return opened;
  }

 private:
  using Wanted = std::vector<std::vector<uint64_t>>;  // by observer: blocks of this round
  static bool wants(const Wanted& wanted, size_t observer, uint64_t block) {
    return wanted.empty() || std::ranges::binary_search(wanted[observer], block);
  }

  // What all observers want to know of one function in the block that runs, for one worker of one
  // launch.
  struct Merged {
    const Inst* first = nullptr;
    uint64_t turn = 0;                         // of the worker when they were asked
    const uint8_t* told = nullptr;             // by instruction: bit k stands for observer k
    std::vector<Watch::Executed*> counts;      // of those who want to know how often each was met
    std::vector<Watch::Executed> for_several;  // counts for them all, until they are handed out

    Watch::Executed* counter() {
      if (counts.empty()) return nullptr;
      return counts.size() == 1 ? counts[0] : for_several.data();
    }
    void hand_out() {
      if (counts.size() < 2) return;
      for (size_t i = 0; i < for_several.size(); ++i) {
        if (!for_several[i].warps) continue;
        for (Watch::Executed* to : counts) {
          to[i].warps += for_several[i].warps;
          to[i].threads += for_several[i].threads;
        }
        for_several[i] = {};
      }
    }
    void ask(const std::vector<Observer*>& list, const Wanted& wanted, const Warp& w) {
      const size_t size = w.frame->code->insts.size();
      first = w.frame->code->insts.data();
      counts.clear();
      std::array<Answer, kMostObservers> answers = {};
      for (size_t k = 0; k < list.size(); ++k) {
        if (!wants(wanted, k, w.block->index)) continue;
        const Watch watch = list[k]->watch(w);
        if (watch.executed) counts.push_back(watch.executed);
        answers[k] = {true, watch.told};
      }
      if (counts.size() > 1) for_several.resize(size);
      told = table_of(answers, list.size(), size);
    }

   private:
    struct Answer {
      bool wants = false;
      const uint8_t* told = nullptr;
      bool operator==(const Answer&) const = default;
    };
    struct Table {
      std::array<Answer, kMostObservers> answers;
      std::vector<uint8_t> told;
    };
    // Answers repeat from block to block: a table for each that came up.
    const uint8_t* table_of(const std::array<Answer, kMostObservers>& answers, size_t observers,
                            size_t size) {
      for (const Table& table : tables_)
        if (table.answers == answers) return table.told.data();
      Table& table = tables_.emplace_back(answers, std::vector<uint8_t>(size));
      for (size_t k = 0; k < observers; ++k)
        for (size_t i = 0; answers[k].wants && i < size; ++i)
          if (!answers[k].told || answers[k].told[i]) table.told[i] |= uint8_t(1u << k);
      return table.told.data();
    }
    std::deque<Table> tables_;
  };
  struct PerWorker {
    uint64_t block = ~0ull;  // that runs
    uint64_t turn = 0;       // how often another one came
    std::unordered_map<const Code*, Merged> functions;

    void hand_out() {
      for (auto& [code, merged] : functions) merged.hand_out();
    }
  };
  struct InFlight {
    std::vector<PerWorker> workers;
    Wanted wanted;  // empty: all blocks run, and everybody hears of them
  };

  InFlight& launch_of(const GridRun& grid) {
    const std::lock_guard lock(mutex_);
    return launches_[grid.id];  // stays where it is
  }
  struct Found {
    uint64_t grid = ~0ull;
    const Code* code = nullptr;
    InFlight* launch = nullptr;
    PerWorker* worker = nullptr;
    Merged* merged = nullptr;
  };
  const Found& find(const Warp& w) {
    // What a thread looked up last; the launch's number tells a new one at the same place.
    thread_local Found last;
    const Code& code = *w.frame->code;
    const GridRun& grid = *w.worker->grid;
    if (last.grid == grid.id && last.code == &code) return last;
    InFlight& launch = launch_of(grid);
    PerWorker& worker = launch.workers.at(w.worker->index);
    last = {grid.id, &code, &launch, &worker, &worker.functions[&code]};
    return last;
  }

  // Of what happens in a block: those who hear of it.
  template <class... Parameters, class... Arguments>
  void tell_of(const Block& block, void (Observer::*event)(Parameters...),
               const Arguments&... arguments) {
    if (block.grid->chosen.empty()) return tell(event, arguments...);
    const Wanted& wanted = launch_of(*block.grid).wanted;
    for (size_t k = 0; k < list.size(); ++k)
      if (wants(wanted, k, block.index)) (list[k]->*event)(arguments...);
  }
  template <class... Parameters, class... Arguments>
  void tell(void (Observer::*event)(Parameters...), const Arguments&... arguments) {
    for (Observer* one : list) (one->*event)(arguments...);
  }
  bool any(bool (Observer::*asks)() const) const {
    return std::ranges::any_of(list, [&](const Observer* one) { return (one->*asks)(); });
  }

  std::mutex mutex_;
  std::unordered_map<uint64_t, InFlight> launches_;  // by number
};

// Made on first use, because observers subscribe themselves before main; never destroyed, because
// kernels may still run while the process exits.
Observers& observers() {
  static Observers& instance = *new Observers;
  return instance;
}

constinit std::atomic<Observer*> current{nullptr};

void choose_current() {
  const std::vector<Observer*>& list = observers().list;
  current = list.empty() ? nullptr : list.size() == 1 ? list[0] : &observers();
}

}  // namespace

// A grid whose blocks let dependents begin before they had waited themselves says nothing about
// what those still wait for.
bool WorkOrder::may_overlap(const WorkOrder& dependent) const {
  return std::ranges::any_of(dependent.prerequisites, [&](const auto& one) {
    const WorkOrderRef other = one.lock();
    if (!other || other->trigger == Trigger::none) return false;
    return other.get() == this || (other->trigger == Trigger::at_once && may_overlap(*other));
  });
}

bool WorkOrder::is_before(const WorkOrder& other, bool has_waited) const {
  if (!has_waited && !other.prerequisites.empty() && may_overlap(other)) return false;
  if (!prerequisites.empty() && other.may_overlap(*this)) return false;
  if (stream == other.stream) return number <= other.number;
  const auto known = other.after.find(stream);
  return known != other.after.end() && number <= known->second;
}

WorkOrderRef part_of(const WorkOrder& whole, const WorkOrderRef& before) {
  auto part = std::make_shared<WorkOrder>();
  part->stream = whole.stream;
  part->number = whole.number;
  part->after = whole.after;
  part->alone = whole.alone && !before;
  if (before) part->prerequisites.push_back(before);
  return part;
}

void add_observer(Observer* observer) {
  assert(observers().list.size() < kMostObservers && "Watch::told has one bit for each observer");
  observers().list.push_back(observer);
  choose_current();
}

void remove_observer(Observer* observer) {
  std::erase(observers().list, observer);
  choose_current();
}

void set_only_observer(Observer* observer) {
  if (observer) current = observer;
  else choose_current();
}

Observer* observer() { return current; }

}  // namespace ridge::vm
