// mma on f16, bf16, tf32 and the 8-bit formats. How ptxas makes a Hopper's instructions of PTX's
// decides where sums are cut off:
//   - f16, bf16, tf32: one operation for the whole depth, dense or sparse;
//   - wmma on tf32: two of depth 4, one after the other;
//   - e4m3 and e5m2: converted to f16, two operations starting from zero, the first on elements 0
//     and 1 of every four stored, then C is added.
#include "vm/isa/mma_handlers.h"
#include "vm/isa/tensor_core.h"
#include "vm/isa/tensor_core_dense.h"

namespace ridge::vm {
namespace {

using namespace tensor;

// What multiply_dense does not do.
template <Type K, bool HalfC, bool HalfD>
void multiply_any(const DenseProduct& x) {
  constexpr int kC = HalfC ? 2 : 4, kD = HalfD ? 2 : 4;
  // Hardware has no operation with C in f32 and D in f16: that is rounded twice.
  constexpr Rule kRule{.half = HalfC && HalfD};
  Rows a;
  Columns b;
  Sums sums[2];
  for (uint32_t r = 0; r < x.row_tiles; ++r) {
    for (uint32_t s = 0; s < x.steps; ++s) {
      const auto pair = x.sources<2>(x.a + 2 * (r * x.steps + s));
      load_rows<K>(a, int(8 * s), pair.at[0], pair.at[1]);
    }
    for (uint32_t t = 0; t < x.column_tiles; ++t) {
      if (r == 0)
        for (uint32_t s = 0; s < x.steps; ++s)
          load_columns<K>(b, int(8 * s), x.w.src<uint32_t>(x.b[t * x.steps + s]));
      const auto c = x.sources<kC>(x.c + kC * (r + t));
      if constexpr (HalfC) load_half_sums(sums[r + t], c.at);
      else load_sums(sums[r + t], c.at);
      multiply_add(a, b, int(8 * x.steps), sums[r + t], kRule);
    }
  }
  for (uint32_t t = 0; t < x.row_tiles * x.column_tiles; ++t) {  // may lie where a source did
    const auto d = x.results<kD>(x.d + kD * t);
    if constexpr (HalfD) store_half_sums(sums[t], d.at, !kRule.half);
    else store_sums(sums[t], d.at);
  }
}

// f16 and bf16, dense: the hot ones.
template <Type K, bool HalfC, bool HalfD>
const Inst* multiply_halves(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const FragmentSizes sizes = fragment_sizes(form);
  const uint32_t* d = fragment_operands(inst);
  const uint32_t* x = d + sizes.d;
  const uint32_t* y = x + sizes.a;
  const uint32_t* c = y + sizes.b;
  if (g.transposed) std::swap(x, y);
  const DenseProduct product{w, form.k / 8, g.rows / 16, g.columns / 8, HalfC, HalfD, d, x, y, c};
  if (!multiply_dense<K>(product)) multiply_any<K, HalfC, HalfD>(product);
  return after_fragments(inst);
}

// The 8-bit formats are converted to f16, where e4m3's subnormals are ordinary numbers.
Value value_in(Element e, uint32_t word, uint32_t part) {
  const uint32_t bits = word >> (uint32_t(bits_of(e)) * part);
  if (e == Element::e4m3) return value_of(Element::f16, half_from_e4m3(uint8_t(bits)));
  return value_of(e, bits);
}

// Which operation an element of depth k takes part in, and where.
struct Step {
  uint32_t operation, k;
};
class Schedule {
 public:
  Schedule(const TensorForm& form, bool sparse)
      : eighths_(bits_of(form.a) == 8),
        run_(eighths_              ? (sparse ? 4 : 2)
             : form.option & kWmma ? 4
                                   : form.k),
        operations_(eighths_ || form.option & kWmma ? 2 : 1),
        depth_(form.k / operations_) {}
  Step operator()(uint32_t k) const {
    return {k / run_ % operations_, k / (run_ * operations_) * run_ + k % run_};
  }
  uint32_t operations() const { return operations_; }
  int depth() const { return int(depth_); }
  bool adds_c_last() const { return eighths_; }

 private:
  bool eighths_;
  uint32_t run_, operations_, depth_;
};

void round_to_halves(Sums& sums) {
  uint16_t bits[16];
  for (auto& row : sums.at) {
    narrow<Type::f16, 16>(row, bits);
    for (uint16_t& x : bits) x = x == 0x8000 ? 0 : x;  // no result is -0
    widen<Type::f16, 16>(bits, row);
  }
}

// tf32, e4m3 and e5m2, and everything sparse: an element at a time.
template <bool Sparse>
const Inst* multiply_floats(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const FragmentSizes sizes = fragment_sizes(form, Sparse);
  const uint32_t* d = fragment_operands(inst);
  const uint32_t* x = d + sizes.d;
  const uint32_t* y = x + sizes.a;
  const uint32_t* c = y + sizes.b;
  const uint32_t* more = c + sizes.c;
  const Schedule schedule(form, Sparse);
  const SparseColumns column_of(form, Sparse ? w.src<uint32_t>(more[0]) : nullptr,
                                Sparse ? more[1] : 0);
  const uint32_t per = 32 / uint32_t(bits_of(form.a)), column_tiles = g.columns / 8;
  const bool half = form.c == Element::f16;  // and so is D

  Rows a[2];
  if (Sparse)
    for (Rows& rows : a) {
      std::memset(rows.value, 0, sizeof rows.value);
      std::fill_n(&rows.exponent[0][0][0], sizeof rows.exponent / sizeof(int16_t), kAbsent);
    }
  for (uint32_t i = 0; i < sizes.a; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      for (uint32_t part = 0; part < per; ++part) {
        auto [row, k] = place_in_rows(g, Sparse ? form.k / 2 : form.k, per, i, lane);
        k += part;
        if (Sparse) k = column_of(row, k);
        const Step at = schedule(k);
        const Value v = value_in(form.a, w.src<uint32_t>(x[i])[lane], part);
        a[at.operation].set(row, at.k, v.value, v.exponent);
      }
  Columns b[2][2];  // of two tiles, two operations
  for (uint32_t i = 0; i < sizes.b; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      for (uint32_t part = 0; part < per; ++part) {
        const auto [column, k] = place_in_columns(g, per, i, lane);
        const Step at = schedule(k + part);
        const Value v = value_in(form.b, w.src<uint32_t>(y[i])[lane], part);
        b[column / 8][at.operation].set(column % 8, at.k, v.value, v.exponent);
      }

  const uint32_t n = half ? 2 : 4;
  Sums sums[2];
  for (uint32_t t = 0; t < column_tiles; ++t) {
    Sums addend;
    const uint32_t* registers[4];
    for (uint32_t i = 0; i < n; ++i) registers[i] = w.src<uint32_t>(c[n * t + i]);
    if (half) load_half_sums(addend, registers);
    else load_sums(addend, registers);
    if (schedule.adds_c_last()) std::memset(&sums[t], 0, sizeof(Sums));
    else sums[t] = addend;
    for (uint32_t op = 0; op < schedule.operations(); ++op) {
      multiply_add(a[op], b[t][op], schedule.depth(), sums[t], {.half = half});
      if (half) round_to_halves(sums[t]);
    }
    if (schedule.adds_c_last())
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 16; ++j)
          sums[t].at[i][j] = canonical(addend.at[i][j] + sums[t].at[i][j]);
  }
  for (uint32_t t = 0; t < column_tiles; ++t) {
    uint32_t* registers[4];
    for (uint32_t i = 0; i < n; ++i) registers[i] = w.reg<uint32_t>(d[n * t + i]);
    if (half) store_half_sums(sums[t], registers, false);
    else store_sums(sums[t], registers);
  }
  return after_fragments(inst);
}

template <Type K>
Handler halves(const TensorForm& form) {
  const bool c = form.c == Element::f16, d = form.d == Element::f16;
  if (c) return d ? multiply_halves<K, true, true> : multiply_halves<K, true, false>;
  return d ? multiply_halves<K, false, true> : multiply_halves<K, false, false>;
}

// --- m8n8k4 ---
// Four products, each by the eight lanes 4 q … 4 q + 3 and 16 more; the upper ones hold the lower
// half of the rows (columns). Newer hardware has no such operation: ptxas writes it in f32, with C
// in the middle of the sum where C and D are f16, and after it elsewhere.

template <bool Halves>
float quad_pair_sum(const float a[4], const float b[4][8], uint32_t column, float c) {
  const auto y = [&](int k) { return b[k][column]; };
  if constexpr (Halves) {
    const float first = std::fma(a[1], y(1), a[0] * y(0));
    const float second = std::fma(a[3], y(3), a[2] * y(2));
    return canonical((c + first) + second);
  } else {
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum = std::fma(a[k], y(k), sum);
    return canonical(c + sum);
  }
}

template <bool HalfC, bool HalfD>
const Inst* multiply_quad_pairs(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const uint32_t layouts = TensorForm::unpack(inst->d).option;
  const bool a_by_row = layouts & 1, b_by_row = layouts & 2;
  const uint32_t* d = fragment_operands(inst);
  const uint32_t* a = d + (HalfD ? 4 : 8);
  const uint32_t* b = a + 2;
  const uint32_t* c = b + 2;
  float left[4][8][4], right[4][4][8];  // by quad pair
  float result[8][kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t pair = lane / 4 % 4, inside = lane % 4, upper = lane < 16 ? 0 : 4;
      const uint32_t shift = 16 * (i % 2);
      const float x = half_to_float(uint16_t(w.src<uint32_t>(a[i / 2])[lane] >> shift));
      const float y = half_to_float(uint16_t(w.src<uint32_t>(b[i / 2])[lane] >> shift));
      if (a_by_row) left[pair][inside + upper][i] = x;
      else left[pair][i + upper][inside] = x;
      if (b_by_row) right[pair][inside][i + upper] = y;
      else right[pair][i][inside + upper] = y;
    }
  const auto place = [](bool half, uint32_t lane, uint32_t i) -> Position {
    const uint32_t upper = lane < 16 ? 0 : 4;
    if (half) return {lane % 4 + upper, i};
    return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
  };
  float sums[4][8][8];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    for (uint32_t i = 0; i < 8; ++i) {
      const auto [row, column] = place(HalfC, lane, i);
      const float addend =
          HalfC ? half_to_float(uint16_t(w.src<uint32_t>(c[i / 2])[lane] >> (16 * (i % 2))))
                : w.src<float>(c[i])[lane];
      const uint32_t pair = lane / 4 % 4;
      sums[pair][row][column] =
          quad_pair_sum < HalfC && HalfD > (left[pair][row], right[pair], column, addend);
    }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    for (uint32_t i = 0; i < 8; ++i) {
      const auto [row, column] = place(HalfD, lane, i);
      result[i][lane] = sums[lane / 4 % 4][row][column];
    }
  for (uint32_t i = 0; i < 8; ++i)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (HalfD) {
        uint32_t& word = w.reg<uint32_t>(d[i / 2])[lane];
        const uint32_t bits = float_to_half(result[i][lane]);
        word = i % 2 ? (word & 0xffff) | bits << 16 : bits;
      } else {
        w.reg<float>(d[i])[lane] = result[i][lane];
      }
    }
  return after_fragments(inst);
}

}  // namespace

Handler float_mma(const TensorForm& form) {
  if (form.a == Element::f16) return halves<Type::f16>(form);
  if (form.a == Element::bf16) return halves<Type::bf16>(form);
  return multiply_floats<false>;
}
Handler sparse_float_mma(const TensorForm&) { return multiply_floats<true>; }
Handler quad_pair_mma(const TensorForm& form) {
  if (form.c == Element::f16)
    return form.d == Element::f16 ? multiply_quad_pairs<true, true>
                                  : multiply_quad_pairs<true, false>;
  return multiply_quad_pairs<false, false>;
}

// The lanes 4 r … 4 r + 3 hold the metadata of rows r and r + 8, four bits for each group of
// columns. 16- and 32-bit elements: half a register for each of the two rows; smaller ones: a lane
// for each row.
uint32_t SparseColumns::operator()(uint32_t row, uint32_t stored) const {
  const uint32_t per_group = bits_ == 32 ? 1 : bits_ == 4 ? 4 : 2;  // stored elements
  const uint32_t group = stored / per_group, inside = stored % per_group;
  const uint32_t bit = 4 * group + (bits_ == 4 ? inside / 2 * 2 : 2 * inside);
  const uint32_t first = 4 * (row % 8), upper = row / 8;
  uint32_t lane, shift;
  if (bits_ >= 16) {
    const bool one_lane = k_ * uint32_t(bits_) == 256;
    lane = first + (one_lane ? selector_ : 2 * selector_ + bit / 16);
    shift = bit % 16 + 16 * upper;
  } else {
    lane = first + 2 * selector_ + 2 * (bit / 32) + upper;
    shift = bit % 32;
  }
  const uint32_t index = metadata_[lane] >> shift & 3;
  if (bits_ == 32) return 2 * group + index / 2;
  if (bits_ == 4) return 8 * group + 2 * index + inside % 2;
  return 4 * group + index;
}

uint32_t SparseColumns::selectors(const TensorForm& form) {
  const uint32_t most = bits_of(form.a) >= 16 ? 4 : 2;
  return form.k * uint32_t(bits_of(form.a)) == 256 ? most : most / 2;
}

}  // namespace ridge::vm
