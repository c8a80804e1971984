// tensormap.replace and tensormap.cp_fenceproxy, which make tensor maps on the device; and fences
// and prefetches of tensor maps.
#include "vm/isa/tensor_map.h"

#include <cstring>

#include "vm/isa/groups.h"
#include "vm/isa/load_store.h"
#include "vm/isa/refuse.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kUnit = 64;  // bytes: how a map must be aligned
constexpr uint32_t kBytes = sizeof(TensorMapBytes);

// The map's bytes in this process; null after raising a fault.
uint8_t* in_global(Warp& w, const Inst* inst, uint32_t lane, uint64_t at) {
  if (at % kUnit) {
    raise(w, inst, FaultKind::misaligned_address, lane, at, kUnit, "tensormap");
    return nullptr;
  }
  if (!check_range(w, inst, at, at + kBytes) &&
      !passes_on_a_gpu(w, inst, lane, at, kBytes, "tensormap")) {
    raise(w, inst, FaultKind::illegal_address, lane, at, kBytes, "tensormap");
    return nullptr;
  }
  return w.worker->memory->place(at);
}
uint8_t* in_shared(Warp& w, const Inst* inst, uint32_t lane, uint32_t address) {
  const uint32_t at = address - w.shared_start;
  const bool misaligned = at % kUnit != 0;
  if (!misaligned && uint64_t(at) + kBytes <= w.shared_size) return w.shared + at;
  raise(w, inst, misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address, lane, at,
        misaligned ? kUnit : kBytes, "shared tensormap");
  return nullptr;
}

// tensormap.replace. Fields: a, b = the map's address; c = the new value, or the dimension, and
// then x[0] = the value. Handlers::flags is the field.
template <Space In, bool Wide64>
const Inst* replace_field(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  const auto field = TensorMapField(more.flags);
  const bool has_ordinal = ordinals_of(field) != 0;
  const uint32_t value_at = has_ordinal ? more.x[0] : inst->c;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const auto lane = uint32_t(i);
    uint8_t* place = nullptr;
    if constexpr (In == Space::shared) {
      place = in_shared(w, inst, lane, w.src<uint32_t>(inst->a)[i] + inst->b);
    } else {
      const uint64_t at = w.src<uint64_t>(inst->a)[i] + uint64_t(int64_t(int32_t(inst->b)));
      place = In == Space::generic && at - kSharedWindow < kSharedWindowSize
                  ? in_shared(w, inst, lane, uint32_t(at - kSharedWindow))
                  : in_global(w, inst, lane, at);
    }
    if (!place) return nullptr;
    const uint32_t ordinal = has_ordinal ? w.src<uint32_t>(inst->c)[i] : 0;
    if (has_ordinal && ordinal >= ordinals_of(field))
      return raise(w, inst, FaultKind::illegal_instruction, lane, ordinal, 0,
                   "tensormap.replace of a dimension that no tensor map has");
    const uint64_t value =
        Wide64 ? w.src<uint64_t>(value_at)[i] : uint64_t(w.src<uint32_t>(value_at)[i]);
    TensorMapBytes map;
    std::memcpy(&map, place, kBytes);
    replace(map, field, ordinal, value);
    std::memcpy(place, &map, kBytes);
  }
  return inst + 2;
}
template <Space In>
Handlers replace_in(bool wide64, uint32_t field) {
  if (wide64) return {replace_field<In, true>, replace_field<In, true>, true, field};
  return {replace_field<In, false>, replace_field<In, false>, true, field};
}
Handlers select_replace(const Form& form) {
  const auto field = uint32_t(form.index_of({"global_address", "rank", "box_dim", "global_dim",
                                             "global_stride", "element_stride", "elemtype",
                                             "interleave_layout", "swizzle_mode", "fill_mode"}));
  const bool wide64 = form.has("b64");
  switch (form.space) {
    case Space::global: return replace_in<Space::global>(wide64, field);
    case Space::shared: return replace_in<Space::shared>(wide64, field);
    default: return replace_in<Space::generic>(wide64, field);
  }
}

// tensormap.cp_fenceproxy. Fields: a, b = destination; c, x[0] = source; x[1] = size.
const Inst* copy_map(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const auto lane = uint32_t(i);
    uint8_t* const to =
        in_global(w, inst, lane, w.src<uint64_t>(inst->a)[i] + uint64_t(int64_t(int32_t(inst->b))));
    if (!to) return nullptr;
    const uint8_t* const from = in_shared(w, inst, lane, w.src<uint32_t>(inst->c)[i] + more.x[0]);
    if (!from) return nullptr;
    std::memcpy(to, from, kBytes);
  }
  return inst + 2;
}
Handlers select_copy(const Form&) { return {copy_map, copy_map, true}; }

// prefetch.tensormap: a hint, but a misaligned address is an error on hardware, too. a, b =
// address.
const Inst* prefetch(Warp& w, const Inst* inst) {
  const uint64_t* address = w.src<uint64_t>(inst->a);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t at = address[i] + uint64_t(int64_t(int32_t(inst->b)));
    if (at % kUnit)
      return raise(w, inst, FaultKind::misaligned_address, uint32_t(i), at, kUnit, "tensormap");
  }
  return inst + 1;
}
Handlers select_prefetch(const Form&) { return {prefetch, prefetch}; }

const Inst* nothing(Warp&, const Inst* inst) { return inst + 1; }
Handlers select_nothing(const Form&) { return {nothing, nothing}; }

constexpr Facts kChange{
    .access = AccessKind::tensor_map, .encoding = Encoding::memory, .arch_specific = true};
constexpr Facts kCopyMap{
    .access = AccessKind::tensor_map, .encoding = Encoding::copy, .fences = true};
#define RIDGE_NO_CACHE \
  "each copy reads its tensor map from memory when it starts: no cache keeps any"
constexpr Facts kFence{.sync = Sync::map_fence, .fences = true, .left_out = RIDGE_NO_CACHE};
constexpr Facts kHint{.left_out = RIDGE_NO_CACHE};
constexpr Facts kPrefetch{.encoding = Encoding::memory, .fences = true, .left_out = RIDGE_NO_CACHE};
#undef RIDGE_NO_CACHE
#define RIDGE_REPLACE "tensormap[replace][tile]"
#define RIDGE_WHERE "{global|shared::cta}[b1024]"
constexpr InstrDef kRows[] = {
    {RIDGE_REPLACE "[global_address]" RIDGE_WHERE "[b64]", "[a],b:b64", Unit::memory, kChange,
     select_replace},
    {RIDGE_REPLACE "[rank|elemtype|interleave_layout|swizzle_mode|fill_mode]" RIDGE_WHERE "[b32]",
     "[a],b:b32", Unit::memory, kChange, select_replace},
    {RIDGE_REPLACE "[box_dim|global_dim|element_stride]" RIDGE_WHERE "[b32]", "[a],b:u32,c:b32",
     Unit::memory, kChange, select_replace},
    {RIDGE_REPLACE "[global_stride]" RIDGE_WHERE "[b64]", "[a],b:u32,c:b64", Unit::memory, kChange,
     select_replace},
    {"tensormap[cp_fenceproxy][global][shared::cta][tensormap::generic][release][%scope][sync]"
     "[aligned]",
     "[a]:global,[b]:shared,c:u32", Unit::memory, kCopyMap, select_copy},
    {"fence[proxy][tensormap::generic][release][%scope]", "", Unit::memory, kFence, select_nothing},
    {"fence[proxy][tensormap::generic][acquire][%scope]", "[a],b:u32", Unit::memory, kFence,
     select_nothing},
    {"prefetch[tensormap]", "[a]", Unit::memory, kPrefetch, select_prefetch},
    {"prefetch[const|param][tensormap]", "[a]", Unit::memory, kHint, select_nothing},
};
#undef RIDGE_REPLACE
#undef RIDGE_WHERE

}  // namespace

bool read_tensor_map(Warp& w, const Inst* inst, uint32_t lane, uint64_t address,
                     TensorMapBytes& out) {
  const uint64_t param = address - kParamWindow;
  const uint8_t* place = nullptr;
  if (param < kWindowSize && address % kUnit == 0) {
    if (param + kBytes > param_bytes(w))
      return refuse(w, inst, int(lane), "the tensor map reaches past the kernel's parameters",
                    "give the address of a whole CUtensorMap");
    place = w.params + param;
  } else {
    place = in_global(w, inst, lane, address);
  }
  if (!place) return false;
  std::memcpy(&out, place, kBytes);
  return true;
}

std::span<const InstrDef> tensor_map_rows() { return kRows; }

}  // namespace ridge::vm
