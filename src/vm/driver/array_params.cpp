#include "vm/driver/array_params.h"

#include <algorithm>
#include <iterator>

#include "vm/cudart/arrays.h"

namespace ridge::vm::driver {
namespace {

struct Plain {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr Plain kPlain[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

// Formats that say their channels themselves.
struct Whole {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
  unsigned channels;
};
constexpr Whole kWhole[] = {
    {CU_AD_FORMAT_UNORM_INT8X1, cudaChannelFormatKindUnsignedNormalized8X1, 8, 1},
    {CU_AD_FORMAT_UNORM_INT8X2, cudaChannelFormatKindUnsignedNormalized8X2, 8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, cudaChannelFormatKindUnsignedNormalized8X4, 8, 4},
    {CU_AD_FORMAT_UNORM_INT16X1, cudaChannelFormatKindUnsignedNormalized16X1, 16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, cudaChannelFormatKindUnsignedNormalized16X2, 16, 2},
    {CU_AD_FORMAT_UNORM_INT16X4, cudaChannelFormatKindUnsignedNormalized16X4, 16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, cudaChannelFormatKindSignedNormalized8X1, 8, 1},
    {CU_AD_FORMAT_SNORM_INT8X2, cudaChannelFormatKindSignedNormalized8X2, 8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, cudaChannelFormatKindSignedNormalized8X4, 8, 4},
    {CU_AD_FORMAT_SNORM_INT16X1, cudaChannelFormatKindSignedNormalized16X1, 16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, cudaChannelFormatKindSignedNormalized16X2, 16, 2},
    {CU_AD_FORMAT_SNORM_INT16X4, cudaChannelFormatKindSignedNormalized16X4, 16, 4},
    {CU_AD_FORMAT_UNORM_INT_101010_2, cudaChannelFormatKindUnsignedNormalized1010102, 10, 4},
};

cudaChannelFormatDesc repeated(cudaChannelFormatKind kind, int bits, unsigned channels) {
  const auto width = [&](unsigned c) { return c < channels ? bits : 0; };
  return {width(0), width(1), width(2), width(3), kind};
}

bool is_small_integer(const cudaChannelFormatDesc& d) {
  return d.x <= 16 && (d.f == cudaChannelFormatKindSigned || d.f == cudaChannelFormatKindUnsigned);
}
bool is_integer(const cudaChannelFormatDesc& d) {
  return d.f == cudaChannelFormatKindSigned || d.f == cudaChannelFormatKindUnsigned;
}

cudaError_t channels_in(const cudaResourceDesc& r, cudaChannelFormatDesc* desc) {
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const cudart::ArrayRef array = cudart::find_array(r.res.array.array);
      if (!array) return kInvalidHandle;
      *desc = array->desc;
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      const cudart::MipmappedRef array = cudart::find_mipmapped(r.res.mipmap.mipmap);
      if (!array) return kInvalidHandle;
      *desc = array->desc;
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: *desc = r.res.linear.desc; return cudaSuccess;
    case cudaResourceTypePitch2D: *desc = r.res.pitch2D.desc; return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc* desc) {
  if (const auto* plain = std::ranges::find(kPlain, format, &Plain::format);
      plain != std::end(kPlain)) {
    if (channels != 1 && channels != 2 && channels != 4) return cudaErrorInvalidValue;
    *desc = repeated(plain->kind, plain->bits, channels);
    return cudaSuccess;
  }
  if (const auto* whole = std::ranges::find(kWhole, format, &Whole::format);
      whole != std::end(kWhole)) {
    if (channels != whole->channels) return cudaErrorInvalidValue;
    *desc = repeated(whole->kind, whole->bits, channels);
    return cudaSuccess;
  }
  if (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_BC7_UNORM_SRGB)
    return refuse_call("a block-compressed array format", "compressed textures");
  if (format >= CU_AD_FORMAT_P010 && format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar)
    return refuse_call("a video array format", "planar video formats");
  return cudaErrorInvalidValue;
}

cudaError_t format_of(const cudaChannelFormatDesc& desc, CUarray_format* format,
                      unsigned* channels) {
  const int widths[] = {desc.x, desc.y, desc.z, desc.w};
  *channels = unsigned(std::ranges::count_if(widths, [](int w) { return w != 0; }));
  for (const Plain& plain : kPlain)
    if (plain.kind == desc.f && plain.bits == desc.x) {
      *format = plain.format;
      return cudaSuccess;
    }
  for (const Whole& whole : kWhole)
    if (whole.kind == desc.f) {
      *format = whole.format;
      *channels = whole.channels;
      return cudaSuccess;
    }
  return cudaErrorInvalidValue;
}

cudaError_t shape_of(const CUDA_ARRAY3D_DESCRIPTOR& d, ArrayShape* shape) {
  static_assert(CUDA_ARRAY3D_LAYERED == cudaArrayLayered);
  static_assert(CUDA_ARRAY3D_SURFACE_LDST == cudaArraySurfaceLoadStore);
  static_assert(CUDA_ARRAY3D_CUBEMAP == cudaArrayCubemap);
  static_assert(CUDA_ARRAY3D_TEXTURE_GATHER == cudaArrayTextureGather);
  static_assert(CUDA_ARRAY3D_SPARSE == cudaArraySparse);
  static_assert(CUDA_ARRAY3D_DEFERRED_MAPPING == cudaArrayDeferredMapping);
  shape->extent = {d.Width, d.Height, d.Depth};
  shape->flags = d.Flags;
  return channels_of(d.Format, d.NumChannels, &shape->desc);
}

cudaError_t description_of(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR* d) {
  const cudart::ArrayRef array = cudart::find_array(reinterpret_cast<cudaArray_t>(handle));
  if (!array) return kInvalidHandle;
  if (!d) return cudaErrorInvalidValue;
  d->Width = array->extent.width;
  d->Height = array->extent.height;
  d->Depth = array->extent.depth;
  d->Flags = array->flags;
  return format_of(array->desc, &d->Format, &d->NumChannels);
}

cudaError_t resource_of(const CUDA_RESOURCE_DESC* resource, cudaResourceDesc* same) {
  if (!resource) return cudaErrorInvalidValue;
  const auto& r = resource->res;
  *same = {};
  same->flags = resource->flags;
  switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      same->resType = cudaResourceTypeArray;
      same->res.array.array = reinterpret_cast<cudaArray_t>(r.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      same->resType = cudaResourceTypeMipmappedArray;
      same->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(r.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
      same->resType = cudaResourceTypeLinear;
      same->res.linear.devPtr = reinterpret_cast<void*>(r.linear.devPtr);
      same->res.linear.sizeInBytes = r.linear.sizeInBytes;
      return channels_of(r.linear.format, r.linear.numChannels, &same->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      same->resType = cudaResourceTypePitch2D;
      same->res.pitch2D.devPtr = reinterpret_cast<void*>(r.pitch2D.devPtr);
      same->res.pitch2D.width = r.pitch2D.width;
      same->res.pitch2D.height = r.pitch2D.height;
      same->res.pitch2D.pitchInBytes = r.pitch2D.pitchInBytes;
      return channels_of(r.pitch2D.format, r.pitch2D.numChannels, &same->res.pitch2D.desc);
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t resource_of(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC* same) {
  const auto& r = resource.res;
  *same = {};
  same->flags = resource.flags;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      same->resType = CU_RESOURCE_TYPE_ARRAY;
      same->res.array.hArray = reinterpret_cast<CUarray>(r.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      same->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      same->res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(r.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear:
      same->resType = CU_RESOURCE_TYPE_LINEAR;
      same->res.linear.devPtr = reinterpret_cast<CUdeviceptr>(r.linear.devPtr);
      same->res.linear.sizeInBytes = r.linear.sizeInBytes;
      return format_of(r.linear.desc, &same->res.linear.format, &same->res.linear.numChannels);
    case cudaResourceTypePitch2D:
      same->resType = CU_RESOURCE_TYPE_PITCH2D;
      same->res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(r.pitch2D.devPtr);
      same->res.pitch2D.width = r.pitch2D.width;
      same->res.pitch2D.height = r.pitch2D.height;
      same->res.pitch2D.pitchInBytes = r.pitch2D.pitchInBytes;
      return format_of(r.pitch2D.desc, &same->res.pitch2D.format, &same->res.pitch2D.numChannels);
  }
  return cudaErrorInvalidValue;
}

cudaError_t sampler_of(const CUDA_TEXTURE_DESC& s, const cudaResourceDesc& resource,
                       cudaTextureDesc* same) {
  constexpr unsigned kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                              CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                              CU_TRSF_SEAMLESS_CUBEMAP;
  cudaChannelFormatDesc channels{};
  if (s.flags & ~kKnown) return cudaErrorInvalidValue;
  if (const cudaError_t error = channels_in(resource, &channels)) return error;
  const bool fractions = is_small_integer(channels) && !(s.flags & CU_TRSF_READ_AS_INTEGER);
  *same = {};
  for (int a = 0; a < 3; ++a) same->addressMode[a] = cudaTextureAddressMode(s.addressMode[a]);
  same->filterMode = cudaTextureFilterMode(s.filterMode);
  same->readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  same->sRGB = (s.flags & CU_TRSF_SRGB) != 0;
  std::copy(std::begin(s.borderColor), std::end(s.borderColor), same->borderColor);
  same->normalizedCoords = (s.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  same->maxAnisotropy = s.maxAnisotropy;
  same->mipmapFilterMode = cudaTextureFilterMode(s.mipmapFilterMode);
  same->mipmapLevelBias = s.mipmapLevelBias;
  same->minMipmapLevelClamp = s.minMipmapLevelClamp;
  same->maxMipmapLevelClamp = s.maxMipmapLevelClamp;
  same->disableTrilinearOptimization = (s.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  same->seamlessCubemap = (s.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  return cudaSuccess;
}

cudaError_t sampler_of(const cudaTextureDesc& s, const cudaResourceDesc& resource,
                       CUDA_TEXTURE_DESC* same) {
  cudaChannelFormatDesc channels{};
  if (const cudaError_t error = channels_in(resource, &channels)) return error;
  const bool integers = is_integer(channels) && s.readMode == cudaReadModeElementType;
  *same = {};
  for (int a = 0; a < 3; ++a) same->addressMode[a] = CUaddress_mode(s.addressMode[a]);
  same->filterMode = CUfilter_mode(s.filterMode);
  same->flags = (integers ? CU_TRSF_READ_AS_INTEGER : 0) |
                (s.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                (s.sRGB ? CU_TRSF_SRGB : 0) |
                (s.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                (s.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
  same->maxAnisotropy = s.maxAnisotropy;
  same->mipmapFilterMode = CUfilter_mode(s.mipmapFilterMode);
  same->mipmapLevelBias = s.mipmapLevelBias;
  same->minMipmapLevelClamp = s.minMipmapLevelClamp;
  same->maxMipmapLevelClamp = s.maxMipmapLevelClamp;
  std::copy(std::begin(s.borderColor), std::end(s.borderColor), same->borderColor);
  return cudaSuccess;
}

cudaResourceViewDesc view_of(const CUDA_RESOURCE_VIEW_DESC& v) {
  return {cudaResourceViewFormat(v.format),
          v.width,
          v.height,
          v.depth,
          v.firstMipmapLevel,
          v.lastMipmapLevel,
          v.firstLayer,
          v.lastLayer,
          {}};
}

CUDA_RESOURCE_VIEW_DESC view_of(const cudaResourceViewDesc& v) {
  return {CUresourceViewFormat(v.format),
          v.width,
          v.height,
          v.depth,
          v.firstMipmapLevel,
          v.lastMipmapLevel,
          v.firstLayer,
          v.lastLayer,
          {}};
}

}  // namespace ridge::vm::driver
