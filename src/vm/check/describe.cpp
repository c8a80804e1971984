// Words for what was found.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "core/text.h"
#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"

namespace ridge::vm::check {
namespace {

std::string triple(uint32_t x, uint32_t y, uint32_t z) { return say("(", x, ",", y, ",", z, ")"); }

}  // namespace

std::string block_text(const Dim3& grid, uint64_t index) {
  return "block " + triple(uint32_t(index % grid.x), uint32_t(index / grid.x % grid.y),
                           uint32_t(index / grid.x / grid.y));
}
std::string thread_text(const Launch& launch, uint32_t thread, uint64_t block) {
  const Dim3& d = launch.block;
  return "thread " + triple(thread % d.x, thread / d.x % d.y, thread / d.x / d.y) + " of " +
         block_text(launch.grid, block);
}
std::string warp_text(const Launch& launch, uint32_t warp, uint64_t block) {
  return say("warp ", warp, " of ", block_text(launch.grid, block));
}

const char* verb_of(Act act, bool writes) {
  switch (act) {
    case Act::atomic: return "atomic";
    case Act::copy:
    case Act::bulk_copy:
    case Act::bulk_store: return writes ? "copy to" : "copy from";
    case Act::token_arrive: return "arrival";
    case Act::product: return "wgmma";
    default: return writes ? "write" : "read";
  }
}

std::string place(const SiteInfo& info) {
  if (info.file.empty()) return say("PTX line ", info.ptx_line);
  const bool elsewhere = !info.calls.empty() && info.calls[0].file != info.file;
  if (!elsewhere) return say("line ", info.line);
  return say("line ", info.line, " of ", info.file.substr(info.file.find_last_of('/') + 1));
}

std::string shared_name(const GridRun& grid, uint64_t at) {
  for (const auto& [variable, offset] : grid.code->shared_offsets)
    if (!variable->unsized && at >= offset && at < offset + variable->size)
      return say("'", own_name(variable->name), "', byte ", at - offset, " of ", variable->size);
  const uint32_t start = grid.code->dynamic_shared_offset;
  if (at < start) return say("byte ", at, " of shared memory");
  return say("dynamic shared memory, byte ", at - start, " of ", grid.launch->dynamic_shared);
}

namespace {

// The bytes of a word of shared memory that somebody has written.
uint32_t has_value(const BlockState& b, uint64_t word) {
  const Record write{b.cells[word].write};
  return b.written[word] | (write.segment() < b.first ? 0 : write.bytes());
}

}  // namespace

std::string Checker::memory_name(const Access& a, const Word& word) {
  const GridRun& grid = *a.w.worker->grid;
  const uint64_t at = word.address + uint64_t(__builtin_ctz(word.mask));
  if (word.shared)
    return shared_name(grid, at) +
           (word.home ? " in " + block_text(grid.launch->grid, word.home->index) : "");
  const auto home = memory_.load()->find(at);
  if (!home) return {};
  if (!home->name.empty())
    return say("'", own_name(home->name), "', byte ", at - home->base, " of ", home->size);
  std::string text = say("allocation #", home->id, " of ", home->size, " bytes");
  const auto& params = grid.launch->kernel->info.params;
  for (size_t k = 0; k < params.size(); ++k) {
    uint64_t value = 0;
    if (params[k].size != 8 || params[k].offset + 8 > grid.launch->params.size()) continue;
    std::memcpy(&value, grid.launch->params.data() + params[k].offset, 8);
    if (value < home->base || value >= home->end()) continue;
    text += say(" (argument ", k + 1, " of the kernel)");
    break;
  }
  return text + say(", byte ", at - home->base);
}

// A store is noted before it is executed. That of another block may still be under way on another
// worker, so its value is given a moment to arrive.
bool Checker::becomes_same_value(const Access& a, const Word& word, Record other) {
  using namespace std::chrono_literals;
  if (a.s.act != Act::store || sites_.info(other.site()).act != Act::store) return false;
  for (int k = 0; k < 200; ++k) {
    std::this_thread::sleep_for(100us);
    if (same_value(a, word, other)) return true;
  }
  return false;
}

bool Checker::report_conflict(const Access& a, const Word& word, Record other, bool other_writes,
                              bool writes, bool several) {
  const bool by_copy = word.shared && other_writes && (other.flags() & Record::kInFlight);
  if (other.segment() == Record::kNotOver) {
    if (!other_writes) report_operand(a, word, other);
    else if (sites_.info(other.site()).act == Act::copy)
      report_flight(a, word, other.site(), other.thread(), writes, false);
    else report_load(a, word, other, true, writes, false);
    return false;
  }
  const Segment& then = segments_[other.segment()];
  if (!several && ordered(a, then, other.thread(), word, !other_writes)) return false;
  if (!other_writes && word.shared && sites_.info(other.site()).act == Act::product) {
    report_operand(a, word, other);
    return true;
  }
  if (by_copy || (word.shared && a.s.act == Act::bulk_copy)) {
    report_load(a, word, other, other_writes, writes, several);
    return true;
  }
  const GridRun& grid = *a.w.worker->grid;
  const bool same_launch = then.launch == a.b.launch->id;
  const bool same_block = same_launch && then.block == a.b.index,
             same_warp = same_block && then.warp == a.w.index;
  const bool dependent = !same_launch && may_overlap(then.launch, a.b.launch->id);
  if (writes && other_writes) {
    if (same_value(a, word, other)) return false;
    if (!same_block && !races_.knows(other.site(), a.s.id) && becomes_same_value(a, word, other))
      return false;
  }
  if (dependent) {
    report_dependent(a, word, other, other_writes, writes);
    return true;
  }
  Conflict conflict;
  conflict.first = other.site();
  conflict.second = a.s.id;
  conflict.first_writes = other_writes;
  conflict.second_writes = writes;
  conflict.several = several;
  conflict.scope = same_warp && !several ? Scope::lanes
                   : same_block          ? Scope::block
                   : same_launch         ? (word.shared ? Scope::cluster : Scope::grid)
                                         : Scope::launches;
  if (same_launch && then.turn < Segment::kTurns && a.ws.turn < Segment::kTurns)
    conflict.same_turn = then.turn == a.ws.turn;
  const Dim3& block = grid.launch->block;
  conflict.rows = same_block && (several || word.thread % block.x == other.thread() % block.x);
  if (!races_.see(conflict)) return true;

  const SiteInfo before = sites_.info(other.site()), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "race";
  f.space = word.shared ? "shared" : "global";
  f.kernel = kernel_name(grid);
  f.first = {other.site(), verb_of(before.act, other_writes),
             several ? "another thread of the block"
                     : thread_text(*grid.launch, other.thread(), then.block)};
  f.second = {a.s.id, verb_of(now.act, writes), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  const char* order = !other_writes ? "write after read"
                      : writes      ? "write after write"
                                    : "read after write";
  f.what = say(order, " without synchronisation between ",
               conflict.scope == Scope::lanes     ? "lanes of a warp"
               : conflict.scope == Scope::block   ? "threads of a block"
               : conflict.scope == Scope::cluster ? "blocks of a cluster"
                                                  : "blocks");
  if (!same_launch) {
    f.first.who =
        other.site() <= Sites::kFill ? "the host, on another stream" : "a launch on another stream";
    f.what = "work of two streams touches the same memory, and nothing orders them";
  }
  races_.describe(conflict, f, grid.code, block.y * block.z > 1);
  return true;
}

void Checker::report_flight(const Access& a, const Word& word, uint32_t site, uint32_t thread,
                            bool writes, bool source) {
  if (!findings_.is_new("async", site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo started = sites_.info(site), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "async";
  f.space = word.shared ? "shared" : "global";
  f.kernel = kernel_name(grid);
  f.first = {site, verb_of(started.act, !source), thread_text(*grid.launch, thread, a.b.index)};
  f.second = {a.s.id, verb_of(now.act, writes), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.what = source   ? "the source of an asynchronous copy is overwritten while it is under way"
           : writes ? "the destination of an asynchronous copy is written while it is under way"
                    : "the destination of an asynchronous copy is read before the copy was waited "
                      "for";
  f.fix = say("wait for the copy of ", place(started),
              " (cp.async.wait_group, __pipeline_wait_prior, the mbarrier) and synchronise the "
              "block before ",
              place(now));
  findings_.add(f);
}

// Structures are copied with the gaps between their members: the word is one if, at some distance
// between structures, no other has it either, and they have the word before it.
bool Checker::is_padding(const Access& a, const Word& word) {
  constexpr uint64_t kFar = 1024;
  uint64_t begin = word.address - std::min(word.address, kFar), end = word.address + kFar;
  RangeRef range;
  if (word.shared) {
    end = std::min<uint64_t>(end, a.w.shared_size);
    for (const auto& [variable, offset] : a.w.worker->grid->code->shared_offsets)
      if (!variable->unsized && word.address >= offset && word.address < offset + variable->size) {
        begin = std::max<uint64_t>(begin, offset);
        end = std::min<uint64_t>(end, offset + variable->size);
      }
  } else {
    range = shadow_.find(*memory_.load(), word.address);
    if (!range) return false;
    begin = std::max(begin, range->base);
    end = std::min(end, range->end);
  }
  const auto have = [&](uint64_t at) {
    return range ? range->written(at) : has_value(word.home ? *word.home : a.b, at / 4);
  };
  const uint32_t missing = word.mask & ~have(word.address);
  for (const uint64_t distance : {4u, 8u, 12u, 16u, 24u, 32u, 40u, 48u, 64u}) {
    uint64_t at = word.address - (word.address - begin) / distance * distance;
    uint32_t structures = 0;
    bool gap = true;
    for (; gap && at + 4 <= end; at += distance) {
      gap = !(have(at) & missing);
      const bool there = have(at) || (distance > 4 && at >= begin + 4 && have(at - 4) == 15);
      gap &= there || at != word.address;
      structures += there;
    }
    if (gap && structures > 1) return true;
  }
  return false;
}

// A wide load may take more than it needs and throw the rest away.
bool Checker::is_part_of_wide_load(const Access& a, const Word& word) {
  const bool wide = a.s.bytes > 4 || a.s.bytes > a.s.element;
  if (!wide || a.s.merged || a.s.act != Act::load) return false;
  const uint64_t begin = word.address - word.part * 4;
  const RangeRef range = word.shared ? nullptr : shadow_.find(*memory_.load(), begin);
  for (uint64_t at = begin; at < begin + a.s.bytes; at += 4) {
    if (range ? range->written(at) : word.shared && has_value(word.home ? *word.home : a.b, at / 4))
      return true;
  }
  return false;
}

void Checker::report_empty(const Access& a, const Word& word) {
  if (is_padding(a, word) || is_part_of_wide_load(a, word)) return;
  if (!findings_.is_new("uninitialised", 0, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "uninitialised";
  f.space = word.shared ? "shared" : "global";
  f.kernel = kernel_name(grid);
  f.second = {a.s.id, verb_of(a.s.act, false), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.what = say(f.space, " memory is read that nobody has written");
  if (!word.shared)
    f.fix = "fill it with cudaMemset or cudaMemcpy, or let a kernel write it first";
  else if (a.b.mbarriers.empty()) f.fix = "write it first, and put __syncthreads() between";
  else
    f.fix = say("if a bulk copy brings it, wait for the phase of its mbarrier before ",
                place(sites_.info(a.s.id)), "; if threads write it, put __syncthreads() between");
  add_with_callers(f);
}

void Checker::report_barriers(const Access& a, uint32_t other_site) {
  const SiteInfo other = sites_.info(other_site), now = sites_.info(a.s.id);
  if (other.file == now.file && other.line == now.line && other.inside == now.inside && other.line)
    return;  // the compiler has made two of one
  if (!findings_.is_new("barrier", other_site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "barrier";
  f.kernel = kernel_name(grid);
  f.first = {other_site, "barrier", "other threads of the block"};
  f.second = {a.s.id, "barrier",
              thread_text(*grid.launch, a.base + uint32_t(__builtin_ctz(a.w.mask)), a.b.index)};
  f.what = say("threads of one block wait at different barriers, at ", place(other), " and at ",
               place(now));
  f.fix = "take the barrier out of the branch, so that all threads reach the same one";
  findings_.add(f);
}

void Checker::report_part_of_warp(BlockState& b, uint32_t warp) {
  const WarpState::Waiting waiting = std::exchange(b.warps[warp].waiting, {});
  if (!findings_.is_new("barrier", 0, waiting.site)) return;
  const GridRun& grid = *b.launch->grid;
  Finding f;
  f.kind = "barrier";
  f.kernel = kernel_name(grid);
  const uint32_t thread = warp * kWarpSize + uint32_t(__builtin_ctz(waiting.lanes));
  f.second = {waiting.site, "barrier", thread_text(*grid.launch, thread, b.index)};
  f.what = say("lanes ", hex_text(waiting.lanes, 8), " of warp ", warp,
               " reach the barrier without lanes ", hex_text(waiting.missing, 8),
               ", which do not come to it");
  f.fix = "take the barrier out of the branch or loop that some threads skip";
  findings_.add(f);
}

void Checker::report_leavers(const BlockState& b, uint32_t warp, uint32_t lanes, uint32_t other,
                             uint32_t gone) {
  const uint32_t site = b.warps[warp].barrier_site;
  if (!findings_.is_new("barrier", 0, site)) return;
  const GridRun& grid = *b.launch->grid;
  const auto who = [&](uint32_t w, uint32_t mask) {
    return thread_text(*grid.launch, w * kWarpSize + uint32_t(__builtin_ctz(mask)), b.index);
  };
  Finding f;
  f.kind = "barrier";
  f.kernel = kernel_name(grid);
  f.second = {site, "barrier", who(warp, lanes)};
  f.what = say("the barrier is reached again, and ", who(other, gone),
               ", which waited here in an earlier turn, has left the kernel");
  f.fix =
      "let all threads of the block make the same number of turns: those with nothing left to do "
      "must still reach the barrier";
  findings_.add(f);
}

void Checker::report_mask(const Access& a, uint32_t lane, bool differs) {
  if (!findings_.is_new("mask", differs, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  Finding f;
  f.kind = "mask";
  f.kernel = kernel_name(grid);
  f.second = {a.s.id, "warp synchronisation", thread_text(*grid.launch, a.base + lane, a.b.index)};
  f.what = differs ? say("lane ", lane, " and another lane it names do not give the same mask")
                   : say("lane ", lane, " takes part, but its mask leaves it out");
  f.fix = differs ? "all lanes that a mask names must give that same mask: compute it before the "
                    "lanes part"
                  : "the mask must name every lane that executes the instruction: use "
                    "__ballot_sync or __activemask() of the lanes that are there, or 0xffffffff "
                    "outside the branch";
  findings_.add(f);
}

}  // namespace ridge::vm::check
