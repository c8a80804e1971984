#include "vm/isa/meanings.h"

#include <cstring>

#include "vm/decode/code.h"
#include "vm/exec/grid.h"
#include "vm/mem/allocations.h"

namespace ridge::vm {
namespace {

constexpr uint64_t kMostRows = 1 << 16;  // of a box that fits into shared memory

bool read_map(const Warp& w, uint64_t address, TensorMapBytes& out) {
  const uint64_t param = address - kParamWindow;
  if (param < kWindowSize) {
    if (param + sizeof out > w.block->grid->launch->params.size()) return false;
    std::memcpy(&out, w.params + param, sizeof out);
    return true;
  }
  const auto home = w.worker->memory->find(address);
  if (!home || address + sizeof out > home->end()) return false;
  std::memcpy(&out, w.worker->memory->place(address), sizeof out);
  return true;
}

}  // namespace

Bulk bulk_of(const Match& match) {
  switch (match.facts().access) {
    case AccessKind::bulk_copy:
    case AccessKind::tensor_load: return Bulk::load;
    case AccessKind::bulk_store:
    case AccessKind::tensor_store: return Bulk::store;
    case AccessKind::peer_store: return match.form.has("bulk") ? Bulk::to_peer : Bulk::none;
    case AccessKind::none:
      return match.form.has("bulk") && match.form.has("prefetch") ? Bulk::prefetch : Bulk::none;
    default: return Bulk::none;
  }
}

bool is_multicast(const Match& match) { return match.form.has("multicast::cluster"); }
bool reaches_cluster(const Match& match) { return match.form.has("shared::cluster"); }

// Fields: mbarrier.cpp. The parity of a state is its highest bit.
uint64_t awaited_phase(const Match& match, const Warp& w, const Inst* inst, uint32_t lane) {
  const bool generic = match.form.space == Space::generic;
  const uint64_t barrier =
      generic ? w.src<uint64_t>(inst->a)[lane] : w.src<uint32_t>(inst->a)[lane];
  const uint64_t parity = match.form.has("parity") ? w.src<uint32_t>(inst->c)[lane] & 1
                                                   : w.src<uint64_t>(inst->c)[lane] >> 63;
  return (barrier + inst->b) << 1 | parity;
}

std::optional<TensorCopy> tensor_copy_of(const Warp& w, const Inst* inst, uint32_t lane,
                                         bool loads) {
  const TensorSite& site = w.frame->code->tensors[inst->a];
  const uint64_t address =
      w.src<uint64_t>(site.map[0])[lane] + uint64_t(int64_t(int32_t(site.map[1])));
  TensorMapBytes bytes;
  if (!read_map(w, address, bytes)) return std::nullopt;
  TensorCopy copy;
  copy.map = decode(bytes);
  copy.loads = loads;
  if (defect_of(copy.map)) return std::nullopt;
  for (uint32_t k = 0; k < copy.map.rank; ++k) {
    if (site.at[k] == kNoOperand) return std::nullopt;  // another rank than the map's
    copy.at[k] = w.src<int32_t>(site.at[k])[lane];
  }
  for (size_t k = 0; k < copy.offsets.size(); ++k)
    if (site.offsets[k] != kNoOperand) copy.offsets[k] = w.src<uint16_t>(site.offsets[k])[lane];
  copy.measure();
  if (copy.rows > kMostRows) return std::nullopt;
  return copy;
}

}  // namespace ridge::vm
