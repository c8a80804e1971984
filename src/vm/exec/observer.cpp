#include "vm/exec/observer.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <mutex>
#include <unordered_map>

#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

constexpr size_t kMostObservers = 8;  // one bit of Watch::told for each

// Hands every event on to several observers. Which blocks run is nobody's choice then (choose is
// not handed on): the part of a launch that is enough for one may not be enough for another.
class Observers final : public Observer {
 public:
  std::vector<Observer*> list;

  bool wants_exact_bounds() const override { return any(&Observer::wants_exact_bounds); }
  bool wants_late_stores() const override { return any(&Observer::wants_late_stores); }
  bool watches_host() const override { return any(&Observer::watches_host); }
  bool looks_for_leaks() const override { return any(&Observer::looks_for_leaks); }

  void begin(const GridRun& grid, unsigned workers) override {
    {
      const std::lock_guard lock(mutex_);
      launches_[grid.id].resize(workers);
    }
    tell(&Observer::begin, grid, workers);
  }
  void end(const GridRun& grid) override {
    std::vector<Functions> workers;
    {
      const std::lock_guard lock(mutex_);
      workers = std::move(launches_.extract(grid.id).mapped());
    }
    for (const Functions& functions : workers)
      for (const auto& [code, merged] : functions) merged.hand_out();
    tell(&Observer::end, grid);
  }
  Watch watch(const Warp& w) override {
    Merged& merged = merged_of(w);
    return {merged.counter(), merged.told.data()};
  }
  void before(const Warp& w, const Inst* inst) override {
    const Merged& merged = merged_of(w);
    for (uint32_t who = merged.told[size_t(inst - merged.first)]; who; who &= who - 1)
      list[size_t(std::countr_zero(who))]->before(w, inst);
  }
  void finish() override { tell(&Observer::finish); }

  void block_begins(const Block& block) override { tell(&Observer::block_begins, block); }
  void block_ends(const Block& block) override { tell(&Observer::block_ends, block); }
  void barrier_opens(const Block& block, uint32_t id) override {
    tell(&Observer::barrier_opens, block, id);
  }
  void cluster_barrier_opens(const Cluster& cluster) override {
    tell(&Observer::cluster_barrier_opens, cluster);
  }
  void lanes_meet(const Warp& w, uint32_t lanes) override { tell(&Observer::lanes_meet, w, lanes); }
  void copy_lands(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override {
    tell(&Observer::copy_lands, w, entry, lanes);
  }
  void copy_starts(const Warp& w, const AsyncEntry& entry) override {
    tell(&Observer::copy_starts, w, entry);
  }
  void copy_has_read(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override {
    tell(&Observer::copy_has_read, w, entry, lanes);
  }
  void phase_completes(const Block& block, uint32_t offset) override {
    tell(&Observer::phase_completes, block, offset);
  }
  void phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                   uint32_t over) override {
    tell(&Observer::phase_asked, w, inst, barriers, over);
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
    for (Observer* one : list)
      if (one->watches_host()) one->host_waited(host);
  }
  bool host_touches(const HostAccess& access) override {
    bool opened = false;
    for (Observer* one : list)
      if (one->watches_host()) opened |= one->host_touches(access);
    return opened;
  }

 private:
  // What all observers want to know of one function, for one worker of one launch.
  struct Merged {
    const Inst* first = nullptr;
    std::vector<uint8_t> told;                 // by instruction: bit k stands for observer k
    std::vector<Watch::Executed*> counts;      // of those who want to know how often each was met
    std::vector<Watch::Executed> for_several;  // counts for them all, handed out at the end

    Watch::Executed* counter() {
      if (counts.empty()) return nullptr;
      return for_several.empty() ? counts[0] : for_several.data();
    }
    void hand_out() const {
      for (Watch::Executed* to : counts)
        for (size_t i = 0; i < for_several.size(); ++i) {
          to[i].warps += for_several[i].warps;
          to[i].threads += for_several[i].threads;
        }
    }
  };
  using Functions = std::unordered_map<const Code*, Merged>;

  Merged& merged_of(const Warp& w) {
    // What a thread looked up last; the launch's number tells a new one at the same place.
    thread_local struct {
      uint64_t grid = ~0ull;
      const Code* code = nullptr;
      Merged* merged = nullptr;
    } last;
    const Code& code = *w.frame->code;
    const GridRun& grid = *w.worker->grid;
    if (last.grid == grid.id && last.code == &code) return *last.merged;
    Functions* functions = nullptr;
    {
      const std::lock_guard lock(mutex_);
      functions = &launches_.at(grid.id).at(w.worker->index);
    }
    const auto [found, fresh] = functions->try_emplace(&code);  // the worker's own
    if (fresh) ask_all(found->second, w);
    last = {grid.id, &code, &found->second};
    return found->second;
  }
  void ask_all(Merged& merged, const Warp& w) {
    const size_t size = w.frame->code->insts.size();
    merged.first = w.frame->code->insts.data();
    merged.told.resize(size);
    for (size_t k = 0; k < list.size(); ++k) {
      const Watch wanted = list[k]->watch(w);
      if (wanted.executed) merged.counts.push_back(wanted.executed);
      for (size_t i = 0; i < size; ++i)
        if (!wanted.told || wanted.told[i]) merged.told[i] |= uint8_t(1u << k);
    }
    if (merged.counts.size() > 1) merged.for_several.resize(size);
  }

  template <class... Parameters, class... Arguments>
  void tell(void (Observer::*event)(Parameters...), const Arguments&... arguments) {
    for (Observer* one : list) (one->*event)(arguments...);
  }
  bool any(bool (Observer::*asks)() const) const {
    return std::ranges::any_of(list, [&](const Observer* one) { return (one->*asks)(); });
  }

  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<Functions>> launches_;  // by number; then by worker
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

Observer* observer() { return current; }

}  // namespace ridge::vm
