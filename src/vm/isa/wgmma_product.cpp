// The product of one wgmma.mma_async, as far as one warp has it: 16 rows of A and D, all columns of
// B. A register of a fragment is a tile of eight rows by 16 bytes of K (fragment.h), so operands in
// shared memory are read as the tiles that registers would hold, and N columns are N / 8 products
// of mma.sync's layout.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "vm/exec/products.h"
#include "vm/isa/shared_operand.h"
#include "vm/isa/tensor_core.h"
#include "vm/isa/tensor_core_dense.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm {
namespace {

using namespace tensor;

struct alignas(64) Tile {
  uint32_t at[kWarpSize];
  // Element k of a row, counted from the tile's first; bits above it are not cleared.
  uint32_t element(uint32_t row, uint32_t k, uint32_t bits) const {
    const uint32_t bit = k * bits;
    return at[4 * row + bit / 32] >> bit % 32;
  }
};

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
    else if (form_.a == Element::f16) multiply_halves<Type::f16>();
    else if (form_.a == Element::bf16) multiply_halves<Type::bf16>();
    else multiply_floats();
  }

 private:
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
  Registers d(uint32_t tile) const {
    Registers r{};
    const uint32_t count = half() ? 2 : 4;
    for (uint32_t i = 0; i < count; ++i)
      r.at[i] = reinterpret_cast<uint32_t*>(product_.registers + operands_.d[count * tile + i]);
    return r;
  }
  void load(Sums& sums, const Registers& d) const {
    if (!product_.adds) std::memset(&sums, 0, sizeof sums);
    else if (half()) load_half_sums(sums, d.at);
    else load_sums(sums, d.at);
  }
  void store(const Sums& sums, const Registers& d) const {
    if (half()) store_half_sums(sums, d.at, false);
    else store_sums(sums, d.at);
  }

  template <Type K>
  void multiply_halves();
  void multiply_floats();
  void multiply_sparse();
  void multiply_integers();
  void multiply_bits();
  void load_rows_of_a(Rows& rows) const;
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

// --- f16 and bf16, dense ---

// B's columns, converted. The four warps of a warpgroup read the same B one after the other, so the
// last few matrices are kept; whether one still is what lies in shared memory is seen from its
// bytes.
struct ConvertedColumns {
  uint64_t descriptor = 0;
  uint32_t key = 0;  // of the form; 0: nothing yet
  std::vector<Tile> tiles;
  std::vector<DenseColumns> columns;
  std::vector<uint8_t> ordinary;  // whether multiply_dense can use them
};
class ColumnCache {
 public:
  template <Type K>
  const ConvertedColumns& find(const uint8_t* shared, const SharedOperand& b, uint64_t descriptor,
                               const WgmmaOperands& o) {
    const uint32_t tiles = o.form.n / 8;
    const uint32_t key = o.form.n << 2 | uint32_t(o.transposed_b) << 1 | (K == Type::f16);
    ConvertedColumns* found = nullptr;
    for (ConvertedColumns& entry : entries_)
      if (entry.key == key && entry.descriptor == descriptor) found = &entry;
    const bool known = found;
    if (!found) found = &entries_[next_++ % entries_.size()];
    found->tiles.resize(2 * tiles);
    if (!b.read_pairs(shared, tiles, found->tiles[0].at) && known) return *found;
    found->descriptor = descriptor;
    found->key = key;
    found->columns.resize(tiles);
    found->ordinary.resize(tiles);
    for (uint32_t t = 0; t < tiles; ++t) {
      const uint32_t* pair[] = {found->tiles[2 * t].at, found->tiles[2 * t + 1].at};
      found->ordinary[t] = load_dense<K>(found->columns[t], pair);
    }
    return *found;
  }

 private:
  std::array<ConvertedColumns, 8> entries_;
  size_t next_ = 0;
};

template <Type K>
void Multiplication::multiply_halves() {
  thread_local ColumnCache cache;
  const ConvertedColumns& b = cache.find<K>(w_.shared, b_, product_.b_descriptor, operands_);
  WideRows dense;
  const uint32_t* registers[] = {a_[0].at, a_[1].at, a_[2].at, a_[3].at};
  const bool ordinary = load_dense<K>(dense, registers);
  Rows rows;
  bool loaded = false;
  for (uint32_t t = 0; t < tiles(); ++t) {
    const Registers d = this->d(t);
    if (ordinary && b.ordinary[t] &&
        multiply_dense<K>(dense, b.columns[t], half(), product_.adds, d.at))
      continue;
    if (!loaded)
      for (int s = 0; s < 2; ++s) load_rows<K>(rows, 8 * s, a_[2 * s].at, a_[2 * s + 1].at);
    loaded = true;
    Columns columns;
    for (uint32_t s = 0; s < 2; ++s) load_columns<K>(columns, int(8 * s), b.tiles[2 * t + s].at);
    Sums sums;
    load(sums, d);
    multiply_add(rows, columns, 16, sums, {.half = half()});
    store(sums, d);
  }
}

// --- tf32 and the 8-bit formats, and sparse products ---

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
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < stored(); ++k) {
      const Value v = quick_value_of(form_.a, a(row, k));
      rows.set(row, k, v.value, v.exponent);
    }
}

void Multiplication::multiply_floats() {
  Rows rows;
  load_rows_of_a(rows);
  for (uint32_t t = 0; t < tiles(); ++t) {
    const auto b_tiles = read_b(t);
    Columns columns;
    for (uint32_t column = 0; column < 8; ++column)
      for (uint32_t k = 0; k < stored(); ++k) {
        const Value v = quick_value_of(form_.b, b(b_tiles, column, k));
        columns.set(column, k, v.value, v.exponent);
      }
    Sums sums;
    const Registers d = this->d(t);
    load(sums, d);
    multiply_add(rows, columns, int(stored()), sums, {.half = half(), .narrow = bits_ == 8});
    store(sums, d);
  }
}

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
    const Registers d = this->d(t);
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
  const Registers d = this->d(tile);
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
