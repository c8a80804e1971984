// cp.async: copies from global to shared memory that land when somebody waits for them
// (src/vm/exec/async.h). Addresses are checked when the copy starts.
#include <algorithm>

#include "vm/isa/bulk_update.h"
#include "vm/isa/groups.h"
#include "vm/isa/mbarrier.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

using Kind = AsyncEntry::Kind;

// Runs `check` for the lanes of `lanes` only.
template <class Check>
bool for_lanes(Warp& w, uint32_t lanes, Check check) {
  if (!lanes) return true;
  const uint32_t all = w.mask;
  w.mask = lanes;
  const bool ok = check();
  w.mask = all;
  return ok;
}

// Fields: a, b = destination; c, x[0] = source; x[1] = size; x[2] = size of the source, or x[3] = a
// predicate of the lanes that read nothing.
const Inst* copy(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const uint32_t bytes = w.src<uint32_t>(more.x[1])[0];
  const uint32_t* destination = w.src<uint32_t>(inst->a);
  const uint64_t* source = w.src<uint64_t>(inst->c);
  const uint32_t to_offset = inst->b - w.shared_start;
  const uint64_t from_offset = uint64_t(int64_t(int32_t(more.x[0])));
  if (!check_window(w, inst, destination, int32_t(to_offset), bytes, w.shared_size,
                    "shared cp.async"))
    return nullptr;

  uint32_t whole = w.mask;  // lanes that read all their bytes
  uint32_t size[kWarpSize];
  std::fill_n(size, kWarpSize, bytes);
  if (more.x[2] != kNoOperand) {
    const uint32_t* wanted = w.src<uint32_t>(more.x[2]);
    for (int i = 0; i < kWarpSize; ++i) {
      size[i] = std::min(wanted[i], bytes);
      whole &= ~(uint32_t(size[i] < bytes) << i);
    }
  }
  if (more.x[3] != kNoOperand) {
    const uint32_t ignored = w.pred(more.x[3]);
    whole &= ~ignored;
    each_active(ignored, [&](int i) { size[i] = 0; });
  }
  if (!for_lanes(w, whole, [&] {
        return bool(check_global(w, inst, source, int64_t(from_offset), bytes, "cp.async"));
      }))
    return nullptr;
  // A part of the source, perhaps the last bytes of an allocation; an empty part may be anywhere.
  for (uint32_t left = w.mask & ~whole; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!size[i]) continue;
    const uint64_t at = source[i] + from_offset;
    if (at % bytes)
      return raise(w, inst, FaultKind::misaligned_address, uint32_t(i), at, bytes, "cp.async");
    if (!range_is_known(w, inst, at, at + size[i]) && !check_range(w, inst, at, at + size[i]) &&
        !passes_on_a_gpu(w, inst, uint32_t(i), at, size[i], "cp.async"))
      return raise(w, inst, FaultKind::illegal_address, uint32_t(i), at, size[i], "cp.async");
  }

  AsyncEntry& entry = w.async.push(w, Kind::copy, w.mask, inst);
  entry.bytes = uint8_t(bytes);
  for (int i = 0; i < kWarpSize; ++i) {
    entry.shared[i] = destination[i] + to_offset;
    entry.global[i] = source[i] + from_offset;
    entry.size[i] = size[i];
  }
  return inst + 2;
}
Handlers select_copy(const Form&) { return {copy, copy, true}; }

// The copy of a block of bytes that cuda::memcpy_async makes. Fields: a, b = destination; c, x[0] =
// source; x[1] = size; x[2], x[3] = the barrier that is told the bytes; x[4] = the blocks of the
// cluster that get them (multicast), each at the same offset, as its barrier.
template <bool Multicast>
const Inst* bulk_copy(Warp& w, const Inst* inst) {
  constexpr uint32_t kUnit = 16;  // bytes
  const Wide& more = wide(inst);
  const uint32_t* destination = w.src<uint32_t>(inst->a);
  const uint64_t* source = w.src<uint64_t>(inst->c);
  const uint32_t* sizes = w.src<uint32_t>(more.x[1]);
  const uint32_t* barrier = w.src<uint32_t>(more.x[2]);
  const uint64_t from_offset = uint64_t(int64_t(int32_t(more.x[0])));
  uint8_t* places[kWarpSize];
  if (!find_shared(w, inst, barrier, int32_t(more.x[3]), 8, "shared mbarrier", places))
    return nullptr;
  const size_t ranks = w.block->cluster->blocks.size();
  uint32_t receivers[kWarpSize], all = 0;  // by lane, one bit for each rank
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint32_t to = destination[i] + inst->b, size = sizes[i];
    const uint64_t from = source[i] + from_offset;
    const auto fault = [&](FaultKind kind, uint64_t at, uint32_t bytes, const char* what) {
      return raise(w, inst, kind, uint32_t(i), at, bytes, what);
    };
    if (!check_bulk_size(w, inst, i, size)) return nullptr;
    if (to % kUnit) return fault(FaultKind::misaligned_address, to, kUnit, "shared cp.async.bulk");
    if (from % kUnit) return fault(FaultKind::misaligned_address, from, kUnit, "cp.async.bulk");
    if (!check_shared(w, inst, i, to, size, "shared cp.async.bulk")) return nullptr;
    if (size && !check_range(w, inst, from, from + size) &&
        !passes_on_a_gpu(w, inst, uint32_t(i), from, size, "cp.async.bulk"))
      return fault(FaultKind::illegal_address, from, size, "cp.async.bulk");
    receivers[i] = 1u << (to >> kRankShift);
    if constexpr (Multicast) {
      receivers[i] = w.src<uint16_t>(more.x[4])[i];
      if (receivers[i] >> ranks)
        return fault(FaultKind::illegal_instruction, receivers[i], 0,
                     "multicast to a block that the cluster does not have");
    }
    all |= receivers[i];
  }
  for (; all; all &= all - 1) {
    const auto rank = uint32_t(__builtin_ctz(all));
    uint32_t lanes = 0;
    each_active(w.mask, [&](int i) { lanes |= (receivers[i] >> rank & 1) << i; });
    const auto at_rank = [&](uint32_t address) {
      return Multicast ? address % uint32_t(kWindowSize) | rank << kRankShift : address;
    };
    AsyncEntry& entry = w.async.push(w, Kind::bulk_load, lanes, inst);
    each_active(lanes, [&](int i) {
      entry.shared[i] = at_rank(destination[i] + inst->b);
      entry.global[i] = source[i] + from_offset;
      entry.size[i] = sizes[i];
      entry.barrier[i] = at_rank(barrier[i] + more.x[3]);
    });
    AsyncQueue::started(w, entry);
  }
  return inst + 2;
}
Handlers select_bulk_copy(const Form& form) {
  if (form.has("multicast::cluster")) return {bulk_copy<true>, bulk_copy<true>, true};
  return {bulk_copy<false>, bulk_copy<false>, true};
}

const Inst* commit(Warp& w, const Inst* inst) {
  if (!w.async.empty()) w.async.push(w, Kind::commit, w.mask, inst);
  return inst + 1;
}
Handlers select_commit(const Form&) { return {commit, commit}; }

const Inst* wait_group(Warp& w, const Inst* inst) {
  const bool ok = w.async.empty() || w.async.wait_groups(w, w.mask, w.src<uint32_t>(inst->a)[0]);
  return ok ? inst + 1 : nullptr;
}
Handlers select_wait_group(const Form&) { return {wait_group, wait_group}; }

const Inst* wait_all(Warp& w, const Inst* inst) {
  return w.async.empty() || w.async.wait_all(w, w.mask) ? inst + 1 : nullptr;
}
Handlers select_wait_all(const Form&) { return {wait_all, wait_all}; }

// The barrier is arrived at when the lane's copies have landed. Without .noinc the phase expects
// one arrival more, so that the program need not count them.
template <bool Generic, bool Increments>
const Inst* arrive(Warp& w, const Inst* inst) {
  uint32_t at[kWarpSize];
  if (!mbarrier::addresses(w, inst, Generic, false, at)) return nullptr;
  for (uint32_t left = Increments ? w.mask : 0; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (const char* wrong = mbarrier::add_pending(w, at[i]))
      return raise(w, inst, FaultKind::trap, uint32_t(i), at[i], 0, wrong);
  }
  AsyncEntry& entry = w.async.push(w, Kind::arrive, w.mask, inst);
  each_active(w.mask, [&](int i) { entry.shared[i] = at[i]; });
  return inst + 1;
}
Handlers select_arrive(const Form& form) {
  if (form.space == Space::generic) {
    if (form.has("noinc")) return {arrive<true, false>, arrive<true, false>};
    return {arrive<true, true>, arrive<true, true>};
  }
  if (form.has("noinc")) return {arrive<false, false>, arrive<false, false>};
  return {arrive<false, true>, arrive<false, true>};
}

#define RIDGE_COPY "[shared|shared::cta][global]{%hint}{%prefetch}"
constexpr Facts kCopy{.access = AccessKind::copy, .encoding = Encoding::copy};
constexpr Facts kBulkCopy{.access = AccessKind::bulk_copy, .encoding = Encoding::copy};
constexpr Facts kCommit{.sync = Sync::copy_commit, .encoding = Encoding::copy};
constexpr Facts kWait{.sync = Sync::copy_wait, .encoding = Encoding::copy, .fences = true};
constexpr Facts kArrive{
    .access = AccessKind::barrier_word, .sync = Sync::copy_arrive, .encoding = Encoding::copy};
constexpr InstrDef kRows[] = {
    {"cp[async][ca|cg]" RIDGE_COPY, "[a]:shared,[b]:global,c:u32", Unit::memory, kCopy,
     select_copy},
    // The last operand may be a predicate, too: the lanes it holds for read nothing.
    {"cp[async][ca|cg]" RIDGE_COPY, "[a]:shared,[b]:global,c:u32,e:u32", Unit::memory, kCopy,
     select_copy},
    {"cp[async][commit_group]", "", Unit::memory, kCommit, select_commit},
    {"cp[async][wait_group]", "a:u32", Unit::memory, kWait, select_wait_group},
    {"cp[async][wait_all]", "", Unit::memory, kWait, select_wait_all},
    {"cp[async][mbarrier][arrive]{noinc}{shared|shared::cta}[b64]", "[a]", Unit::memory, kArrive,
     select_arrive},
    {"cp[async][bulk][shared::cta|shared::cluster][global][mbarrier::complete_tx::bytes]{%hint}",
     "[a]:shared,[b]:global,c:u32,[e]:shared", Unit::memory, kBulkCopy, select_bulk_copy},
    {"cp[async][bulk][shared::cluster][global][mbarrier::complete_tx::bytes][multicast::cluster]"
     "{%hint}",
     "[a]:shared,[b]:global,c:u32,[e]:shared,f:u16", Unit::memory, kBulkCopy, select_bulk_copy},
};
#undef RIDGE_COPY

}  // namespace

std::span<const InstrDef> async_rows() { return kRows; }

}  // namespace ridge::vm
