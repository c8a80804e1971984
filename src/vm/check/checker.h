// Watches for hazards: races, reads of memory without a value, barriers that do not meet,
// asynchronous copies that are used too early, memory that is never freed.
//
// Two accesses to a word of which one writes are a race unless something orders them. What orders
// the threads of a block is followed exactly where it is a barrier of the block or __syncwarp, and
// by whole warps where it is something else (a barrier of some warps, an mbarrier, an atomic after
// a fence); blocks are ordered by what one releases and another reads. Where it is not exact it
// takes too much for ordered, so that it does not speak of races that cannot be.
#pragma once

#include <deque>
#include <optional>

#include "vm/check/early.h"
#include "vm/check/finding.h"
#include "vm/check/races.h"
#include "vm/check/state.h"
#include "vm/check/whole_words.h"

namespace ridge::vm::check {

class Checker : public Observer {
 public:
  Checker();
  ~Checker() override;

  void begin(const GridRun& grid, unsigned workers) override;
  void end(const GridRun& grid) override;
  Watch watch(const Warp& w) override;
  void before(const Warp& w, const Inst* inst) override;
  void finish() override;
  bool wants_exact_bounds() const override { return true; }
  bool wants_late_stores() const override { return true; }
  bool watches_host() const override { return true; }
  void submitted(const WorkOrderRef& order, const Allocations& memory,
                 const std::vector<Use>& uses) override;
  void host_waited(const std::map<uint64_t, uint64_t>& host) override;
  bool host_touches(const HostAccess& access) override;
  void block_begins(const Block& block) override;
  void block_ends(const Block& block) override;
  void barrier_opens(const Block& block, uint32_t id) override;
  void cluster_barrier_opens(const Cluster& cluster) override;
  void lanes_meet(const Warp& w, uint32_t lanes) override;
  void copy_lands(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override;
  void copy_starts(const Warp& w, const AsyncEntry& entry) override;
  void copy_has_read(const Warp& w, const AsyncEntry& entry, uint32_t lanes) override;
  void phase_completes(const Block& block, uint32_t offset) override;
  void phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                   uint32_t over) override;
  std::optional<report::Finding> stuck(const Cluster& cluster) override;
  void work_begins(const WorkOrderRef& order) override;
  void copies(const Allocations& memory, uint64_t to, uint64_t from, uint64_t bytes) override;
  void fills(const Allocations& memory, uint64_t to, uint64_t bytes) override;
  bool looks_for_leaks() const override { return true; }

 private:
  // One instruction of a warp.
  struct Access {
    BlockState& b;
    WarpState& ws;
    const Warp& w;
    const Inst* inst;
    const Site& s;
    uint32_t segment;
    uint32_t base;  // the number of lane 0 in the block
  };
  // One word of it, by one lane.
  struct Word {
    uint32_t thread;
    uint32_t mask;     // its bytes
    uint64_t address;  // in shared memory, an offset
    uint32_t part;     // which word of the lane's
    bool shared;
    const BlockState* home = nullptr;  // whose shared memory it is; null: the thread's own block
  };

  // checker.cpp
  BlockState& state_of(const Block& block);
  const Site& site_of(BlockState& b, const Code& code, const Inst* inst);
  uint32_t segment_of(BlockState& b, WarpState& ws, uint32_t warp);
  uint32_t new_segment(BlockState& b);
  void act(const Access& a);

  // access.cpp
  bool on_rows(const Access& a);
  void on_memory(const Access& a);
  void on_speculated(const Access& a);
  void decide(const Access& a);
  void read_part(const Access& a, const Speculated& part, uint32_t lanes, const uint64_t* at,
                 bool shared);
  struct Lanes {
    uint32_t shared = 0, global = 0, peer = 0;
  };
  Lanes addresses_of(const Access& a, uint64_t* at);
  void on_matrix(const Access& a);
  void on_tile(const Access& a);
  void on_shared(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);
  void on_global(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);
  void read_shared(const Access& a, uint64_t at, uint32_t mask, uint32_t thread, uint32_t part);
  void write_shared(const Access& a, uint64_t at, uint32_t mask, uint32_t thread, uint32_t part,
                    uint32_t flags);
  static WholeWords whole_words(const Access& a, uint32_t flags);
  void read_shared_words(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t words);
  void read_global(const Access& a, Range& range, Cell& cell, uint64_t at, uint32_t mask,
                   uint32_t thread, uint32_t part);
  void write_global(const Access& a, Range& range, Cell& cell, uint64_t at, uint32_t mask,
                    uint32_t thread, uint32_t part, uint32_t flags);
  uint32_t read_pages(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);
  void touch_global(const Access& a, uint32_t thread, uint64_t begin, uint64_t end, bool writes,
                    uint32_t flags);
  void forget_freed_ranges(WorkerState& worker);
  Range* range_of(const Access& a, uint64_t address);
  bool is_in_step(const Access& a, Record write);
  bool same_value(const Access& a, const Word& word, Record other) const;
  bool becomes_same_value(const Access& a, const Word& word, Record other);

  // copies.cpp
  void on_copy(const Access& a);
  void small_copy_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int lane, bool own);
  void check_sources(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);

  // bulk.cpp
  void load_starts(const Access& a, const AsyncEntry& entry, int lane);
  void read_source(const Access& a, const AsyncEntry& entry, int lane);
  void load_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int lane);
  static bool is_left_over(const BlockState& b, Record write, uint64_t at);
  void store_starts(const Access& a, const AsyncEntry& entry, int lane);
  void store_lands(BlockState& b, const Warp& w, const AsyncEntry& entry, int lane);
  void on_bulk_wait(const Access& a);
  static void forget_over(BlockState& b);
  void check_bulk_reads(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);
  void check_reads_of_box(const Access& a, const Box& box, uint32_t thread);
  bool is_too_early(const Access& a, const BulkRead& read, uint32_t thread);
  void check_bulk_writes(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes,
                         bool reads);

  // proxy.cpp
  void on_proxy_fence(const Access& a);
  // A bulk copy or a product reads bytes of the block's own shared memory (an offset there), for
  // this thread, at the instruction of `a`: they must have a value, be ordered, and be fenced.
  void async_proxy_reads(const Access& a, uint32_t thread, uint32_t begin, uint32_t bytes);

  // mbarriers.cpp
  static Mbarrier& mbarrier_at(BlockState& b, uint32_t offset);
  static void arrive_at(BlockState& b, uint32_t warp, Mbarrier& m);
  uint32_t landed_segment(BlockState& b, Mbarrier& m);
  void on_token(const Access& a);
  void initialise(const Access& a, uint32_t offset, uint32_t thread);
  void arrive_at_peer_of(const Access& a, uint32_t address, uint32_t thread);
  bool check_initialised(const Access& a, BlockState& owner, uint32_t offset, uint32_t thread);
  static void note_wait(Mbarrier& m, BlockState& b, uint32_t warp, uint32_t lane, uint32_t site);
  static void note_arrival(const Access& a);
  void check_waiters(BlockState& b, Mbarrier& m, uint32_t offset);

  // products.cpp
  void on_product(const Access& a);
  void on_product_fence(const Access& a);
  void on_product_commit(const Access& a);
  void on_product_wait(const Access& a);
  static WarpgroupProducts& warpgroup_of(BlockState& b, uint32_t warp);
  void read_matrices(const Access& a, const Products::Product& product);
  static void end_reads(BlockState& b, uint32_t warp, const Products& p,
                        const Products::Product& product, uint32_t segment);
  static void forget_products(BlockState& b);
  void report_operand(const Access& a, const Word& word, Record read);

  // product_registers.cpp
  static Products& products_of(const Access& a);
  void start_in_registers(const Access& a, Products& p, const Products::Product& product,
                          bool adds);
  void on_touch(const Access& a);
  void overwrite(const Access& a, Products& p, Products::Place& place);
  void report_touched(const Access& a, Products& p, uint32_t product, bool writes);
  void report_copied(const Access& a, Products& p, Products::Place& place);
  void report_fragment(const Access& a, Products& p, const Products::Place& fragment);
  void report_no_product_fence(const Access& a, uint32_t writer);

  // cluster.cpp
  static Lanes split_by_rank(const Warp& w, uint32_t lanes, uint64_t* at);
  BlockState* peer_of(const Warp& w, uint32_t address);              // null: no peer has it
  void reach_peer(const Warp& w, uint32_t address, uint32_t bytes);  // these have a value now
  void arrive_at_peer(const Warp& w, uint32_t address);
  void visit(const Access& a, BlockState& home, uint32_t thread, bool reads);
  void on_leave(const Access& a);
  void on_cluster_barrier(const Access& a);
  void on_behind(const Access& a);
  void look_for_parts(BlockState& b);
  void report_not_started(const Access& a, const BlockState& home, uint32_t thread);
  void report_leaves_early(const BlockState& home, const Visit& visit);
  void report_cluster_barrier(const Access& a, uint32_t lanes, uint32_t before);
  void report_skipped(const BlockState& b, uint32_t barrier, uint32_t thread, BlockState& peer);

  // remote.cpp
  static uint64_t key_of(const BlockState& b, uint64_t offset);
  void on_peers(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);
  void read_at_peer(const Access& a, BlockState& home, const Word& word);
  void write_at_peer(const Access& a, BlockState& home, const Word& word);
  void sent_lands(const Warp& w, BlockState& home, const AsyncEntry& entry, int lane);
  static bool may_conflict(const Access& a, const BlockState& home, const Word& word, Record other);
  void compare_with_peers(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes,
                          bool writes);
  void release_to_peers(const Access& a, uint32_t lanes, const uint64_t* at);

  // order.cpp
  bool ordered(const Access& a, const Segment& then, uint32_t thread, const Word& word, bool read);
  void on_barrier(const Access& a);
  void begin_interval(BlockState& b, const ClockRef& clock, bool fenced);
  void reach_barrier(const Access& a, uint32_t id);
  void look_for_leavers(BlockState& b, const Block& block, uint32_t id);
  void on_lanes(const Access& a);
  void on_fence(const Access& a);
  void meet(BlockState& b, const Warp& w, uint32_t lanes);
  void fence(BlockState& b, WarpState& ws, bool block_scope);
  ClockRef told_by(const Access& a);
  void release(const Access& a, uint32_t lanes, const uint64_t* at, bool shared);
  void wait_for_result(const Access& a, uint32_t lanes, const uint64_t* at, bool shared);
  void take_result(BlockState& b, WarpState& ws, const Warp& w);
  void acquire(BlockState& b, WarpState& ws, uint32_t warp, uint64_t at);

  // shuffle.cpp, bounds.cpp
  void on_shuffle(const Access& a, const uint32_t* members);
  void report_shuffle(const Access& a, uint32_t lane, uint32_t from, const char* why);
  std::string thread_name(const Access& a, uint32_t thread) const;
  void check_array(const Access& a, uint32_t lanes, const uint64_t* at);
  void check_tensor(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes);

  // early.cpp
  std::optional<SiteInfo> kernel_access(const EarlyAccesses::Early& early);
  bool judge_early(const EarlyAccesses::Early& early);

  // dependent.cpp
  void on_grid_wait(const Access& a);
  bool has_waited(const Access& a) const;
  bool may_overlap(uint32_t launch, uint32_t other);
  void report_dependent(const Access& a, const Word& word, Record other, bool other_writes,
                        bool writes);

  // host.cpp
  struct HostWork {
    uint32_t launch, bound, segment;
    WorkOrderRef order;
  };
  uint32_t bound_of(const WorkOrderRef& order);  // the mutex is held
  bool launch_is_before(uint32_t launch, uint32_t other, bool has_waited = false);
  void copy_touches(uint64_t address, uint64_t bytes, bool writes, uint32_t site);
  void report_host(const HostWork& work, uint64_t address, Record other, bool other_writes,
                   bool writes, uint32_t site);

  // describe.cpp
  // False where something orders the two, or nobody can tell.
  bool report_conflict(const Access& a, const Word& word, Record other, bool other_writes,
                       bool writes, bool several);
  void report_flight(const Access& a, const Word& word, uint32_t site, uint32_t thread, bool writes,
                     bool source);
  void report_empty(const Access& a, const Word& word);

  // stuck.cpp
  struct Waiter {
    BlockState* b = nullptr;
    uint32_t warp = 0, lane = 0, site = 0, barrier = 0;
  };
  bool spins_for_ever(const Fragment& f, const WarpState& ws, uint64_t rounds);
  report::Finding describe_stuck(const std::vector<Waiter>& waiters);
  void explain_stuck(const Waiter& waiter, Finding& f);

  // describe_async.cpp
  void report_load(const Access& a, const Word& word, Record other, bool other_writes, bool writes,
                   bool several);
  void describe_start(const Access& a, Record other, bool other_writes, Finding& f);
  void describe_early(const Access& a, const BulkLoad& load, const char* done, Finding& f);
  void add_with_callers(Finding& f);
  void report_overwritten(const Access& a, const BulkRead& read, uint32_t offset, uint32_t thread);
  void report_not_written(const Access& a, const BulkWrite& write, const Word& word, bool reads);
  void report_unfenced(const Access& a, const Word& word, Record write);
  void report_initialisation(const Access& a, const Mbarrier& m, uint32_t offset, uint32_t thread,
                             bool of_peer);
  void report_short_phase(BlockState& b, const Mbarrier& m, uint32_t offset, const BulkLoad& load);
  void report_reuse(BlockState& b, const Mbarrier& m, uint32_t offset, uint32_t warp);
  void report_barriers(const Access& a, uint32_t other_site);
  void report_part_of_warp(BlockState& b, uint32_t warp);
  void report_leavers(const BlockState& b, uint32_t warp, uint32_t lanes, uint32_t other,
                      uint32_t gone);
  void report_mask(const Access& a, uint32_t lane, bool differs);
  bool is_part_of_wide_load(const Access& a, const Word& word);
  bool is_padding(const Access& a, const Word& word);
  std::string memory_name(const Access& a, const Word& word);

  Sites sites_;
  Findings findings_;
  Races races_;
  Segments segments_;
  Shadow shadow_;
  Releases releases_;
  std::mutex mutex_;
  uint64_t launch_count_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<LaunchState>> launches_;  // under way, by grid id
  std::vector<WorkOrderRef> orders_{nullptr};  // of launches and copies, by their number
  struct Past {
    WorkOrderRef order;
    uint32_t first;  // segment
  };
  std::deque<Past> past_;  // the last ones that other streams may not be ordered behind
  std::atomic<const Allocations*> memory_ = nullptr;  // the device's
  EarlyAccesses early_{[this](const EarlyAccesses::Early& early) { return judge_early(early); }};
};

}  // namespace ridge::vm::check
