// The product of one wgmma.mma_async, as far as one warp has it: 16 rows of A and D, all columns of
// B. A register of a fragment is a tile of eight rows by 16 bytes of K (fragment.h), so operands in
// shared memory are read as the tiles that registers would hold, and N columns are N / 8 products
// of mma.sync's layout.
#include <algorithm>
#include <array>
#include <cstring>

#include "vm/exec/products.h"
#include "vm/isa/wgmma_columns.h"

namespace ridge::vm {
namespace {

using namespace tensor;

class Multiplication {
 public:
  Multiplication(const Warp& w, const Product& product)
      : w_(w),
        product_(product),
        operands_(product.inst),
        form_(operands_.form),
        bits_(uint32_t(bits_of(form_.a))),
        b_(product.b_descriptor, operands_.transposed_b) {
    read_a();
  }
  void run() {
    if (form_.a == Element::b1) multiply_bits();
    else if (is_integer(form_.a)) multiply_integers();
    else if (form_.sparse) multiply_sparse();
    else multiply_dense();
  }

 private:
  // Of each tile of eight columns: a bit for each pair of rows i and i + 8 that is still to be
  // made.
  static constexpr uint8_t kAllPairs = 255;
  using PairsLeft = std::array<uint8_t, 32>;

  uint32_t tiles() const { return form_.n / 8; }              // of eight columns
  uint32_t steps() const { return form_.bytes_of_b() / 16; }  // tiles along K
  uint32_t per_tile() const { return 128 / bits_; }           // elements along K
  uint32_t stored() const { return 2 * per_tile(); }          // elements of a row of A
  bool half() const { return form_.d == Element::f16; }

  void read_a() {
    if (operands_.a_in_registers()) {
      std::memcpy(a_, product_.a, sizeof a_);
    } else {
      const SharedOperand a(product_.a_descriptor, operands_.transposed_a);
      const uint32_t first = w_.index % Warpgroup::kWarps * 16;
      for (uint32_t i = 0; i < 4; ++i)
        a.read_tile(w_.shared, first + 8 * (i % 2), 16 * (i / 2), a_[i].at);
    }
    if (!operands_.negates) return;
    const uint32_t signs = bits_ == 8 ? 0x80808080u : bits_ == 16 ? 0x80008000u : 0x80000000u;
    for (Tile& tile : a_)
      for (uint32_t& word : tile.at) word ^= signs;
  }
  uint32_t a(uint32_t row, uint32_t k) const {
    return a_[k / per_tile() * 2 + row / 8].element(row % 8, k % per_tile(), bits_);
  }
  // Tiles of eight columns of B, in the order of K.
  std::array<Tile, 4> read_b(uint32_t tile) const {
    std::array<Tile, 4> b;
    for (uint32_t s = 0; s < steps(); ++s) b_.read_tile(w_.shared, 8 * tile, 16 * s, b[s].at);
    return b;
  }
  uint32_t b(const std::array<Tile, 4>& tiles, uint32_t column, uint32_t k) const {
    return tiles[k / per_tile()].element(column, k % per_tile(), bits_);
  }

  // The accumulator's registers for eight columns: four, or two of f16.
  struct Registers {
    uint32_t* at[4];
  };
  uint32_t* d(uint32_t i) const {
    return reinterpret_cast<uint32_t*>(product_.registers + operands_.d[i]);
  }
  Registers tile_of_d(uint32_t tile) const {
    Registers r{};
    const uint32_t count = half() ? 2 : 4;
    for (uint32_t i = 0; i < count; ++i) r.at[i] = d(count * tile + i);
    return r;
  }
  // Row pairs that are not in the bits of `rows` keep what they have, whether D is added or not.
  void load(Sums& sums, const Registers& d, uint32_t rows = kAllPairs) const {
    if (half()) load_half_sums(sums, d.at);
    else load_sums(sums, d.at);
    for (uint32_t i = 0; i < 8; ++i)
      if (!product_.adds && (rows >> i & 1)) std::memset(sums.at[i], 0, sizeof sums.at[i]);
  }
  void store(const Sums& sums, const Registers& d) const {
    if (half()) store_half_sums(sums, d.at, false);
    else store_sums(sums, d.at);
  }

  void multiply_dense();
  void multiply_groups(const ConvertedColumns& b, PairsLeft& left) const;
  template <Type K>
  void multiply_tiles(const ConvertedColumns& b, PairsLeft& left) const;
  void multiply_left(const ConvertedColumns& b, const PairsLeft& left) const;
  void multiply_sparse();
  void multiply_integers();
  void multiply_bits();
  void load_rows_of_a(Rows& rows) const;
  void load_columns_of_b(Columns& columns, const Tile* pair) const;
  uint32_t index(uint32_t row, uint32_t i) const;
  Value picked(const std::array<Tile, 4>& tiles, uint32_t row, uint32_t k, uint32_t column) const;
  template <class Sum>
  void add_integers(uint32_t tile, Sum sum) const;

  const Warp& w_;
  const Product& product_;
  const WgmmaOperands operands_;
  const WgmmaForm form_;
  const uint32_t bits_;  // of an element of A or B
  const SharedOperand b_;
  Tile a_[4];  // rows 0-7 and 8-15 by turns
};

// --- floating-point numbers as the slower ways have them ---

// value_of with a table for the 8-bit formats.
Value quick_value_of(Element e, uint32_t bits) {
  static const auto kTables = [] {
    std::array<std::array<Value, 256>, 2> tables;
    for (uint32_t i = 0; i < 256; ++i) {
      tables[0][i] = value_of(Element::e4m3, i);
      tables[1][i] = value_of(Element::e5m2, i);
    }
    return tables;
  }();
  if (e == Element::e4m3) return kTables[0][bits & 255];
  if (e == Element::e5m2) return kTables[1][bits & 255];
  return value_of(e, bits);
}

void Multiplication::load_rows_of_a(Rows& rows) const {
  for (int s = 0; s < 2; ++s)
    if (form_.a == Element::f16) load_rows<Type::f16>(rows, 8 * s, a_[2 * s].at, a_[2 * s + 1].at);
    else if (form_.a == Element::bf16)
      load_rows<Type::bf16>(rows, 8 * s, a_[2 * s].at, a_[2 * s + 1].at);
  if (bits_ == 16) return;
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < stored(); ++k) {
      const Value v = quick_value_of(form_.a, a(row, k));
      rows.set(row, k, v.value, v.exponent);
    }
}

void Multiplication::load_columns_of_b(Columns& columns, const Tile* pair) const {
  for (int s = 0; s < 2; ++s)
    if (form_.b == Element::f16) load_columns<Type::f16>(columns, 8 * s, pair[s].at);
    else if (form_.b == Element::bf16) load_columns<Type::bf16>(columns, 8 * s, pair[s].at);
  if (bits_ == 16) return;
  for (uint32_t column = 0; column < 8; ++column)
    for (uint32_t k = 0; k < stored(); ++k) {
      const Value v =
          quick_value_of(form_.b, pair[k / per_tile()].element(column, k % per_tile(), bits_));
      columns.set(column, k, v.value, v.exponent);
    }
}

// --- dense products ---

void Multiplication::multiply_dense() {
  const ConvertedColumns& b = convert_columns(w_.shared, product_.b_descriptor, operands_);
  PairsLeft left;
  left.fill(kAllPairs);
  if (b.dense.empty()) multiply_groups(b, left);
  else if (form_.a == Element::f16) multiply_tiles<Type::f16>(b, left);
  else multiply_tiles<Type::bf16>(b, left);
  multiply_left(b, left);
}

void Multiplication::multiply_groups(const ConvertedColumns& b, PairsLeft& left) const {
  RowFactors a;
  const uint32_t* registers[] = {a_[0].at, a_[1].at, a_[2].at, a_[3].at};
  if (!load_factors(a, form_.a, registers)) return;
  static constexpr uint32_t kZeros[kWarpSize] = {};
  GroupProduct product{form_.a, half(), 0, {}, {}};
  for (uint32_t g = 0; g < b.groups.size(); ++g) {
    if (!b.ordinary[g]) continue;
    product.tiles = std::min(kGroupTiles, tiles() - kGroupTiles * g);
    const uint32_t count = half() ? 2 : 4;
    for (uint32_t i = 0; i < count * product.tiles; ++i) {
      product.d[i] = d(count * kGroupTiles * g + i);
      product.c[i] = product_.adds ? product.d[i] : kZeros;
    }
    const uint32_t failed = multiply_group(a, b.groups[g], product);
    for (uint32_t t = 0; t < product.tiles; ++t)
      left[kGroupTiles * g + t] = uint8_t(failed >> 8 * t);
  }
}

template <Type K>
void Multiplication::multiply_tiles(const ConvertedColumns& b, PairsLeft& left) const {
  WideRows a;
  const uint32_t* registers[] = {a_[0].at, a_[1].at, a_[2].at, a_[3].at};
  if (!load_dense<K>(a, registers)) return;
  for (uint32_t t = 0; t < tiles(); ++t)
    if (b.ordinary[t] &&
        tensor::multiply_dense<K>(a, b.dense[t], half(), product_.adds, tile_of_d(t).at))
      left[t] = 0;
}

// What the ways for ordinary values did not do.
void Multiplication::multiply_left(const ConvertedColumns& b, const PairsLeft& left) const {
  Rows rows;
  bool loaded = false;
  for (uint32_t t = 0; t < tiles(); ++t) {
    if (!left[t]) continue;
    if (!loaded) load_rows_of_a(rows);
    loaded = true;
    Columns columns;
    load_columns_of_b(columns, &b.tiles[2 * t]);
    Sums sums;
    const Registers d = tile_of_d(t);
    load(sums, d, left[t]);
    const Rule rule{.half = half(), .narrow = bits_ == 8};
    if (left[t] == kAllPairs) multiply_add(rows, columns, int(stored()), sums, rule);
    else
      for (int i = 0; i < 8; ++i)
        if (left[t] >> i & 1) multiply_add_pair(rows, columns, int(stored()), i, sums, rule);
    store(sums, d);
  }
}

// --- sparse products ---

// Two bits of metadata of a row: which of a group of four the stored element i is (tf32: half of an
// element).
uint32_t Multiplication::index(uint32_t row, uint32_t i) const {
  const uint32_t first = 4 * (row % 8), upper = row / 8, bit = 2 * i;
  const uint32_t* metadata = product_.metadata;
  if (bits_ >= 16)
    return metadata[first + 2 * operands_.selector + bit / 16] >> (16 * upper + bit % 16) & 3;
  return metadata[first + 2 * (bit / 32) + upper] >> bit % 32 & 3;
}

// The element of a column of B that the stored element k of a row of A is multiplied with.
Value Multiplication::picked(const std::array<Tile, 4>& tiles, uint32_t row, uint32_t k,
                             uint32_t column) const {
  if (bits_ != 32) return quick_value_of(form_.b, b(tiles, column, k / 2 * 4 + index(row, k)));
  // The metadata picks halves of two elements, so what PTX does not allow makes a new number.
  const auto half = [&](uint32_t i) {
    return b(tiles, column, 2 * k + i / 2) >> (16 * (i % 2)) & 0xffff;
  };
  return value_of(form_.b, half(index(row, 2 * k)) | half(index(row, 2 * k + 1)) << 16);
}

// Each row has columns of its own: those elements of B that its stored elements are multiplied
// with.
void Multiplication::multiply_sparse() {
  Rows rows;
  load_rows_of_a(rows);
  for (uint32_t t = 0; t < tiles(); ++t) {
    const auto b_tiles = read_b(t);
    Sums sums;
    const Registers d = tile_of_d(t);
    load(sums, d);
    for (uint32_t row = 0; row < 8; ++row) {
      Columns columns;
      for (uint32_t k = 0; k < stored(); ++k)
        for (uint32_t column = 0; column < 8; ++column)
          for (uint32_t upper = 0; upper < 2; ++upper) {
            const Value v = picked(b_tiles, row + 8 * upper, k, column);
            columns.value[k][2 * column + upper] = v.value;
            columns.exponent[k][2 * column + upper] = v.exponent;
          }
      multiply_add_pair(rows, columns, int(stored()), int(row), sums,
                        {.half = half(), .narrow = bits_ == 8});
    }
    store(sums, d);
  }
}

// --- integers and bits ---

// D = sum(row, column), plus D if that is added.
template <class Sum>
void Multiplication::add_integers(uint32_t tile, Sum sum) const {
  const Registers d = tile_of_d(tile);
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      uint32_t& to = d.at[2 * (row / 8) + column % 2][4 * (row % 8) + column / 2];
      const int64_t total = (product_.adds ? int64_t(int32_t(to)) : 0) + sum(row, column);
      to = uint32_t(form_.saturates ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX) : total);
    }
}

void Multiplication::multiply_integers() {
  const auto number = [](Element e, uint32_t bits) {
    return e == Element::s8 ? int16_t(int8_t(bits)) : int16_t(uint8_t(bits));
  };
  constexpr uint32_t kStored = 32;
  int16_t x[16][kStored];
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < kStored; ++k) x[row][k] = number(form_.a, a(row, k));
  for (uint32_t t = 0; t < tiles(); ++t) {
    const auto b_tiles = read_b(t);
    int16_t y[8][2 * kStored];
    for (uint32_t column = 0; column < 8; ++column)
      for (uint32_t k = 0; k < (form_.sparse ? 2 : 1) * kStored; ++k)
        y[column][k] = number(form_.b, b(b_tiles, column, k));
    add_integers(t, [&](uint32_t row, uint32_t column) {
      int32_t sum = 0;
      if (form_.sparse)
        for (uint32_t k = 0; k < kStored; ++k)
          sum += int32_t(x[row][k]) * y[column][k / 2 * 4 + index(row, k)];
      else
        for (uint32_t k = 0; k < kStored; ++k) sum += int32_t(x[row][k]) * y[column][k];
      return sum;
    });
  }
}

void Multiplication::multiply_bits() {
  for (uint32_t t = 0; t < tiles(); ++t) {
    const auto b_tiles = read_b(t);
    add_integers(t, [&](uint32_t row, uint32_t column) {
      int32_t sum = 0;
      for (uint32_t s = 0; s < 2; ++s)
        for (uint32_t word = 0; word < 4; ++word)
          sum += __builtin_popcount(a_[2 * s + row / 8].at[4 * (row % 8) + word] &
                                    b_tiles[s].at[4 * column + word]);
      return sum;
    });
  }
}

}  // namespace

void make_product(const Warp& w, const Product& product) { Multiplication(w, product).run(); }

}  // namespace ridge::vm
