// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetches: boxes of a tensor between
// global and shared memory (src/vm/exec/tensor_copy.h). They land as bulk copies do
// (src/vm/exec/async.h). Everything is checked when the copy starts.
#include <algorithm>
#include <string>

#include "vm/decode/code.h"
#include "vm/isa/bulk_update.h"
#include "vm/isa/groups.h"
#include "vm/isa/memory.h"
#include "vm/isa/multicast.h"
#include "vm/isa/tensor_map.h"

namespace ridge::vm {
namespace {

using Kind = AsyncEntry::Kind;

constexpr const char* kName = "cp.async.bulk.tensor";
constexpr uint32_t kSharedUnit = 128;  // bytes: where a box may begin in shared memory

// Handlers::flags: what the spelling says, in a word.
struct Flags {
  uint32_t rank = 1;
  bool im2col = false;
  Operation operation = Operation::none;

  uint32_t pack() const { return rank | uint32_t(im2col) << 3 | uint32_t(operation) << 8; }
  static Flags unpack(uint32_t bits) {
    return {bits & 7, (bits >> 3 & 1) != 0, Operation(bits >> 8 & 0xff)};
  }
};

// The type that reductions compute in; none: they are not allowed for it.
Type reduction_type(const TensorMap& map, Operation operation) {
  switch (map.type) {
    case TensorType::u32: return Type::u32;
    case TensorType::s32:
      return operation == Operation::inc || operation == Operation::dec ? Type::none : Type::s32;
    case TensorType::u64:
      return operation == Operation::inc || operation == Operation::dec ? Type::none : Type::u64;
    case TensorType::s64:
      return operation == Operation::min || operation == Operation::max ? Type::s64 : Type::none;
    case TensorType::f16: return Type::f16;
    case TensorType::bf16: return Type::bf16;
    case TensorType::f32:
    case TensorType::f32_ftz: return Type::f32;
    case TensorType::f64: return Type::f64;
    default: return Type::none;
  }
}

BulkUpdate update_of(const TensorMap& map, Operation operation) {
  if (operation == Operation::none) return replace_bytes;
  return bulk_update(operation, reduction_type(map, operation), map.type == TensorType::f32_ftz);
}

struct Defect {
  const char* what = nullptr;  // null: there is none
  std::string fix;
  explicit operator bool() const { return what; }
};

Defect defect_of_rank(const TensorMap& map, const Flags& flags) {
  if (map.rank != flags.rank)
    return {"the tensor map has another rank than the copy",
            "the map has " + std::to_string(map.rank) +
                " dimensions: give as many coordinates, or encode a map of rank " +
                std::to_string(flags.rank)};
  if (map.im2col == flags.im2col) return {};
  return {map.im2col ? "the tensor map is for im2col copies, and this one is tiled"
                     : "the tensor map is tiled, and this copy is im2col",
          "maps of cuTensorMapEncodeTiled are for .tile, those of cuTensorMapEncodeIm2col for "
          ".im2col"};
}

Defect defect_of_pixels(const TensorCopy& copy) {
  const TensorMap& map = copy.map;
  const uint32_t w = map.interleave ? 0 : 1;
  for (uint32_t k = 0; map.im2col && k + 2 < map.rank; ++k) {
    const int64_t at = copy.at[w + k], last = int64_t(map.size[w + k]) - 1 + map.upper[k];
    if (at < map.lower[k] || at > last)
      return {"the im2col copy starts outside the bounding box",
              "coordinate " + std::to_string(w + k) + " is " + std::to_string(at) +
                  "; the box reaches from " + std::to_string(map.lower[k]) + " to " +
                  std::to_string(last)};
    if (!copy.loads && (map.lower[k] < 0 || map.upper[k] > 0))
      return {"the bounding box of an im2col store reaches outside the tensor",
              "encode a map for stores, with a lower corner of at least 0 and an upper corner of "
              "at most 0"};
  }
  return {};
}

// What the hardware answers with an illegal instruction. `copy` is measured after it.
Defect defect_of(const TensorCopy& copy, const TensorMapBytes& bytes, const Flags& flags) {
  const TensorMap& map = copy.map;
  if (std::all_of(bytes.words.begin(), bytes.words.end(), [](uint32_t word) { return !word; }))
    return {"the tensor map is all zeros: it was not encoded, or not copied to where it is read",
            "pass it as a const __grid_constant__ CUtensorMap parameter, and look at what "
            "cuTensorMapEncodeTiled returned"};
  if (const char* wrong = defect_of(map))
    return {wrong,
            "the encoders refuse such maps: is this the address of one, and what did "
            "tensormap.replace write into it?"};
  if (Defect wrong = defect_of_rank(map, flags)) return wrong;
  if (!map.interleave && int64_t(copy.at[0]) * map.element_bytes() % 16)
    return {"the innermost coordinate is no multiple of 16 bytes",
            "it is " + std::to_string(copy.at[0]) + "; let it be a multiple of " +
                std::to_string(16 / map.element_bytes()) + " elements"};
  if (Defect wrong = defect_of_pixels(copy)) return wrong;
  if (copy.loads) return {};
  for (uint32_t k = 0; k < map.rank; ++k)
    if (copy.at[k] < 0)
      return {"a tensor store has a negative coordinate",
              "coordinate " + std::to_string(k) + " is " + std::to_string(copy.at[k]) +
                  "; a store may reach past the end of the tensor, but not before its start"};
  if (copy.update) return {};
  return {"the tensor's element type does not have this reduction",
          "docs/hopper_facts.md, section 3.4, has the reductions of each type"};
}

// Whether all of the copy's global memory is there; raises the fault of the first row that is not.
bool check_memory(Warp& w, const Inst* inst, uint32_t lane, const TensorCopy& copy) {
  // Mostly the tensor lies in one allocation, and then so does all of the box that is inside it.
  const uint64_t end = copy.tensor_end();
  if (range_is_known(w, inst, copy.map.address, end) || check_range(w, inst, copy.map.address, end))
    return true;
  TensorRow row;
  if (!find_missing_row(copy, *w.worker->memory, row)) return true;
  const uint64_t at = row.global + row.first;
  const uint32_t bytes = row.last - row.first;
  return passes_on_a_gpu(w, inst, lane, at, bytes, kName) ||
         raise(w, inst, FaultKind::illegal_address, lane, at, bytes, kName);
}

// One lane's copy; false after a fault.
bool begin(Warp& w, const Inst* inst, const TensorSite& site, int i, bool loads, TensorCopy& copy) {
  const auto lane = uint32_t(i);
  const Flags flags = Flags::unpack(site.flags);
  TensorMapBytes bytes;
  const uint64_t map_at = w.src<uint64_t>(site.map[0])[i] + uint64_t(int64_t(int32_t(site.map[1])));
  if (!read_tensor_map(w, inst, lane, map_at, bytes)) return false;
  copy.map = decode(bytes);
  copy.loads = loads;
  for (uint32_t k = 0; k < flags.rank; ++k) copy.at[k] = w.src<int32_t>(site.at[k])[i];
  for (size_t k = 0; k < copy.offsets.size(); ++k)
    if (site.offsets[k] != kNoOperand) copy.offsets[k] = w.src<uint16_t>(site.offsets[k])[i];
  if (!loads) copy.update = update_of(copy.map, flags.operation);
  if (Defect wrong = defect_of(copy, bytes, flags))
    return refuse(w, inst, i, wrong.what, std::move(wrong.fix));
  copy.measure();
  return true;
}

// Where the box lies in shared memory: a load's may be a peer's. False after a fault.
bool place_in_shared(Warp& w, const Inst* inst, const TensorSite& site, int i, TensorCopy& copy,
                     uint32_t& address) {
  constexpr const char* kWhat = "shared cp.async.bulk.tensor";
  address = w.src<uint32_t>(site.shared[0])[i] + site.shared[1];
  copy.shared = copy.loads ? address % uint32_t(kWindowSize) : address - w.shared_start;
  if (copy.shared % kSharedUnit)
    return raise(w, inst, FaultKind::misaligned_address, uint32_t(i), address, kSharedUnit, kWhat);
  const auto extent = uint32_t(std::min<uint64_t>(copy.extent(), kWindowSize));
  if (copy.loads) return check_shared(w, inst, i, address, extent, kWhat);
  if (uint64_t(copy.shared) + extent > w.shared_size)
    return raise(w, inst, FaultKind::illegal_address, uint32_t(i), address, extent, kWhat);
  return true;
}

template <bool Loads>
const Inst* tensor_copy(Warp& w, const Inst* inst) {
  const TensorSite& site = w.frame->code->tensors[inst->a];
  const uint32_t* barrier = nullptr;
  if constexpr (Loads) {
    barrier = w.src<uint32_t>(site.barrier[0]);
    uint8_t* places[kWarpSize];
    if (!find_shared(w, inst, barrier, int32_t(site.barrier[1]), 8, "shared mbarrier", places))
      return nullptr;
  }
  const uint16_t* ranks = site.receivers == kNoOperand ? nullptr : w.src<uint16_t>(site.receivers);
  Receivers receivers;
  uint32_t addresses[kWarpSize];
  std::vector<TensorCopy> copies(size_t(kWarpSize - __builtin_clz(w.mask)));
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    TensorCopy& copy = copies[size_t(i)];
    if (!begin(w, inst, site, i, Loads, copy) ||
        !place_in_shared(w, inst, site, i, copy, addresses[i]) ||
        !check_memory(w, inst, uint32_t(i), copy) ||
        (ranks && !receivers.add(w, inst, i, ranks[i])))
      return nullptr;
  }
  const auto start = [&](uint32_t lanes, std::vector<TensorCopy> boxes, auto place) {
    AsyncEntry& entry = w.async.push(w, Loads ? Kind::bulk_load : Kind::bulk_store, lanes, inst);
    each_active(lanes, [&](int i) {
      entry.shared[i] = Loads ? place(addresses[i]) : boxes[size_t(i)].shared;
      entry.size[i] = boxes[size_t(i)].bytes();
      if constexpr (Loads) entry.barrier[i] = place(barrier[i] + site.barrier[1]);
    });
    entry.tensors = std::move(boxes);
    AsyncQueue::started(w, entry);
  };
  if (ranks) receivers.each(w.mask, [&](uint32_t lanes, auto place) { start(lanes, copies, place); });
  else start(w.mask, std::move(copies), [](uint32_t address) { return address; });
  return inst + 1;
}

// A hint; but a bad one stops the kernel.
const Inst* prefetch(Warp& w, const Inst* inst) {
  const TensorSite& site = w.frame->code->tensors[inst->a];
  for (uint32_t left = w.mask; left; left &= left - 1) {
    TensorCopy copy;
    if (!begin(w, inst, site, __builtin_ctz(left), true, copy)) return nullptr;
  }
  return inst + 1;
}

Handlers with(Handler handler, const Form& form, bool has_offsets) {
  const auto rank = uint32_t(1 + form.index_of({"1d", "2d", "3d", "4d", "5d"}));
  const bool im2col = form.has("im2col") || form.has("im2col_no_offs");
  if (im2col && rank < 3) return {};
  Handlers h{handler, handler, false, Flags{rank, im2col, form.operation}.pack()};
  h.fragments = {uint8_t(rank), uint8_t(has_offsets ? rank - 2 : 0)};
  return h;
}
Handlers select_load(const Form& form) { return with(tensor_copy<true>, form, form.has("im2col")); }
Handlers select_store(const Form& form) { return with(tensor_copy<false>, form, false); }
Handlers select_prefetch(const Form& form) { return with(prefetch, form, form.has("im2col")); }

constexpr Facts kLoad{.access = AccessKind::tensor_load, .encoding = Encoding::tensor};
constexpr Facts kStore{.access = AccessKind::tensor_store, .encoding = Encoding::tensor};
constexpr Facts kPrefetch{.encoding = Encoding::tensor,
                          .fences = true,
                          .left_out = "the cache is not filled ahead of time"};
#define RIDGE_LOAD "[shared::cta|shared::cluster][global][mbarrier::complete_tx::bytes]{%hint}"
#define RIDGE_MULTICAST \
  "[shared::cluster][global][mbarrier::complete_tx::bytes][multicast::cluster]{%hint}"
#define RIDGE_STORE "[global][shared::cta]{tile|im2col_no_offs}[bulk_group]{%hint}"
#define RIDGE_DIM "[1d|2d|3d|4d|5d]"
constexpr InstrDef kRows[] = {
    {"cp[async][bulk][tensor]" RIDGE_DIM "{tile}" RIDGE_LOAD, "[a]:shared,[b]:tensor,[c]:shared",
     Unit::memory, kLoad, select_load},
    {"cp[async][bulk][tensor][3d|4d|5d][im2col]" RIDGE_LOAD,
     "[a]:shared,[b]:tensor,[c]:shared,e*:u16", Unit::memory, kLoad, select_load},
    {"cp[async][bulk][tensor]" RIDGE_DIM "{tile}" RIDGE_MULTICAST,
     "[a]:shared,[b]:tensor,[c]:shared,e:u16", Unit::memory, kLoad, select_load},
    {"cp[async][bulk][tensor][3d|4d|5d][im2col]" RIDGE_MULTICAST,
     "[a]:shared,[b]:tensor,[c]:shared,e*:u16,f:u16", Unit::memory, kLoad, select_load},
    {"cp[async][bulk][tensor]" RIDGE_DIM RIDGE_STORE, "[a]:tensor,[b]:shared", Unit::memory, kStore,
     select_store},
    {"cp[reduce][async][bulk][tensor]" RIDGE_DIM RIDGE_STORE "[add|min|max|inc|dec|and|or|xor]",
     "[a]:tensor,[b]:shared", Unit::memory, kStore, select_store},
    {"cp[async][bulk][prefetch][tensor]" RIDGE_DIM "[L2][global]{tile}{%hint}", "[a]:tensor",
     Unit::memory, kPrefetch, select_prefetch},
    {"cp[async][bulk][prefetch][tensor][3d|4d|5d][L2][global][im2col]{%hint}", "[a]:tensor,e*:u16",
     Unit::memory, kPrefetch, select_prefetch},
};
#undef RIDGE_LOAD
#undef RIDGE_MULTICAST
#undef RIDGE_STORE
#undef RIDGE_DIM

}  // namespace

std::span<const InstrDef> tensor_copy_rows() { return kRows; }

}  // namespace ridge::vm
