// Tensor maps: refused where an H200's driver refuses them (docs/hopper_facts.md, section 4), and
// encoded by vm/mem/tensor_map.h.
#include "vm/mem/tensor_map.h"

#include <cstring>

#include "vm/cudart/config.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::TensorMap;
using ridge::vm::TensorMapBytes;

namespace {

constexpr uint64_t kMostCopied = 228 * 1024;  // bytes

// What tiled and im2col maps have in common.
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

bool is_floating(CUtensorMapDataType type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }

// Types of 4 and 6 bits and swizzles of larger atoms belong to newer chips.
bool enumerators_exist(const Tensor& t) {
  return t.type >= 0 && t.type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ && t.interleave >= 0 &&
         t.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && t.swizzle >= 0 &&
         t.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B && t.l2_promotion >= 0 &&
         t.l2_promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B && t.oob_fill >= 0 &&
         t.oob_fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

bool is_aligned_address(const void* address, uint32_t interleave) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  return bits % (interleave == 2 ? 32 : 16) == 0 && bits >> 57 == 0;
}

bool is_valid(const Tensor& t, const CUtensorMap* out, cuuint32_t least_rank) {
  if (!out || !t.sizes || !t.strides || !t.element_strides || !enumerators_exist(t)) return false;
  const bool plain = t.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
  if (t.rank < (plain ? least_rank : 3) || t.rank > TensorMap::kMaxRank) return false;
  if (!is_aligned_address(t.address, t.interleave)) return false;
  const uint64_t unit = t.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  for (cuuint32_t k = 0; k < t.rank; ++k) {
    if (!t.sizes[k] || t.sizes[k] > uint64_t(1) << 32) return false;
    if (!t.element_strides[k] || t.element_strides[k] > 8) return false;
    if (k && (t.strides[k - 1] % unit || t.strides[k - 1] >> 40)) return false;
  }
  return t.oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_floating(t.type);
}

TensorMap map_of(const Tensor& t) {
  TensorMap map;
  map.address = reinterpret_cast<uintptr_t>(t.address);
  map.rank = t.rank;
  set_type(map, cuuint32_t(t.type));
  map.interleave = uint8_t(t.interleave);
  map.swizzle = uint8_t(t.swizzle);
  map.l2_promotion = uint8_t(t.l2_promotion);
  map.fills_with_nan = t.oob_fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t k = 0; k < t.rank; ++k) {
    map.size[k] = t.sizes[k];
    map.step[k] = t.element_strides[k];
    if (k) map.stride[k] = t.strides[k - 1];
  }
  return map;
}

// The innermost row of a box, or a pixel's channels.
bool row_fits(const TensorMap& map) {
  if (!map.box[0] || map.box[0] > 256) return false;
  if (map.interleave) return true;
  const uint32_t bytes = map.box[0] * map.element_bytes();
  return bytes % 16 == 0 && (!map.swizzle || bytes <= map.swizzle_span());
}

cudaError_t hand_over(const TensorMap& map, uint64_t copied_bytes, CUtensorMap* out) {
  if (copied_bytes > kMostCopied) return cudaErrorInvalidValue;
  const TensorMapBytes bytes = encode(map);
  std::memcpy(out, &bytes, sizeof bytes);
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
    if (!is_valid(t, out, 1) || !box) return cudaErrorInvalidValue;
    TensorMap map = map_of(t);
    uint64_t bytes = map.element_bytes();
    for (cuuint32_t k = 0; k < rank; ++k) {
      if (!box[k] || box[k] > 256) return cudaErrorInvalidValue;
      map.box[k] = box[k];
      bytes *= box[k];
    }
    return row_fits(map) ? hand_over(map, bytes, out) : cudaErrorInvalidValue;
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
    if (!is_valid(t, out, 3) || !lower || !upper) return cudaErrorInvalidValue;
    if (!pixels || pixels > 1024) return cudaErrorInvalidValue;
    TensorMap map = map_of(t);
    map.im2col = true;
    map.box[0] = channels;
    map.pixels = pixels;
    const int limit = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
    for (cuuint32_t k = 0; k + 2 < rank; ++k) {
      for (const int corner : {lower[k], upper[k]})
        if (corner < -limit || corner >= limit) return cudaErrorInvalidValue;
      // The box reaches from `lower` to the tensor's last pixel plus `upper`; it may not be empty.
      const uint64_t size = sizes[k + 1];
      if (size >= 0xffffffff || int64_t(size) - 1 + upper[k] < lower[k])
        return cudaErrorInvalidValue;
      map.lower[k] = lower[k];
      map.upper[k] = upper[k];
    }
    const uint64_t bytes = uint64_t(channels) * pixels * map.element_bytes();
    return row_fits(map) ? hand_over(map, bytes, out) : cudaErrorInvalidValue;
  });
}

// It came with sm_100.
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                     const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t,
                                     cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                     CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return tensor_call([] { return cudaErrorNotSupported; });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return tensor_call([&] {
    if (!map) return cudaErrorInvalidValue;
    TensorMapBytes bytes;
    std::memcpy(&bytes, map, sizeof bytes);
    if (!is_aligned_address(address, ridge::vm::decode(bytes).interleave))
      return cudaErrorInvalidValue;
    replace(bytes, ridge::vm::TensorMapField::global_address, 0,
            reinterpret_cast<uintptr_t>(address));
    std::memcpy(map, &bytes, sizeof bytes);
    return cudaSuccess;
  });
}

}  // extern "C"
