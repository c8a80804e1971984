// Bulk stores: cp.async.bulk and cp.reduce.async.bulk from shared to global memory, in groups that
// the thread can wait for (src/vm/exec/async.h).
#include <cstring>

#include "vm/isa/atomic_ops.h"
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

// Unlike those of atom, additions of f32 keep subnormals, and a NaN in memory stays as it is.
struct AddFloat {
  float operator()(float old, float b, float) const { return Add::sum(old, b); }
  double operator()(double old, double b, double) const {
    return old != old ? old : b != b ? b : old + b;
  }
};

template <class T, class Op>
void reduce(void* to, const void* from, uint32_t bytes) {
  const auto at = reinterpret_cast<uint64_t>(to);
  for (uint32_t k = 0; k < bytes; k += sizeof(T)) {
    const T value = load_as<T>(static_cast<const uint8_t*>(from) + k);
    update_global<T, Op>(at + k, value, value);
  }
}
template <class T, class Op>
Handlers reduction() {
  return {bulk_store<reduce<T, Op>>, bulk_store<reduce<T, Op>>, true};
}

template <class T>
Handlers select_integer(Operation operation) {
  switch (operation) {
    case Operation::add: return reduction<T, Add>();
    case Operation::min: return reduction<T, Min>();
    case Operation::max: return reduction<T, Max>();
    case Operation::inc: return reduction<T, Inc>();
    case Operation::dec: return reduction<T, Dec>();
    case Operation::bit_and: return reduction<T, And>();
    case Operation::bit_or: return reduction<T, Or>();
    case Operation::bit_xor: return reduction<T, Xor>();
    default: return {};
  }
}
template <bool Brain16>
Handlers select_half(Operation operation) {
  switch (operation) {
    case Operation::add: return reduction<uint16_t, AddHalf<Brain16>>();
    case Operation::min: return reduction<uint16_t, MinMaxHalf<Brain16, false>>();
    case Operation::max: return reduction<uint16_t, MinMaxHalf<Brain16, true>>();
    default: return {};
  }
}
Handlers select_reduce(const Form& form) {
  switch (form.type()) {
    case Type::u32:
    case Type::b32: return select_integer<uint32_t>(form.operation);
    case Type::u64:
    case Type::b64: return select_integer<uint64_t>(form.operation);
    case Type::s32: return select_integer<int32_t>(form.operation);
    case Type::s64: return select_integer<int64_t>(form.operation);
    case Type::f32: return reduction<float, AddFloat>();
    case Type::f64: return reduction<double, AddFloat>();
    case Type::f16: return select_half<false>(form.operation);
    case Type::bf16: return select_half<true>(form.operation);
    default: return {};
  }
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
constexpr Facts kCommit{.sync = Sync::bulk_commit, .encoding = Encoding::copy};
constexpr Facts kWait{.sync = Sync::bulk_wait, .encoding = Encoding::copy, .fences = true};
#define RIDGE_REDUCE "cp[reduce][async][bulk][global][shared::cta][bulk_group]{%hint}"
#define RIDGE_OPERANDS "[a]:global,[b]:shared,c:u32"
constexpr InstrDef kRows[] = {
    {"cp[async][bulk][global][shared::cta][bulk_group]{%hint}", RIDGE_OPERANDS, Unit::memory,
     kStore, select_store},
    {RIDGE_REDUCE "[add][u32|s32|u64|f32|f64]", RIDGE_OPERANDS, Unit::memory, kStore,
     select_reduce},
    {RIDGE_REDUCE "[add][noftz][f16|bf16]", RIDGE_OPERANDS, Unit::memory, kStore, select_reduce},
    {RIDGE_REDUCE "[min|max][u32|s32|u64|s64|f16|bf16]", RIDGE_OPERANDS, Unit::memory, kStore,
     select_reduce},
    {RIDGE_REDUCE "[inc|dec][u32]", RIDGE_OPERANDS, Unit::memory, kStore, select_reduce},
    {RIDGE_REDUCE "[and|or|xor][b32|b64]", RIDGE_OPERANDS, Unit::memory, kStore, select_reduce},
    {"cp[async][bulk][commit_group]", "", Unit::memory, kCommit, select_commit},
    {"cp[async][bulk][wait_group]{read}", "a:u32", Unit::memory, kWait, select_wait},
};
#undef RIDGE_REDUCE
#undef RIDGE_OPERANDS

}  // namespace

std::span<const InstrDef> bulk_rows() { return kRows; }

}  // namespace ridge::vm
