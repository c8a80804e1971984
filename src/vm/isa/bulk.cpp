// Bulk stores: cp.async.bulk and cp.reduce.async.bulk from shared memory. To global memory they
// come in groups that the thread can wait for; to shared memory of the cluster they tell an
// mbarrier (src/vm/exec/async.h).
#include "vm/isa/bulk_update.h"
#include "vm/isa/groups.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

using Kind = AsyncEntry::Kind;

// Handlers::flags: the operation, and the type that it is done in; none: the bytes are copied.
uint32_t flags_of(Operation operation, Type type) {
  return uint32_t(operation) | uint32_t(type) << 8;
}
BulkUpdate update_of(uint32_t flags) {
  const auto operation = Operation(flags & 0xff);
  return operation == Operation::none ? replace_bytes : bulk_update(operation, Type(flags >> 8));
}

constexpr uint32_t kUnit = 16;  // bytes

// The lanes' sources: offsets in the block's own shared memory. False after a fault.
bool find_sources(Warp& w, const Inst* inst, uint32_t* offsets) {
  const Wide& more = wide(inst);
  const uint32_t *source = w.src<uint32_t>(inst->c), *size = w.src<uint32_t>(more.x[1]);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!check_bulk_size(w, inst, i, size[i])) return false;
    const uint32_t from = offsets[i] = source[i] + more.x[0] - w.shared_start;
    const bool misaligned = from % kUnit;
    if (!misaligned && uint64_t(from) + size[i] <= w.shared_size) continue;
    raise(w, inst, misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address,
          uint32_t(i), from, misaligned ? kUnit : size[i], "shared cp.async.bulk");
    return false;
  }
  return true;
}

// To global memory. Fields: a, b = destination; c, x[0] = source; x[1] = size.
const Inst* bulk_store(Warp& w, const Inst* inst) {
  const uint64_t* destination = w.src<uint64_t>(inst->a);
  const uint32_t* size = w.src<uint32_t>(wide(inst).x[1]);
  const uint64_t to_offset = uint64_t(int64_t(int32_t(inst->b)));
  uint32_t sources[kWarpSize];
  if (!find_sources(w, inst, sources)) return nullptr;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t to = destination[i] + to_offset;
    if (to % kUnit)
      return raise(w, inst, FaultKind::misaligned_address, uint32_t(i), to, kUnit, "cp.async.bulk");
    if (size[i] && !check_range(w, inst, to, to + size[i]) &&
        !passes_on_a_gpu(w, inst, uint32_t(i), to, size[i], "cp.async.bulk"))
      return raise(w, inst, FaultKind::illegal_address, uint32_t(i), to, size[i], "cp.async.bulk");
  }
  AsyncEntry& entry = w.async.push(w, Kind::bulk_store, w.mask, inst);
  entry.update = update_of(wide(inst).flags);
  each_active(w.mask, [&](int i) {
    entry.shared[i] = sources[i];
    entry.global[i] = destination[i] + to_offset;
    entry.size[i] = size[i];
  });
  AsyncQueue::started(w, entry);
  return inst + 2;
}

// To shared memory of the cluster. Fields: the same, and x[2], x[3] = the barrier that is told the
// bytes.
const Inst* bulk_to_peer(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const uint32_t *destination = w.src<uint32_t>(inst->a), *size = w.src<uint32_t>(more.x[1]);
  const uint32_t* barrier = w.src<uint32_t>(more.x[2]);
  uint32_t sources[kWarpSize];
  uint8_t* places[kWarpSize];
  if (!find_shared(w, inst, barrier, int32_t(more.x[3]), 8, "shared mbarrier", places) ||
      !find_sources(w, inst, sources))
    return nullptr;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint32_t to = destination[i] + inst->b;
    if (to % kUnit)
      return raise(w, inst, FaultKind::misaligned_address, uint32_t(i), to, kUnit,
                   "shared cp.async.bulk");
    if (!check_shared(w, inst, i, to, size[i], "shared cp.async.bulk")) return nullptr;
  }
  AsyncEntry& entry = w.async.push(w, Kind::peer_store, w.mask, inst);
  entry.update = update_of(more.flags);
  each_active(w.mask, [&](int i) {
    entry.shared[i] = destination[i] + inst->b;
    entry.global[i] = sources[i];
    entry.size[i] = size[i];
    entry.barrier[i] = barrier[i] + more.x[3];
  });
  AsyncQueue::started(w, entry);
  return inst + 2;
}

Handlers select_store(const Form& form) {
  const Handler handler = form.has("shared::cluster") ? bulk_to_peer : bulk_store;
  if (form.operation == Operation::none) return {handler, handler, true};
  if (!bulk_update(form.operation, form.type())) return {};
  return {handler, handler, true, flags_of(form.operation, form.type())};
}

const Inst* commit(Warp& w, const Inst* inst) {
  if (!w.async.empty()) w.async.push(w, Kind::bulk_commit, w.mask, inst);
  return inst + 1;
}
Handlers select_commit(const Form&) { return {commit, commit}; }

template <bool OnlyRead>
const Inst* wait(Warp& w, const Inst* inst) {
  const uint32_t newest = w.src<uint32_t>(inst->a)[0];
  const bool ok = w.async.empty() || w.async.wait_bulk_groups(w, w.mask, newest, OnlyRead);
  return ok ? inst + 1 : nullptr;
}
Handlers select_wait(const Form& form) {
  return form.has("read") ? Handlers{wait<true>, wait<true>} : Handlers{wait<false>, wait<false>};
}

constexpr Facts kStore{.access = AccessKind::bulk_store, .encoding = Encoding::copy};
constexpr Facts kToPeer{.access = AccessKind::peer_store, .encoding = Encoding::copy};
constexpr Facts kCommit{.sync = Sync::bulk_commit, .encoding = Encoding::copy};
constexpr Facts kWait{.sync = Sync::bulk_wait, .encoding = Encoding::copy, .fences = true};
#define RIDGE_REDUCE "cp[reduce][async][bulk][global][shared::cta][bulk_group]{%hint}"
#define RIDGE_OPERANDS "[a]:global,[b]:shared,c:u32"
#define RIDGE_TO_PEER "[shared::cluster][shared::cta][mbarrier::complete_tx::bytes]"
#define RIDGE_PEER_OPERANDS "[a]:shared,[b]:shared,c:u32,[e]:shared"
constexpr InstrDef kRows[] = {
    {"cp[async][bulk]" RIDGE_TO_PEER, RIDGE_PEER_OPERANDS, Unit::memory, kToPeer, select_store},
    {"cp[reduce][async][bulk]" RIDGE_TO_PEER "[add][u32|s32|u64]", RIDGE_PEER_OPERANDS,
     Unit::memory, kToPeer, select_store},
    {"cp[reduce][async][bulk]" RIDGE_TO_PEER "[min|max][u32|s32]", RIDGE_PEER_OPERANDS,
     Unit::memory, kToPeer, select_store},
    {"cp[reduce][async][bulk]" RIDGE_TO_PEER "[inc|dec][u32]", RIDGE_PEER_OPERANDS, Unit::memory,
     kToPeer, select_store},
    {"cp[reduce][async][bulk]" RIDGE_TO_PEER "[and|or|xor][b32]", RIDGE_PEER_OPERANDS, Unit::memory,
     kToPeer, select_store},
    {"cp[async][bulk][global][shared::cta][bulk_group]{%hint}", RIDGE_OPERANDS, Unit::memory,
     kStore, select_store},
    {RIDGE_REDUCE "[add][u32|s32|u64|f32|f64]", RIDGE_OPERANDS, Unit::memory, kStore, select_store},
    {RIDGE_REDUCE "[add][noftz][f16|bf16]", RIDGE_OPERANDS, Unit::memory, kStore, select_store},
    {RIDGE_REDUCE "[min|max][u32|s32|u64|s64|f16|bf16]", RIDGE_OPERANDS, Unit::memory, kStore,
     select_store},
    {RIDGE_REDUCE "[inc|dec][u32]", RIDGE_OPERANDS, Unit::memory, kStore, select_store},
    {RIDGE_REDUCE "[and|or|xor][b32|b64]", RIDGE_OPERANDS, Unit::memory, kStore, select_store},
    {"cp[async][bulk][commit_group]", "", Unit::memory, kCommit, select_commit},
    {"cp[async][bulk][wait_group]{read}", "a:u32", Unit::memory, kWait, select_wait},
};
#undef RIDGE_REDUCE
#undef RIDGE_TO_PEER
#undef RIDGE_PEER_OPERANDS
#undef RIDGE_OPERANDS

}  // namespace

std::span<const InstrDef> bulk_rows() { return kRows; }

}  // namespace ridge::vm
