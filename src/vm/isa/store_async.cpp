// st.async and red.async: stores and reductions of registers to shared memory of the cluster, which
// tell an mbarrier their bytes (src/vm/exec/async.h).
//
// Fields: a, b = destination; then the elements, then the barrier's address and its offset, from c
// on.
#include <cstring>

#include "vm/exec/grid.h"
#include "vm/isa/atomic_ops.h"
#include "vm/isa/groups.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

uint32_t field(const Inst* inst, int k) { return k == 0 ? inst->c : wide(inst).x[k - 1]; }

// Starts it for the active lanes: one element of T after the other.
template <class T, int V>
const Inst* start(Warp& w, const Inst* inst, BulkUpdate update) {
  constexpr uint32_t kBytes = sizeof(T) * V;
  if (!w.block->grid->launch->explicit_cluster)
    return raise(w, inst, FaultKind::illegal_instruction, uint32_t(__builtin_ctz(w.mask)), 0, 0,
                 "st.async and red.async need a kernel that is launched with clusters");
  const uint32_t *destination = w.src<uint32_t>(inst->a),
                 *barrier = w.src<uint32_t>(field(inst, V));
  const uint32_t barrier_offset = field(inst, V + 1);
  uint8_t* places[kWarpSize];
  if (!find_shared(w, inst, destination, int32_t(inst->b), kBytes, "shared st.async", places) ||
      !find_shared(w, inst, barrier, int32_t(barrier_offset), 8, "shared mbarrier", places))
    return nullptr;
  AsyncEntry& entry = w.async.push(w, AsyncEntry::Kind::peer_store, w.mask, inst);
  entry.update = update;
  entry.held.resize(kWarpSize);
  each_active(w.mask, [&](int i) {
    entry.shared[i] = destination[i] + inst->b;
    entry.barrier[i] = barrier[i] + barrier_offset;
    entry.size[i] = kBytes;
    std::vector<uint8_t>& value = entry.held[size_t(i)];
    value.resize(kBytes);
    for (int k = 0; k < V; ++k)
      std::memcpy(value.data() + size_t(k) * sizeof(T), &w.src<T>(field(inst, k))[i], sizeof(T));
  });
  AsyncQueue::started(w, entry);
  return inst + 2;
}

void replace(void* to, const void* from, uint32_t bytes) { std::memcpy(to, from, bytes); }

template <class T, int V>
const Inst* store(Warp& w, const Inst* inst) {
  return start<T, V>(w, inst, replace);
}
template <class T>
Handlers stores(int elements) {
  switch (elements) {
    case 1: return {store<T, 1>, store<T, 1>, true};
    case 2: return {store<T, 2>, store<T, 2>, true};
    default:
      if constexpr (sizeof(T) == 4) return {store<T, 4>, store<T, 4>, true};
      return {};
  }
}
Handlers select_store(const Form& form) {
  return size_of(form.type()) == 8 ? stores<uint64_t>(form.vector) : stores<uint32_t>(form.vector);
}

// Shared memory is the worker's alone, so that nothing here is atomic.
template <class T, class Op>
void update(void* to, const void* from, uint32_t) {
  const T old = load_as<T>(to), value = load_as<T>(from);
  const T wanted = Op()(old, value, value);
  std::memcpy(to, &wanted, sizeof wanted);
}
template <class T, class Op>
const Inst* reduce(Warp& w, const Inst* inst) {
  return start<T, 1>(w, inst, update<T, Op>);
}
template <class T>
Handlers reductions(Operation operation) {
  switch (operation) {
    case Operation::add: return {reduce<T, Add>, reduce<T, Add>, true};
    case Operation::min: return {reduce<T, Min>, reduce<T, Min>, true};
    case Operation::max: return {reduce<T, Max>, reduce<T, Max>, true};
    case Operation::inc: return {reduce<T, Inc>, reduce<T, Inc>, true};
    case Operation::dec: return {reduce<T, Dec>, reduce<T, Dec>, true};
    case Operation::bit_and: return {reduce<T, And>, reduce<T, And>, true};
    case Operation::bit_or: return {reduce<T, Or>, reduce<T, Or>, true};
    case Operation::bit_xor: return {reduce<T, Xor>, reduce<T, Xor>, true};
    default: return {};
  }
}
Handlers select_reduce(const Form& form) {
  switch (form.type()) {
    case Type::s32: return reductions<int32_t>(form.operation);
    case Type::u64: return reductions<uint64_t>(form.operation);
    default: return reductions<uint32_t>(form.operation);
  }
}

#define RIDGE_RED "red[async][relaxed][cluster][shared::cluster][mbarrier::complete_tx::bytes]"
#define RIDGE_OPERANDS "[a]:shared,b4,[e]:shared"
constexpr Facts kFacts{.access = AccessKind::peer_store, .encoding = Encoding::copy};
constexpr InstrDef kRows[] = {
    {"st[async]{weak}[shared::cluster][mbarrier::complete_tx::bytes]{v2|v4}"
     "[b32|u32|s32|f32|b64|u64|s64|f64]",
     RIDGE_OPERANDS, Unit::memory, kFacts, select_store},
    {RIDGE_RED "[add][u32|s32|u64]", RIDGE_OPERANDS, Unit::memory, kFacts, select_reduce},
    {RIDGE_RED "[min|max][u32|s32]", RIDGE_OPERANDS, Unit::memory, kFacts, select_reduce},
    {RIDGE_RED "[inc|dec][u32]", RIDGE_OPERANDS, Unit::memory, kFacts, select_reduce},
    {RIDGE_RED "[and|or|xor][b32]", RIDGE_OPERANDS, Unit::memory, kFacts, select_reduce},
};
#undef RIDGE_RED
#undef RIDGE_OPERANDS

}  // namespace

std::span<const InstrDef> store_async_rows() { return kRows; }

}  // namespace ridge::vm
