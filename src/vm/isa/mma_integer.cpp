// mma on integers, bits and doubles: exact, or rounded as PTX says, so nothing of the hardware's
// inner ways shows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "vm/isa/float.h"
#include "vm/isa/mma_handlers.h"

namespace ridge::vm {
namespace {

int16_t integer_in(Element e, uint32_t word, uint32_t part) {
  switch (e) {
    case Element::s8: return int8_t(word >> (8 * part));
    case Element::u8: return uint8_t(word >> (8 * part));
    case Element::s4: return int16_t(int8_t(word >> (4 * part) << 4) >> 4);
    default: return int16_t(word >> (4 * part) & 15);
  }
}

// The operands of one instruction, X and Y as matrix.h means them.
struct Operands {
  const uint32_t *d, *x, *y, *c, *more;
  uint32_t x_count, y_count, sums;
  Element x_type, y_type;
};
Operands operands_of(const Inst* inst, const TensorForm& form, const Geometry& g, bool sparse) {
  const FragmentSizes sizes = fragment_sizes(form, sparse);
  const uint32_t* d = fragment_operands(inst);
  const uint32_t* a = d + sizes.d;
  const uint32_t* b = a + sizes.a;
  const uint32_t* c = b + sizes.b;
  Operands o{d, a, b, c, c + sizes.c, sizes.a, sizes.b, sizes.d, form.a, form.b};
  if (g.transposed) {
    std::swap(o.x, o.y);
    std::swap(o.x_count, o.y_count);
    std::swap(o.x_type, o.y_type);
  }
  return o;
}

// D = sum(row, column) + C, all of it computed before anything is written: a result may lie where a
// source did.
template <class Sum>
void accumulate(Warp& w, const Geometry& g, const Operands& o, bool saturates, Sum sum) {
  int32_t result[8][kWarpSize];
  for (uint32_t i = 0; i < o.sums; ++i) {
    const int32_t* c = w.src<int32_t>(o.c[i]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto [row, column] = place_in_sums(g, false, i, lane, 0);
      const int64_t total = int64_t(c[lane]) + sum(row, column);
      result[i][lane] = saturates ? int32_t(std::clamp<int64_t>(total, INT32_MIN, INT32_MAX))
                                  : int32_t(uint32_t(total));
    }
  }
  for (uint32_t i = 0; i < o.sums; ++i)
    std::memcpy(w.reg<int32_t>(o.d[i]), result[i], sizeof result[i]);
}

template <bool Sparse>
const Inst* multiply_integers(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const Operands o = operands_of(inst, form, g, Sparse);
  const SparseColumns column_of(form, Sparse ? w.src<uint32_t>(o.more[0]) : nullptr,
                                Sparse ? o.more[1] : 0);
  constexpr uint32_t kDeepest = 128;
  int16_t x[32][kDeepest], y[16][kDeepest];
  if (Sparse) std::memset(x, 0, sizeof x);
  const uint32_t per = 32 / uint32_t(bits_of(form.a));
  for (uint32_t i = 0; i < o.x_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint32_t word = w.src<uint32_t>(o.x[i])[lane];
      const auto [row, k] = place_in_rows(g, Sparse ? form.k / 2 : form.k, per, i, lane);
      for (uint32_t part = 0; part < per; ++part)
        x[row][Sparse ? column_of(row, k + part) : k + part] = integer_in(o.x_type, word, part);
    }
  for (uint32_t i = 0; i < o.y_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint32_t word = w.src<uint32_t>(o.y[i])[lane];
      const auto [column, k] = place_in_columns(g, per, i, lane);
      for (uint32_t part = 0; part < per; ++part)
        y[column][k + part] = integer_in(o.y_type, word, part);
    }
  accumulate(w, g, o, form.option & kSaturates, [&](uint32_t row, uint32_t column) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < form.k; ++k) sum += int32_t(x[row][k]) * y[column][k];
    return sum;
  });
  return after_fragments(inst);
}

const Inst* multiply_bits(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const Operands o = operands_of(inst, form, g, false);
  uint32_t x[16][8], y[8][8];  // words of 32 along K
  for (uint32_t i = 0; i < o.x_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto [row, k] = place_in_rows(g, form.k, 32, i, lane);
      x[row][k / 32] = w.src<uint32_t>(o.x[i])[lane];
    }
  for (uint32_t i = 0; i < o.y_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto [column, k] = place_in_columns(g, 32, i, lane);
      y[column][k / 32] = w.src<uint32_t>(o.y[i])[lane];
    }
  accumulate(w, g, o, false, [&](uint32_t row, uint32_t column) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < form.k / 32; ++k) {
      const uint32_t p = x[row][k], q = y[column][k];
      sum += __builtin_popcount(form.option & kXor ? p ^ q : p & q);
    }
    return sum;
  });
  return after_fragments(inst);
}

// One multiply-add of f64. Of several NaNs b's goes on, then the sum's, then a's, as in fma.
double fused(double a, double b, double sum) {
  const double r = std::fma(a, b, sum);
  if (r == r) return r;
  for (const double x : {b, sum, a})
    if (x != x) return double_of(bits_of(x) | kQuiet64);
  return double_of(kNan64);
}

// A chain of fused multiply-adds along K, each rounded.
const Inst* multiply_doubles(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const Operands o = operands_of(inst, form, g, false);
  double x[16][16], y[8][16], result[4][kWarpSize];
  for (uint32_t i = 0; i < o.x_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto [row, k] = place_in_rows(g, form.k, 1, i, lane);
      x[row][k] = w.src<double>(o.x[i])[lane];
    }
  for (uint32_t i = 0; i < o.y_count; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto [column, k] = place_in_columns(g, 1, i, lane);
      y[column][k] = w.src<double>(o.y[i])[lane];
    }
  {
    const ArithmeticScope scope(Round(form.option & kRoundOption));
    for (uint32_t i = 0; i < o.sums; ++i)
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const auto [row, column] = place_in_sums(g, false, i, lane, 0);
        double sum = w.src<double>(o.c[i])[lane];
        for (uint32_t k = 0; k < form.k; ++k) sum = fused(x[row][k], y[column][k], sum);
        result[i][lane] = sum;
      }
  }
  for (uint32_t i = 0; i < o.sums; ++i)
    std::memcpy(w.reg<double>(o.d[i]), result[i], sizeof result[i]);
  return after_fragments(inst);
}

}  // namespace

Handler integer_mma(const TensorForm& form) {
  return form.a == Element::b1 ? multiply_bits : multiply_integers<false>;
}
Handler sparse_integer_mma(const TensorForm&) { return multiply_integers<true>; }
Handler double_mma() { return multiply_doubles; }

}  // namespace ridge::vm
