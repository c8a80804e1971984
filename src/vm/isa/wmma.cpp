// wmma: whole tiles between memory and fragments, and their products. PTX leaves the layout of
// these fragments open; ours is what ptxas feeds to a Hopper's tensor cores (matrix.h), with the
// f16 fragments of A and B, which have room for twice as many elements, holding everything twice.
#include "vm/isa/wmma.h"
#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/load_store.h"
#include "vm/isa/mma_handlers.h"

namespace ridge::vm {
namespace {

// TensorForm::option of loads and stores.
constexpr uint32_t kRole = 3, kByColumn = 4, kStrided = 8, kShared = 16;
using Role = WmmaRole;

// A matrix in memory: `lines` of `width` elements each, rows or columns as the layout says.
struct Tile {
  uint8_t* at = nullptr;
  uint64_t pitch = 0;  // bits from line to line
  int bits = 0;
  bool by_column = false;

  uint8_t* element(uint32_t row, uint32_t column) const {
    const uint64_t line = by_column ? column : row, inside = by_column ? row : column;
    return at + (line * pitch + inside * uint64_t(bits)) / 8;
  }
};

// Finds the tile that the warp's common address and stride name, every byte of it checked.
bool find_tile(Warp& w, const Inst* inst, const TensorForm& form, uint32_t stride, Element e,
               const char* what, Tile& tile) {
  const Role role = Role(form.option & kRole);
  const uint32_t rows = role == Role::b ? form.k : form.m,
                 columns = role == Role::a ? form.k : form.n;
  tile.bits = bits_of(e);
  tile.by_column = form.option & kByColumn;
  const uint32_t lines = tile.by_column ? columns : rows, width = tile.by_column ? rows : columns;
  tile.pitch = uint64_t(form.option & kStrided ? stride : width) * uint64_t(tile.bits);
  const uint32_t bytes = width * uint32_t(tile.bits) / 8;
  const uint32_t alignment = tile.bits < 8 ? 4 : uint32_t(tile.bits) / 8;

  const int64_t offset = int32_t(inst->b);
  uint64_t base = form.option & kShared
                      ? kSharedWindow + uint32_t(w.src<uint32_t>(inst->a)[0] + uint32_t(offset))
                      : w.src<uint64_t>(inst->a)[0] + uint64_t(offset);
  const bool shared =
      base - kSharedWindow < (form.option & kShared ? 1ull << 32 : kSharedWindowSize);
  if (shared) base = uint32_t(base - kSharedWindow) - w.shared_start;
  const uint64_t span = (lines - 1) * tile.pitch / 8 + bytes;
  tile.at = shared ? w.shared + base : w.worker->memory->place(base);
  if (((base | tile.pitch / 8) & (alignment - 1)) == 0 && base + span > base &&
      (shared ? base + span <= w.shared_size : range_is_known(w, inst, base, base + span)))
    return true;
  for (uint32_t line = 0; line < lines; ++line) {
    const uint64_t begin = base + line * tile.pitch / 8, end = begin + bytes;
    const bool misaligned = begin % alignment;
    const bool inside = shared ? end <= w.shared_size
                               : range_is_known(w, inst, begin, end) ||
                                     check_range(w, inst, begin, end) ||
                                     passes_on_a_gpu(w, inst, 0, begin, bytes, what);
    if (!misaligned && inside) continue;
    raise(w, inst, misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address, 0,
          begin, misaligned ? alignment : bytes,
          shared ? (what[0] == 'l' ? "shared load" : "shared store") : what);
    return false;
  }
  return true;
}

// One register's tile of eight rows (columns, of B), each of four words along K.
template <int Bytes>  // an element
void gather_tile(const uint8_t* from, int64_t k_step, uint8_t* to) {
  constexpr int kWide = Bytes == 8 ? 4 : 16 / Bytes;
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < kWide; ++k)
      std::memcpy(to + (row * kWide + k) * Bytes, from + row * Bytes + k * k_step, Bytes);
}
typedef int64_t Row __attribute__((vector_size(16)));
typedef int64_t RowPair __attribute__((vector_size(32)));
template <int Bytes>  // four words
void copy_tile(const uint8_t* from, int64_t row_step, uint8_t* to) {
  if constexpr (Bytes == 16) {
    for (int row = 0; row < 8; row += 2, from += 2 * row_step) {
      Row x, y;
      std::memcpy(&x, from, 16);
      std::memcpy(&y, from + row_step, 16);
      const RowPair pair = __builtin_shufflevector(x, y, 0, 1, 2, 3);
      std::memcpy(to + 16 * row, &pair, 32);
    }
  } else {
    for (int row = 0; row < 8; ++row) std::memcpy(to + row * Bytes, from + row * row_step, Bytes);
  }
}

// A or B. Where neighbours along K are neighbours in memory, a tile's row is one piece.
const Inst* load_factor(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const bool is_a = Role(form.option & kRole) == Role::a;
  TensorForm sized = form;
  sized.option = kWmma;
  const FragmentSizes sizes = fragment_sizes(sized);
  const uint32_t count = is_a ? sizes.a : sizes.b;
  const uint32_t used = is_a ? form.a_registers() : form.b_registers();
  const uint32_t* d = fragment_operands(inst);
  const uint32_t stride = form.option & kStrided ? w.src<uint32_t>(d[count])[0] : 0;
  Tile tile;
  if (!find_tile(w, inst, form, stride, form.a, "load", tile)) return nullptr;

  // Registers follow each other as in matrix.h's place_in_rows and place_in_columns.
  const bool in_rows = is_a != g.transposed, depth_first = is_a != tile.by_column;
  const bool wide = tile.bits == 64;
  const int64_t pitch = int64_t(tile.pitch / 8), bytes = tile.bits / 8;
  const int64_t next_eight = 8 * (depth_first ? pitch : bytes);
  const int64_t next_step = depth_first ? (wide ? 32 : 16) : pitch * (wide ? 4 : 16 / bytes);
  const uint32_t at_once = in_rows && g.rows > 8 ? 2 : 1;  // eights that share a step
  const uint32_t steps = form.k * uint32_t(tile.bits) / (wide ? 256 : 128);
  const auto tiles = [&](auto copy) {
    const uint8_t* from = tile.at;
    for (uint32_t i = 0; i < used; from += at_once * next_eight)
      for (uint32_t s = 0; s < steps; ++s)
        for (uint32_t h = 0; h < at_once; ++h, ++i)
          copy(from + s * next_step + h * next_eight, pitch, w.reg<uint8_t>(d[i]));
  };
  if (depth_first) wide ? tiles(copy_tile<32>) : tiles(copy_tile<16>);
  else if (wide) tiles(gather_tile<8>);
  else if (tile.bits == 32) tiles(gather_tile<4>);
  else if (tile.bits == 16) tiles(gather_tile<2>);
  else tiles(gather_tile<1>);
  for (uint32_t i = used; i < count; ++i) {
    RowPair pairs[4];
    std::memcpy(pairs, w.reg<uint8_t>(d[i - used]), sizeof pairs);
    std::memcpy(w.reg<uint8_t>(d[i]), pairs, sizeof pairs);
  }
  return after_fragments(inst);
}

// The hot case of it, m16n16k16 with neighbours along K side by side: 16 lines of 32 bytes, of
// which a tile takes half of eight.
template <Role R, bool Twice>
const Inst* load_lines(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  constexpr uint32_t kCount = Twice ? 8 : 4;
  const uint32_t* d = fragment_operands(inst);
  const uint32_t stride = form.option & kStrided ? w.src<uint32_t>(d[kCount])[0] : 0;
  Tile tile;
  if (!find_tile(w, inst, form, stride, form.a, "load", tile)) return nullptr;
  const uint64_t pitch = tile.pitch / 8;
  const uint8_t* from = tile.at;
  for (uint32_t eight = 0; eight < 2; ++eight) {
    const uint32_t first = R == Role::a ? eight : 2 * eight,
                   second = first + (R == Role::a ? 2 : 1);
    for (uint32_t line = 0; line < 8; line += 2, from += 2 * pitch) {
      RowPair x, y;
      std::memcpy(&x, from, 32);
      std::memcpy(&y, from + pitch, 32);
      const RowPair low = __builtin_shufflevector(x, y, 0, 1, 4, 5),
                    high = __builtin_shufflevector(x, y, 2, 3, 6, 7);
      for (uint32_t i = 0; i < kCount; i += 4) {
        std::memcpy(w.reg<uint8_t>(d[first + i]) + 16 * line, &low, 32);
        std::memcpy(w.reg<uint8_t>(d[second + i]) + 16 * line, &high, 32);
      }
    }
  }
  return after_fragments(inst);
}

// A line's eight elements of 32 bits: the even ones lie in one register, the odd ones in the next.
typedef int32_t Four __attribute__((vector_size(16)));
typedef int32_t Eight __attribute__((vector_size(32)));
template <bool Store>
inline void move_line(uint8_t* line, uint8_t* even, uint8_t* odd) {
  Four x, y;
  Eight both;
  if constexpr (Store) {
    std::memcpy(&x, even, 16);
    std::memcpy(&y, odd, 16);
    both = __builtin_shufflevector(x, y, 0, 4, 1, 5, 2, 6, 3, 7);
    std::memcpy(line, &both, 32);
  } else {
    std::memcpy(&both, line, 32);
    x = __builtin_shufflevector(both, both, 0, 2, 4, 6);
    y = __builtin_shufflevector(both, both, 1, 3, 5, 7);
    std::memcpy(even, &x, 16);
    std::memcpy(odd, &y, 16);
  }
}

template <bool Store>
const Inst* move_sums(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  const TensorForm form = TensorForm::unpack(inst->d);
  const Geometry g(form);
  const Element e = form.a;
  const bool half = e == Element::f16;
  const uint32_t count = sum_registers(g, e);
  const uint32_t* list = fragment_operands(inst);
  const uint32_t stride = form.option & kStrided ? w.src<uint32_t>(list[count])[0] : 0;
  Tile tile;
  if (!find_tile(w, inst, form, stride, e, Store ? "store" : "load", tile)) return nullptr;
  const auto values_of = [&](uint32_t i) {
    return Store ? const_cast<uint8_t*>(w.src<uint8_t>(list[i])) : w.reg<uint8_t>(list[i]);
  };
  if (tile.bits == 32 && tile.by_column == g.transposed) {
    for (uint32_t i = 0; i < count; i += 2) {
      const auto [row, column] = place_in_sums(g, false, i, 0, 0);
      uint8_t *even = values_of(i), *odd = values_of(i + 1);
      for (uint32_t r = 0; r < 8; ++r)
        move_line<Store>(
            g.transposed ? tile.element(column, row + r) : tile.element(row + r, column),
            even + 16 * r, odd + 16 * r);
    }
    return after_fragments(inst);
  }
  const auto copy = [&]<int Bytes>() {
    for (uint32_t i = 0; i < count; ++i) {
      uint8_t* values = values_of(i);
      for (uint32_t lane = 0; lane < kWarpSize; ++lane)
        for (uint32_t part = 0; part < (half ? 2 : 1); ++part) {
          auto [row, column] = place_in_sums(g, half, i, lane, part);
          if (g.transposed) std::swap(row, column);
          uint8_t* in_memory = tile.element(row, column);
          uint8_t* in_register = values + (half ? 2 * lane + part : lane) * Bytes;
          std::memcpy(Store ? in_memory : in_register, Store ? in_register : in_memory, Bytes);
        }
    }
  };
  if (half) copy.template operator()<2>();
  else if (e == Element::f64) copy.template operator()<8>();
  else copy.template operator()<4>();
  return after_fragments(inst);
}

template <Role R, bool Strided, bool Store = false>
Handlers select_move(const Form& form) {
  auto t = tensor_form(form);
  if (!t) return {};
  t->b = t->a;
  t->option = uint32_t(R) | (form.has("col") ? kByColumn : 0) | (Strided ? kStrided : 0) |
              (form.space == Space::shared ? kShared : 0);
  TensorForm sized = *t;
  sized.option = kWmma;
  const FragmentSizes sizes = fragment_sizes(sized);
  Handler handler = R == Role::sums ? move_sums<Store> : load_factor;
  if constexpr (R != Role::sums)
    if (t->m == 16 && t->n == 16 && bits_of(t->a) == 16 && (R == Role::b) == form.has("col"))
      handler = t->a == Element::f16 ? load_lines<R, true> : load_lines<R, false>;
  Handlers h{handler, handler, false, t->pack()};
  h.fragments = {uint8_t(R == Role::a   ? sizes.a
                         : R == Role::b ? sizes.b
                                        : sum_registers(Geometry(*t), t->a))};
  return h;
}
template <bool Strided>
Handlers select_factor(const Form& form) {
  return form.has("a") ? select_move<Role::a, Strided>(form) : select_move<Role::b, Strided>(form);
}

Handlers select_product(const Form& form) {
  auto t = tensor_form(form);
  if (!t || t->a != t->b) return {};
  t->option = kWmma;
  Handler handler;
  if (t->a == Element::f64) {
    t->option |= uint32_t(round_of(form));
    handler = double_mma();
  } else if (is_integer(t->a)) {
    t->option |= form.has("satfinite") ? kSaturates : form.has("xor") ? kXor : 0;
    handler = integer_mma(*t);
  } else {
    handler = float_mma(*t);
  }
  const FragmentSizes n = fragment_sizes(*t);
  Handlers h{handler, handler, false, t->pack()};
  h.fragments = {uint8_t(n.d), uint8_t(n.a), uint8_t(n.b), uint8_t(n.c)};
  return h;
}

constexpr Facts kSync{.encoding = Encoding::fragments, .exchanges = true, .converges = true};
constexpr Facts kLoad{.access = AccessKind::load_tile,
                      .encoding = Encoding::fragments,
                      .exchanges = true,
                      .converges = true};
constexpr Facts kStore{.access = AccessKind::store_tile,
                       .encoding = Encoding::fragments,
                       .exchanges = true,
                       .converges = true};
constexpr std::string_view kProduct = "d*:b32,a*:b32,b*:b32,c*:b32";

// Every load and store has a form with a stride and one without: two rows each.
#define RIDGE_TILE_LOAD(spelling, type, select)                          \
  {spelling, "d*:" type ",[a]", Unit::tensor, kLoad, select<false>}, {   \
    spelling, "d*:" type ",[a],b:u32", Unit::tensor, kLoad, select<true> \
  }
#define RIDGE_TILE_SUMS(rest, type)                                                                \
  {"wmma[load][c][sync][aligned][row|col]" rest, "d*:" type ",[a]", Unit::tensor, kLoad,           \
   select_move<Role::sums, false>},                                                                \
      {"wmma[load][c][sync][aligned][row|col]" rest, "d*:" type ",[a],b:u32", Unit::tensor, kLoad, \
       select_move<Role::sums, true>},                                                             \
      {"wmma[store][d][sync][aligned][row|col]" rest, "[a],b*:" type, Unit::tensor, kStore,        \
       select_move<Role::sums, false, true>},                                                      \
  {                                                                                                \
    "wmma[store][d][sync][aligned][row|col]" rest, "[a],b*:" type ",c:u32", Unit::tensor, kStore,  \
        select_move<Role::sums, true, true>                                                        \
  }
constexpr InstrDef kRows[] = {
    RIDGE_TILE_LOAD("wmma[load][a|b][sync][aligned][row|col][m16n16k16|m32n8k16|m8n32k16]"
                    "{global|shared|shared::cta}[f16|bf16|s8|u8]",
                    "b32", select_factor),
    RIDGE_TILE_LOAD("wmma[load][a|b][sync][aligned][row|col][m16n16k8]"
                    "{global|shared|shared::cta}[tf32]",
                    "b32", select_factor),
    RIDGE_TILE_LOAD("wmma[load][a|b][sync][aligned][row|col][m8n8k4]"
                    "{global|shared|shared::cta}[f64]",
                    "f64", select_factor),
    RIDGE_TILE_LOAD("wmma[load][a][sync][aligned][row][m8n8k32]{global|shared|shared::cta}[s4|u4]",
                    "b32", select_factor),
    RIDGE_TILE_LOAD("wmma[load][b][sync][aligned][col][m8n8k32]{global|shared|shared::cta}[s4|u4]",
                    "b32", select_factor),
    RIDGE_TILE_LOAD("wmma[load][a][sync][aligned][row][m8n8k128]{global|shared|shared::cta}[b1]",
                    "b32", select_factor),
    RIDGE_TILE_LOAD("wmma[load][b][sync][aligned][col][m8n8k128]{global|shared|shared::cta}[b1]",
                    "b32", select_factor),
    RIDGE_TILE_SUMS("[m16n16k16|m32n8k16|m8n32k16]{global|shared|shared::cta}[f16|f32|s32]", "b32"),
    RIDGE_TILE_SUMS("[m16n16k8]{global|shared|shared::cta}[f32]", "b32"),
    RIDGE_TILE_SUMS("[m8n8k32|m8n8k128]{global|shared|shared::cta}[s32]", "b32"),
    RIDGE_TILE_SUMS("[m8n8k4]{global|shared|shared::cta}[f64]", "f64"),

    {"wmma[mma][sync][aligned][row|col][row|col][m16n16k16|m32n8k16|m8n32k16][f16|f32][f16|f32]",
     kProduct, Unit::tensor, kSync, select_product},
    {"wmma[mma][sync][aligned][row|col][row|col][m16n16k16|m32n8k16|m8n32k16][f32][bf16][bf16]"
     "[f32]",
     kProduct, Unit::tensor, kSync, select_product},
    {"wmma[mma][sync][aligned][row|col][row|col][m16n16k8][f32][tf32][tf32][f32]", kProduct,
     Unit::tensor, kSync, select_product},
    {"wmma[mma][sync][aligned][row|col][row|col][m8n8k4]{%round}[f64][f64][f64][f64]",
     "d*:f64,a*:f64,b*:f64,c*:f64", Unit::tensor, kSync, select_product},
    {"wmma[mma][sync][aligned][row|col][row|col][m16n16k16|m32n8k16|m8n32k16][s32][s8|u8][s8|u8]"
     "[s32]{satfinite}",
     kProduct, Unit::tensor, kSync, select_product},
    {"wmma[mma][sync][aligned][row][col][m8n8k32][s32][s4|u4][s4|u4][s32]{satfinite}", kProduct,
     Unit::tensor, kSync, select_product},
    {"wmma[mma][and|xor][popc][sync][aligned][row][col][m8n8k128][s32][b1][b1][s32]", kProduct,
     Unit::tensor, kSync, select_product},
};
#undef RIDGE_TILE_LOAD
#undef RIDGE_TILE_SUMS

}  // namespace

std::span<const InstrDef> wmma_rows() { return kRows; }

WmmaTile wmma_tile(const Warp& w, const Inst* inst) {
  WmmaTile tile;
  tile.form = TensorForm::unpack(inst->d);
  const TensorForm& form = tile.form;
  tile.role = Role(form.option & kRole);
  tile.element = form.a;
  tile.by_column = form.option & kByColumn;
  const uint32_t rows = tile.role == Role::b ? form.k : form.m,
                 columns = tile.role == Role::a ? form.k : form.n;
  tile.lines = tile.by_column ? columns : rows;
  tile.width = tile.by_column ? rows : columns;
  TensorForm sized = form;
  sized.option = kWmma;
  const FragmentSizes sizes = fragment_sizes(sized);
  const uint32_t count = tile.role == Role::a   ? sizes.a
                         : tile.role == Role::b ? sizes.b
                                                : sum_registers(Geometry(form), form.a);
  const uint32_t stride =
      form.option & kStrided ? w.src<uint32_t>(fragment_operands(inst)[count])[0] : tile.width;
  tile.pitch = uint64_t(stride) * uint64_t(bits_of(form.a));
  const int64_t offset = int32_t(inst->b);
  tile.base = form.option & kShared ? uint64_t(w.src<uint32_t>(inst->a)[0] + uint32_t(offset))
                                    : w.src<uint64_t>(inst->a)[0] + uint64_t(offset);
  return tile;
}

WmmaMove wmma_move(const Handlers& handlers) {
  const TensorForm form = TensorForm::unpack(handlers.flags);
  return {.role = Role(form.option & kRole),
          .element = form.a,
          .by_column = bool(form.option & kByColumn),
          .in_shared = bool(form.option & kShared)};
}

}  // namespace ridge::vm
