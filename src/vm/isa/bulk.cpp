// Bulk stores: cp.async.bulk from shared to global memory, in groups that the thread can wait for
// (src/vm/exec/async.h).
#include <cstring>

#include "vm/isa/groups.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

using Kind = AsyncEntry::Kind;

void replace(void* to, const void* from, uint32_t bytes) { std::memcpy(to, from, bytes); }

// Fields: a, b = destination; c, x[0] = source; x[1] = size.
template <BulkUpdate Update>
const Inst* bulk_store(Warp& w, const Inst* inst) {
  constexpr uint32_t kUnit = 16;  // bytes
  const Wide& more = wide(inst);
  const uint64_t* destination = w.src<uint64_t>(inst->a);
  const uint32_t* source = w.src<uint32_t>(inst->c);
  const uint32_t* size = w.src<uint32_t>(more.x[1]);
  const uint64_t to_offset = uint64_t(int64_t(int32_t(inst->b)));
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t to = destination[i] + to_offset;
    const uint32_t from = source[i] + more.x[0];
    const auto fault = [&](FaultKind kind, uint64_t at, uint32_t bytes, const char* what) {
      return raise(w, inst, kind, uint32_t(i), at, bytes, what);
    };
    if (size[i] % kUnit)
      return fault(FaultKind::illegal_instruction, size[i], 0,
                   "cp.async.bulk of a size that is no multiple of 16");
    if (to % kUnit) return fault(FaultKind::misaligned_address, to, kUnit, "cp.async.bulk");
    if (from % kUnit)
      return fault(FaultKind::misaligned_address, from, kUnit, "shared cp.async.bulk");
    if (uint64_t(from) + size[i] > w.shared_size)
      return fault(FaultKind::illegal_address, from, size[i], "shared cp.async.bulk");
    if (size[i] && !check_range(w, inst, to, to + size[i]) &&
        !passes_on_a_gpu(w, inst, uint32_t(i), to, size[i], "cp.async.bulk"))
      return fault(FaultKind::illegal_address, to, size[i], "cp.async.bulk");
  }
  AsyncEntry& entry = w.async.push(w, Kind::bulk_store, w.mask, inst);
  entry.update = Update;
  for (int i = 0; i < kWarpSize; ++i) {
    entry.shared[i] = source[i] + more.x[0];
    entry.global[i] = destination[i] + to_offset;
    entry.size[i] = size[i];
  }
  return inst + 2;
}
Handlers select_store(const Form&) { return {bulk_store<replace>, bulk_store<replace>, true}; }

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
constexpr Facts kCommit{.sync = Sync::bulk_commit, .encoding = Encoding::copy};
constexpr Facts kWait{.sync = Sync::bulk_wait, .encoding = Encoding::copy, .fences = true};
constexpr InstrDef kRows[] = {
    {"cp[async][bulk][global][shared::cta][bulk_group]{%hint}", "[a]:global,[b]:shared,c:u32",
     Unit::memory, kStore, select_store},
    {"cp[async][bulk][commit_group]", "", Unit::memory, kCommit, select_commit},
    {"cp[async][bulk][wait_group]{read}", "a:u32", Unit::memory, kWait, select_wait},
};

}  // namespace

std::span<const InstrDef> bulk_rows() { return kRows; }

}  // namespace ridge::vm
