// ldmatrix, stmatrix, movmatrix: 8 by 8 matrices of 16-bit elements between shared memory and
// fragments. A register of a fragment is such a matrix, row-major (fragment.h), so a row is a copy.
#include "vm/isa/fragment.h"
#include "vm/isa/groups.h"
#include "vm/isa/load_store.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kRowBytes = 16;

void transpose(const uint16_t* from, uint16_t* to) {
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) to[8 * column + row] = from[8 * row + column];
}

// The rows' places in shared memory: lane i names row i % 8 of matrix i / 8.
template <int N, bool Generic>
bool find_rows(Warp& w, const Inst* inst, uint8_t** rows, const char* what) {
  constexpr uint32_t kLanesUsed = N == 4 ? kAllLanes : (1u << (8 * N % 32)) - 1;
  uint32_t relative[kWarpSize];
  if constexpr (Generic) {
    const uint64_t* address = w.src<uint64_t>(inst->a);
    for (int i = 0; i < 8 * N; ++i) {
      const uint64_t at = address[i] + uint64_t(int64_t(int32_t(inst->b)));
      if (at - kSharedWindow >= kSharedWindowSize) {
        raise(w, inst, FaultKind::invalid_address_space, uint32_t(i), at, kRowBytes, what);
        return false;
      }
      relative[i] = uint32_t(at - kSharedWindow) - w.shared_start;
    }
  } else {
    const uint32_t* address = w.src<uint32_t>(inst->a);
    for (int i = 0; i < 8 * N; ++i) relative[i] = address[i] + inst->b - w.shared_start;
  }
  w.mask = kLanesUsed;  // the others' addresses are not looked at
  const bool fine = check_window(w, inst, relative, 0, kRowBytes, w.shared_size, what);
  w.mask = kAllLanes;
  if (fine)
    for (int i = 0; i < 8 * N; ++i) rows[i] = w.shared + relative[i];
  return fine;
}

template <int N, bool Transposed, bool Generic>
const Inst* load_matrices(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  uint8_t* rows[kWarpSize];
  if (!find_rows<N, Generic>(w, inst, rows, "shared load")) return nullptr;
  for (int m = 0; m < N; ++m) {
    uint16_t* d = w.reg<uint16_t>(fragment_operands(inst)[m]);
    uint16_t matrix[64];
    uint16_t* to = Transposed ? matrix : d;
    for (int i = 0; i < 8; ++i) std::memcpy(to + 8 * i, rows[8 * m + i], kRowBytes);
    if (Transposed) transpose(matrix, d);
  }
  return after_fragments(inst);
}

template <int N, bool Transposed, bool Generic>
const Inst* store_matrices(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  uint8_t* rows[kWarpSize];
  if (!find_rows<N, Generic>(w, inst, rows, "shared store")) return nullptr;
  for (int m = 0; m < N; ++m) {
    const uint16_t* from = w.src<uint16_t>(fragment_operands(inst)[m]);
    uint16_t matrix[64];
    if (Transposed) {
      transpose(from, matrix);
      from = matrix;
    }
    for (int i = 0; i < 8; ++i) std::memcpy(rows[8 * m + i], from + 8 * i, kRowBytes);
  }
  return after_fragments(inst);
}

template <bool Store, int N, bool Transposed>
Handler pick_space(bool generic) {
  if constexpr (Store)
    return generic ? store_matrices<N, Transposed, true> : store_matrices<N, Transposed, false>;
  else return generic ? load_matrices<N, Transposed, true> : load_matrices<N, Transposed, false>;
}
template <bool Store>
Handlers select_matrices(const Form& form) {
  const bool generic = form.space == Space::generic, transposed = form.has("trans");
  const int n = form.has("x4") ? 4 : form.has("x2") ? 2 : 1;
  const auto pick = [&]<int N>() {
    return transposed ? pick_space<Store, N, true>(generic) : pick_space<Store, N, false>(generic);
  };
  const Handler handler = n == 4   ? pick.template operator()<4>()
                          : n == 2 ? pick.template operator()<2>()
                                   : pick.template operator()<1>();
  Handlers h{handler, handler};
  h.fragments = {uint8_t(n)};
  return h;
}

const Inst* move_matrix(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  uint16_t matrix[64];
  transpose(w.src<uint16_t>(inst->a), matrix);
  std::memcpy(w.reg<uint16_t>(inst->d), matrix, sizeof matrix);
  return inst + 1;
}
Handlers select_move_matrix(const Form&) { return {move_matrix, move_matrix}; }

constexpr Facts kSync{.exchanges = true, .converges = true};
constexpr Facts kLoad{.access = AccessKind::load_matrix,
                      .encoding = Encoding::fragments,
                      .exchanges = true,
                      .converges = true};
constexpr Facts kStore{.access = AccessKind::store_matrix,
                       .encoding = Encoding::fragments,
                       .exchanges = true,
                       .converges = true};
constexpr InstrDef kRows[] = {
    {"ldmatrix[sync][aligned][m8n8][x1|x2|x4]{trans}{shared|shared::cta}[b16]", "d*:b32,[a]",
     Unit::tensor, kLoad, select_matrices<false>},
    {"stmatrix[sync][aligned][m8n8][x1|x2|x4]{trans}{shared|shared::cta}[b16]", "[a],b*:b32",
     Unit::tensor, kStore, select_matrices<true>},
    {"movmatrix[sync][aligned][m8n8][trans][b16]", "d:b32,a:b32", Unit::tensor, kSync,
     select_move_matrix},
};

}  // namespace

std::span<const InstrDef> matrix_move_rows() { return kRows; }

}  // namespace ridge::vm
