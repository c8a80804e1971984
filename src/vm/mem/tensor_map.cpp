#include "vm/mem/tensor_map.h"

namespace ridge::vm {
namespace {

// Bits of a word.
struct Field {
  uint32_t word, shift, width;

  uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
  uint32_t get(const TensorMapBytes& map) const { return map.words[word] >> shift & mask(); }
  int32_t get_signed(const TensorMapBytes& map) const {
    return int32_t(get(map) << (32 - width)) >> (32 - width);
  }
  void put(TensorMapBytes& map, uint32_t value) const {
    map.words[word] = (map.words[word] & ~(mask() << shift)) | (value & mask()) << shift;
  }
};

constexpr Field kAddressLow{0, 0, 32}, kAddressHigh{1, 0, 32};
constexpr Field kIm2col{2, 0, 1}, kRank{2, 4, 3}, kType{2, 7, 4}, kInterleave{2, 11, 2},
    kSwizzle{2, 13, 2}, kNan{2, 15, 1}, kTf32{2, 16, 1}, kPromotion{2, 17, 2};
constexpr Field kPixels{15, 0, 10};
// The driver's own: bytes of one copy, and how shared memory should be aligned.
constexpr Field kCopyBytes{16, 0, 32}, kAlignment{18, 0, 32};

// Of dimension k; strides begin with dimension 1 and leave out their lowest four bits.
Field stride_low(uint32_t k) { return {2 + k, 0, 32}; }
Field stride_high(uint32_t k) { return {7, 4 * (k - 1), 4}; }
Field size_field(uint32_t k) { return {8 + k, 0, 32}; }
Field step_field(uint32_t k) { return {13, 3 * k, 3}; }
Field box_field(uint32_t k) { return k ? Field{14, 8 * (k - 1), 8} : Field{13, 24, 8}; }
// The corners share a word: the lower ones in its low half, with more bits where there are fewer.
Field corner_field(uint32_t rank, uint32_t k, bool upper) {
  const uint32_t bits = rank == 3 ? 16 : rank == 4 ? 8 : 5;
  return {14, (upper ? 16 : 0) + bits * k, bits};
}

void put_stride(TensorMapBytes& map, uint32_t k, uint64_t bytes) {
  stride_low(k).put(map, uint32_t(bytes >> 4));
  stride_high(k).put(map, uint32_t(bytes >> 36));
}
void put_address(TensorMapBytes& map, uint64_t address) {
  kAddressLow.put(map, uint32_t(address));
  kAddressHigh.put(map, uint32_t(address >> 32));
}

}  // namespace

uint32_t size_of(TensorType type) {
  switch (type) {
    case TensorType::u8: return 1;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16: return 2;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64: return 8;
    default: return 4;
  }
}

void set_type(TensorMap& map, uint32_t number) {
  using enum TensorType;
  constexpr TensorType kTypes[] = {u8,  u16, u32,  s32,     u64, s64,    f16,
                                   f32, f64, bf16, f32_ftz, f32, f32_ftz};
  map.type = kTypes[number];
  map.rounds_to_tf32 = number >= 11;
}

TensorMapBytes encode(const TensorMap& map) {
  TensorMapBytes bytes{};
  put_address(bytes, map.address);
  kIm2col.put(bytes, map.im2col);
  kRank.put(bytes, map.rank - 1);
  kType.put(bytes, uint32_t(map.type));
  kInterleave.put(bytes, map.interleave);
  kSwizzle.put(bytes, map.swizzle);
  kNan.put(bytes, map.fills_with_nan);
  kTf32.put(bytes, map.rounds_to_tf32);
  kPromotion.put(bytes, map.l2_promotion);
  uint32_t elements = map.im2col ? map.box[0] * map.pixels : 1;
  for (uint32_t k = 0; k < map.rank; ++k) {
    if (k) put_stride(bytes, k, map.stride[k]);
    size_field(k).put(bytes, uint32_t(map.size[k] - 1));
    step_field(k).put(bytes, map.step[k] - 1);
    if (!map.im2col || k == 0) box_field(k).put(bytes, map.box[k] - 1);
    if (!map.im2col) elements *= map.box[k] / map.step[k];  // rounded down, unlike what is copied
  }
  if (map.im2col) {
    for (uint32_t k = 0; k + 2 < map.rank; ++k) {
      corner_field(map.rank, k, false).put(bytes, uint32_t(map.lower[k]));
      corner_field(map.rank, k, true).put(bytes, uint32_t(map.upper[k]));
    }
    kPixels.put(bytes, map.pixels - 1);
  }
  kCopyBytes.put(bytes, elements * map.element_bytes());
  kAlignment.put(bytes, map.swizzle ? 128u << map.swizzle : 16);
  return bytes;
}

TensorMap decode(const TensorMapBytes& bytes) {
  TensorMap map;
  map.address = kAddressLow.get(bytes) | uint64_t(kAddressHigh.get(bytes)) << 32;
  map.im2col = kIm2col.get(bytes);
  map.rank = kRank.get(bytes) + 1;
  map.type = TensorType(kType.get(bytes));
  map.interleave = uint8_t(kInterleave.get(bytes));
  map.swizzle = uint8_t(kSwizzle.get(bytes));
  map.fills_with_nan = kNan.get(bytes);
  map.rounds_to_tf32 = kTf32.get(bytes);
  map.l2_promotion = uint8_t(kPromotion.get(bytes));
  for (uint32_t k = 0; k < map.rank && k < TensorMap::kMaxRank; ++k) {
    if (k)
      map.stride[k] = uint64_t(stride_low(k).get(bytes)) << 4 | uint64_t(stride_high(k).get(bytes))
                                                                    << 36;
    map.size[k] = uint64_t(size_field(k).get(bytes)) + 1;
    map.step[k] = step_field(k).get(bytes) + 1;
    if (!map.im2col || k == 0) map.box[k] = box_field(k).get(bytes) + 1;
  }
  if (map.im2col) {
    for (uint32_t k = 0; k + 2 < map.rank && k < map.lower.size(); ++k) {
      map.lower[k] = corner_field(map.rank, k, false).get_signed(bytes);
      map.upper[k] = corner_field(map.rank, k, true).get_signed(bytes);
    }
    map.pixels = kPixels.get(bytes) + 1;
  }
  return map;
}

const char* defect_of(const TensorMap& map) {
  if (map.rank > TensorMap::kMaxRank) return "the tensor map's rank is above 5";
  if (map.type > TensorType::bf16) return "the tensor map has an unknown element type";
  if (map.interleave > 2) return "the tensor map has an unknown interleaved layout";
  if ((map.interleave || map.im2col) && map.rank < 3)
    return "the tensor map is interleaved or im2col, and its rank is below 3";
  if (map.interleave) return nullptr;
  const uint32_t inner = map.box[0] * map.element_bytes();
  if (inner % 16) return "the innermost row of the tensor map's box is no multiple of 16 bytes";
  if (map.swizzle && inner > map.swizzle_span())
    return "the innermost row of the tensor map's box is longer than the swizzle's span";
  return nullptr;
}

void replace(TensorMapBytes& map, TensorMapField field, uint32_t ordinal, uint64_t value) {
  const auto low = uint32_t(value);
  switch (field) {
    case TensorMapField::global_address: put_address(map, value); break;
    case TensorMapField::rank: kRank.put(map, low); break;
    case TensorMapField::box_dim: box_field(ordinal).put(map, low - 1); break;
    case TensorMapField::global_dim: size_field(ordinal).put(map, low - 1); break;
    case TensorMapField::global_stride: put_stride(map, ordinal + 1, value); break;
    case TensorMapField::element_stride: step_field(ordinal).put(map, low - 1); break;
    case TensorMapField::elemtype: {
      // 11 and 12 are f32 and f32_ftz that loads round to tf32.
      const bool tf32 = low == 11 || low == 12;
      kType.put(map, tf32 ? low - 11 + uint32_t(TensorType::f32) : low);
      kTf32.put(map, tf32);
      break;
    }
    case TensorMapField::interleave_layout: kInterleave.put(map, low); break;
    case TensorMapField::swizzle_mode: kSwizzle.put(map, low); break;
    case TensorMapField::fill_mode: kNan.put(map, low); break;
  }
}

}  // namespace ridge::vm
