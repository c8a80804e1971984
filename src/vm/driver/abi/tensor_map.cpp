// Tensor maps: checked as documented, and encoded into vm/mem/tensor_map.h.
#include "vm/mem/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "vm/cudart/config.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::TensorMap;

namespace {

constexpr size_t kMaxRank = 5;

// What the three kinds of map have in common.
struct Tensor {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2_promotion;
  CUtensorMapFloatOOBfill oob_fill;
};

uint64_t bits_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 64;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B: return 6;
    default: return 32;
  }
}

bool is_floating(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

// 16 packed values in 16 bytes of shared memory, with gaps.
bool is_gapped(CUtensorMapDataType type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
         type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

bool is_packed(CUtensorMapDataType type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || is_gapped(type);
}

uint64_t swizzle_span(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return UINT64_MAX;
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    default: return 128;
  }
}

bool swizzle_fits_type(CUtensorMapSwizzle swizzle, CUtensorMapDataType type) {
  if (!is_gapped(type)) return true;
  return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
         swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ||
         (swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
          type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
}

bool enumerators_exist(const Tensor& t) {
  return t.type >= 0 && t.type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && t.interleave >= 0 &&
         t.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && t.swizzle >= 0 &&
         t.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B && t.l2_promotion >= 0 &&
         t.l2_promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B && t.oob_fill >= 0 &&
         t.oob_fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

bool sizes_fit(const Tensor& t) {
  for (cuuint32_t i = 0; i < t.rank; ++i)
    if (!t.sizes[i] || t.sizes[i] > (uint64_t(1) << 32)) return false;
  if (is_gapped(t.type)) return t.sizes[0] % 128 == 0;
  return t.type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || t.sizes[0] % 2 == 0;
}

// `inner` is the bytes of a box's innermost row.
bool is_valid(const Tensor& t, const CUtensorMap* map, cuuint32_t least_rank, uint64_t inner) {
  if (!map || reinterpret_cast<uintptr_t>(map) % 64 || !t.address || !t.sizes ||
      !t.element_strides || !enumerators_exist(t))
    return false;
  const bool plain = t.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
  if (t.rank < (plain ? least_rank : 3) || t.rank > kMaxRank) return false;
  if (t.rank > 1 && !t.strides) return false;
  const bool wide = t.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_gapped(t.type);
  const uint64_t unit = wide ? 32 : 16;
  if (reinterpret_cast<uintptr_t>(t.address) % unit || !sizes_fit(t)) return false;
  for (cuuint32_t i = 0; i + 1 < t.rank; ++i)
    if (t.strides[i] % unit || t.strides[i] >= (uint64_t(1) << 40)) return false;
  for (cuuint32_t i = plain ? 1 : 0; i < t.rank; ++i)
    if (!t.element_strides[i] || t.element_strides[i] > 8) return false;
  if (plain && inner > swizzle_span(t.swizzle)) return false;
  if (t.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && t.swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
    return false;
  if (!plain && t.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) return false;
  if (!swizzle_fits_type(t.swizzle, t.type)) return false;
  return t.oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
         (is_floating(t.type) && !is_packed(t.type));
}

TensorMap encode(const Tensor& t, TensorMap::Mode mode) {
  TensorMap map;
  map.mode = mode;
  map.data_type = uint8_t(t.type);
  map.rank = uint8_t(t.rank);
  map.interleave = uint8_t(t.interleave);
  map.swizzle = uint8_t(t.swizzle);
  map.l2_promotion = uint8_t(t.l2_promotion);
  map.oob_fill = uint8_t(t.oob_fill);
  map.address = reinterpret_cast<uintptr_t>(t.address);
  for (cuuint32_t i = 0; i < t.rank; ++i) {
    map.size_minus_one[i] = uint32_t(t.sizes[i] - 1);
    map.element_strides[i] = uint8_t(t.element_strides[i]);
    if (i + 1 < t.rank) map.strides[i] = t.strides[i];
  }
  return map;
}

cudaError_t hand_over(const TensorMap& map, CUtensorMap* out) {
  std::memcpy(out, &map, sizeof map);
  return cudaSuccess;
}

// Tensor maps came with sm_90; they need no context.
template <class Body>
CUresult tensor_call(Body&& body) {
  return driver_call([&] {
    if (ridge::vm::cudart::config().gpu.major < 9) return cudaErrorNotSupported;
    return body();
  });
}

cudaError_t encode_im2col(const Tensor& t, TensorMap::Mode mode, CUtensorMap* out, const int* lower,
                          const int* upper, size_t corners, cuuint32_t channels,
                          cuuint32_t pixels) {
  const uint64_t inner = channels * bits_of(t.type) / 8;
  if (!is_valid(t, out, 3, inner) || t.rank < 3 || !lower || !upper) return cudaErrorInvalidValue;
  if (channels > 256 || (is_gapped(t.type) && channels != 128)) return cudaErrorInvalidValue;
  if (pixels > 1024 && mode != TensorMap::Mode::im2col_wide_128) return cudaErrorInvalidValue;
  const int limit = corners == 1 ? 32768 : corners == 2 ? 128 : 16;
  TensorMap map = encode(t, mode);
  for (size_t i = 0; i < corners; ++i) {
    for (const int corner : {lower[i], upper[i]})
      if (corner < -limit || corner >= limit) return cudaErrorInvalidValue;
    // The box reaches from `lower` to the tensor's last pixel plus `upper`; it may not be empty.
    const auto size = int64_t(t.sizes[1 + i]);
    if (size + upper[i] - lower[i] <= 0) return cudaErrorInvalidValue;
    map.lower_corner[i] = int16_t(lower[i]);
    map.upper_corner[i] = int16_t(upper[i]);
  }
  map.box[0] = uint16_t(channels);
  map.pixels_per_column = pixels;
  return hand_over(map, out);
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2_promotion,
                                CUtensorMapFloatOOBfill oob_fill) {
  return tensor_call([&] {
    const Tensor t{type,       rank,    address,      sizes,   strides, element_strides,
                   interleave, swizzle, l2_promotion, oob_fill};
    if (!box) return cudaErrorInvalidValue;
    const uint64_t inner = box[0] * bits_of(type) / 8;
    if (!is_valid(t, out, 1, inner)) return cudaErrorInvalidValue;
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && inner % 16) return cudaErrorInvalidValue;
    if (is_gapped(type) && box[0] != 128) return cudaErrorInvalidValue;
    TensorMap map = encode(t, TensorMap::Mode::tiled);
    for (cuuint32_t i = 0; i < rank; ++i) {
      if (!box[i] || box[i] > 256) return cudaErrorInvalidValue;
      map.box[i] = uint16_t(box[i]);
    }
    return hand_over(map, out);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion l2_promotion,
                                 CUtensorMapFloatOOBfill oob_fill) {
  return tensor_call([&] {
    const Tensor t{type,       rank,    address,      sizes,   strides, element_strides,
                   interleave, swizzle, l2_promotion, oob_fill};
    return encode_im2col(t, TensorMap::Mode::im2col, out, lower, upper,
                         rank >= 3 && rank <= kMaxRank ? rank - 2 : 1, channels, pixels);
  });
}

CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* sizes, const cuuint64_t* strides, int lower, int upper, cuuint32_t channels,
    cuuint32_t pixels, const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
    CUtensorMapFloatOOBfill oob_fill) {
  return tensor_call([&] {
    if (ridge::vm::cudart::config().gpu.major < 10)
      return cudaErrorNotSupported;  // it came with sm_100
    const Tensor t{type,       rank,    address,      sizes,   strides, element_strides,
                   interleave, swizzle, l2_promotion, oob_fill};
    const bool swizzle_known = swizzle == CU_TENSOR_MAP_SWIZZLE_64B ||
                               swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                               swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (!swizzle_known || mode < 0 || mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
      return cudaErrorInvalidValue;
    return encode_im2col(t,
                         mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W
                             ? TensorMap::Mode::im2col_wide
                             : TensorMap::Mode::im2col_wide_128,
                         out, &lower, &upper, 1, channels, pixels);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return tensor_call([&] {
    TensorMap inside;
    if (!map || reinterpret_cast<uintptr_t>(map) % 64) return cudaErrorInvalidValue;
    std::memcpy(static_cast<void*>(&inside), map, sizeof inside);
    if (inside.magic != TensorMap::kMagic) return cudaErrorInvalidValue;
    const bool wide = inside.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ||
                      is_gapped(CUtensorMapDataType(inside.data_type));
    if (!address || reinterpret_cast<uintptr_t>(address) % (wide ? 32 : 16))
      return cudaErrorInvalidValue;
    inside.address = reinterpret_cast<uintptr_t>(address);
    return hand_over(inside, map);
  });
}

}  // extern "C"
