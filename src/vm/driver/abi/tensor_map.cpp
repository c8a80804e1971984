// Tensor maps: refused where an H200's driver refuses them (docs/hopper_facts.md, section 4), and
// encoded by vm/mem/tensor_map.h.
#include "vm/mem/tensor_map.h"

#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "vm/cudart/config.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::TensorMap;
using ridge::vm::TensorMapBytes;
using ridge::vm::cudart::fail;
using ridge::vm::cudart::Failure;

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

std::string element(const char* name, cuuint32_t k) {
  return std::string(name) + "[" + std::to_string(k) + "]";
}
Failure because(std::string why, std::string fix = {}) {
  return {{}, std::move(why), std::move(fix)};
}
// "boxDim[0] is 300; it is 1 to 256"
template <class Number>
Failure not_within(const std::string& name, Number number, uint64_t least, uint64_t most) {
  return because(name + " is " + std::to_string(number) + "; it is " + std::to_string(least) +
                 " to " + std::to_string(most));
}
Failure is_null(const char* name) { return because(std::string(name) + " is null"); }

cudaError_t refuse(const Failure& failure) { return fail(cudaErrorInvalidValue, failure); }

// Why there is no such map; empty where there is one.
using Refusal = std::optional<Failure>;

// Types of 4 and 6 bits and swizzles of larger atoms belong to newer chips.
Refusal check_enumerators(const Tensor& t) {
  const std::tuple<const char*, int, int> all[] = {
      {"tensorDataType", t.type, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ},
      {"interleave", t.interleave, CU_TENSOR_MAP_INTERLEAVE_32B},
      {"swizzle", t.swizzle, CU_TENSOR_MAP_SWIZZLE_128B},
      {"l2Promotion", t.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
      {"oobFill", t.oob_fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA}};
  for (const auto& [name, value, last] : all)
    if (value < 0 || value > last) {
      Failure failure = not_within(name, value, 0, uint64_t(last));
      failure.why += " on this GPU";
      return failure;
    }
  if (t.oob_fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && t.type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
    return because("oobFill asks for NaN, and the elements are integers",
                   "use CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, which fills with zeros");
  return {};
}

uint64_t unit_of(uint32_t interleave) {
  return interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
}

Refusal check_address(const void* address, uint32_t interleave) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  const uint64_t unit = unit_of(interleave);
  if (bits >> 57) return because("globalAddress is above 2^57", "give an address of the device");
  if (bits % unit == 0) return {};
  return because("globalAddress is no multiple of " + std::to_string(unit) + " bytes",
                 "let the tensor begin where cudaMalloc's memory does, or at a multiple of " +
                     std::to_string(unit) + " bytes from there");
}

Refusal check_dimensions(const Tensor& t) {
  constexpr uint64_t kMostElements = uint64_t(1) << 32, kMostStep = 8;
  const uint64_t unit = unit_of(t.interleave);
  for (cuuint32_t k = 0; k < t.rank; ++k) {
    if (!t.sizes[k] || t.sizes[k] > kMostElements)
      return not_within(element("globalDim", k), t.sizes[k], 1, kMostElements);
    if (!t.element_strides[k] || t.element_strides[k] > kMostStep)
      return not_within(element("elementStrides", k), t.element_strides[k], 1, kMostStep);
    if (!k) continue;
    const uint64_t stride = t.strides[k - 1];
    const std::string is = element("globalStrides", k - 1) + " is " + std::to_string(stride);
    if (stride % unit)
      return because(is + " bytes, no multiple of " + std::to_string(unit),
                     "pad the tensor so that each row begins at a multiple of " +
                         std::to_string(unit) + " bytes");
    if (stride >> 40) return because(is + " bytes; it is less than 2^40");
  }
  return {};
}

Refusal check(const Tensor& t, const CUtensorMap* out, cuuint32_t least_rank) {
  const std::pair<const char*, const void*> pointers[] = {{"tensorMap", out},
                                                          {"globalDim", t.sizes},
                                                          {"globalStrides", t.strides},
                                                          {"elementStrides", t.element_strides}};
  for (const auto& [name, pointer] : pointers)
    if (!pointer) return is_null(name);
  if (Refusal wrong = check_enumerators(t)) return wrong;
  if (t.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) least_rank = 3;
  if (t.rank < least_rank || t.rank > TensorMap::kMaxRank)
    return not_within("tensorRank", t.rank, least_rank, TensorMap::kMaxRank);
  if (Refusal wrong = check_address(t.address, uint32_t(t.interleave))) return wrong;
  return check_dimensions(t);
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

// The innermost row of a box, or a pixel's channels: `name` says which argument.
Refusal check_row(const TensorMap& map, const std::string& name) {
  constexpr uint32_t kMost = 256;
  if (!map.box[0] || map.box[0] > kMost) return not_within(name, map.box[0], 1, kMost);
  if (map.interleave) return {};
  const uint32_t bytes = map.box[0] * map.element_bytes();
  const std::string is = name + " is " + std::to_string(map.box[0]) + " elements of " +
                         std::to_string(map.element_bytes()) + " bytes, together ";
  if (bytes % 16)
    return because(is + "no multiple of 16 bytes",
                   "copy whole pieces of 16 bytes; what lies outside of the tensor is filled");
  if (!map.swizzle || bytes <= map.swizzle_span()) return {};
  const std::string span = std::to_string(map.swizzle_span());
  return because(is + std::to_string(bytes) + " bytes, and the swizzle's span is " + span,
                 "make the box narrower (" +
                     std::to_string(map.swizzle_span() / map.element_bytes()) +
                     " elements), or do not swizzle");
}

cudaError_t hand_over(const TensorMap& map, uint64_t copied_bytes, CUtensorMap* out) {
  if (copied_bytes > kMostCopied)
    return refuse(because("the box has " + std::to_string(copied_bytes) + " bytes, at most " +
                              std::to_string(kMostCopied),
                          "copy several smaller boxes"));
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
    if (Refusal wrong = check(t, out, 1)) return refuse(*wrong);
    if (!box) return refuse(is_null("boxDim"));
    TensorMap map = map_of(t);
    uint64_t bytes = map.element_bytes();
    for (cuuint32_t k = 0; k < rank; ++k) {
      if (!box[k] || box[k] > 256) return refuse(not_within(element("boxDim", k), box[k], 1, 256));
      map.box[k] = box[k];
      bytes *= box[k];
    }
    if (Refusal wrong = check_row(map, "boxDim[0]")) return refuse(*wrong);
    return hand_over(map, bytes, out);
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
      if (Refusal wrong = check(t, out, 3)) return refuse(*wrong);
      if (!lower) return refuse(is_null("pixelBoxLowerCorner"));
      if (!upper) return refuse(is_null("pixelBoxUpperCorner"));
      if (!pixels || pixels > 1024) return refuse(not_within("pixelsPerColumn", pixels, 1, 1024));
      TensorMap map = map_of(t);
      map.im2col = true;
      map.box[0] = channels;
      map.pixels = pixels;
      const int limit = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
      for (cuuint32_t k = 0; k + 2 < rank; ++k) {
        for (const auto& [name, corner] : {std::pair("pixelBoxLowerCorner", lower[k]),
                                           std::pair("pixelBoxUpperCorner", upper[k])})
          if (corner < -limit || corner >= limit)
            return refuse(because(element(name, k) + " is " + std::to_string(corner) + "; it is " +
                                  std::to_string(-limit) + " to " + std::to_string(limit - 1) +
                                  " for this rank"));
        const uint64_t size = sizes[k + 1];
        if (size >= 0xffffffff)
          return refuse(not_within(element("globalDim", k + 1), size, 1, 0xfffffffe));
        if (int64_t(size) - 1 + upper[k] < lower[k])
          return refuse(
              because("the bounding box is empty in dimension " + std::to_string(k + 1),
                      "it reaches from the lower corner to the tensor's last pixel plus the "
                      "upper corner"));
        map.lower[k] = lower[k];
        map.upper[k] = upper[k];
      }
      const uint64_t bytes = uint64_t(channels) * pixels * map.element_bytes();
      if (Refusal wrong = check_row(map, "channelsPerPixel")) return refuse(*wrong);
      return hand_over(map, bytes, out);
  });
}

// It came with sm_100.
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                     const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t,
                                     cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                     CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return tensor_call([] {
        return cudaErrorNotSupported; });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return tensor_call([&] {
          if (!map) return refuse(is_null("tensorMap"));
          TensorMapBytes bytes;
          std::memcpy(&bytes, map, sizeof bytes);
          if (Refusal wrong = check_address(address, ridge::vm::decode(bytes).interleave))
            return refuse(*wrong);
          replace(bytes, ridge::vm::TensorMapField::global_address, 0,
                  reinterpret_cast<uintptr_t>(address));
          std::memcpy(map, &bytes, sizeof bytes);
          return cudaSuccess;
  });
}

}  // extern "C"
