// Runs of neighbouring shared words, merged by the decoder (src/vm/decode/merge.cpp).
#include "vm/isa/internal.h"
#include "vm/isa/load_store.h"

namespace ridge::vm::internal {
namespace {

template <int N>
bool run_by_lane(Warp& w, const Inst* inst) {
  const uint32_t* address = w.src<uint32_t>(inst->a);
  const int32_t offset = int32_t(inst->b);
  uint8_t* places[N][kWarpSize];
  for (uint32_t k = 0, order = wide(inst).flags; k < N; ++k, order >>= 4)
    if (!find_shared(w, inst, address, offset + 4 * int32_t(order & 15), 4, "shared load",
                     places[order & 15]))
      return false;
  each_active(w.mask, [&](int i) {
    for (int k = 0; k < N; ++k)
      w.reg<uint32_t>(data_register(inst, k))[i] = load_as<uint32_t>(places[k][i]);
  });
  return true;
}

template <int N, bool Full>
const Inst* run(Warp& w, const Inst* inst) {
#if defined(__AVX2__)
  SharedOffsets at;
  if ((Full || !is_few(w.mask)) &&
      shared_offsets<Full>(w, w.src<uint32_t>(inst->a), int32_t(inst->b - w.shared_start), 4 * N, 4,
                           at)) {
    load_shared_words<N, Full>(w, inst, at);
    return inst + 2;
  }
#endif
  return run_by_lane<N>(w, inst) ? inst + 2 : nullptr;
}

}  // namespace

Handlers load_shared_run(int words, uint32_t order) {
  switch (words) {
    case 2: return {run<2, true>, run<2, false>, true, order};
    case 4: return {run<4, true>, run<4, false>, true, order};
    default: return {run<8, true>, run<8, false>, true, order};
  }
}

}  // namespace ridge::vm::internal
