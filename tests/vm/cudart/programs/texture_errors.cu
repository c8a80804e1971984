// What arrays, their copies, textures and surfaces refuse, and with which error: each line is what
// the CUDA runtime 13 answers on an H200.
#include "check.h"

namespace {

const cudaError_t ok = cudaSuccess, value = cudaErrorInvalidValue,
                  handle = cudaErrorInvalidResourceHandle,
                  channel = cudaErrorInvalidChannelDescriptor,
                  direction = cudaErrorInvalidMemcpyDirection;
const cudaChannelFormatDesc kFloat = cudaCreateChannelDesc<float>(),
                            kInt = cudaCreateChannelDesc<int>(),
                            kThree{8, 8, 8, 0, cudaChannelFormatKindUnsigned};

cudaTextureDesc sampler(cudaTextureReadMode read = cudaReadModeElementType,
                        cudaTextureFilterMode filter = cudaFilterModePoint) {
  cudaTextureDesc s{};
  for (auto& mode : s.addressMode) mode = cudaAddressModeClamp;
  s.readMode = read;
  s.filterMode = filter;
  return s;
}
const cudaTextureDesc kPlain = sampler(), kFractions = sampler(cudaReadModeNormalizedFloat),
                      kLinear = sampler(cudaReadModeElementType, cudaFilterModeLinear);

cudaError_t texture(const cudaResourceDesc& resource, const cudaTextureDesc& s = kPlain,
                    const cudaResourceViewDesc* view = nullptr) {
  cudaTextureObject_t t;
  return cudaCreateTextureObject(&t, &resource, &s, view);
}
cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}
cudaResourceDesc of_memory(void* start, const cudaChannelFormatDesc& desc, size_t bytes) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {start, desc, bytes};
  return r;
}
cudaResourceDesc of_rows(void* start, size_t width, size_t height, size_t pitch) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D = {start, kFloat, width, height, pitch};
  return r;
}

void making_arrays() {
  cudaArray_t a = nullptr;
  const auto with = [&](cudaChannelFormatDesc desc) { return cudaMallocArray(&a, &desc, 8, 8); };
  const cudaChannelFormatKind u = cudaChannelFormatKindUnsigned;
  RIDGE_CUDA(with(kThree), channel);
  RIDGE_CUDA(with({8, 16, 0, 0, u}), channel);
  RIDGE_CUDA(with({0, 0, 0, 0, u}), channel);
  RIDGE_CUDA(with({8, 0, 0, 0, cudaChannelFormatKindFloat}), channel);
  RIDGE_CUDA(with({64, 0, 0, 0, cudaChannelFormatKindSigned}), channel);
  RIDGE_CUDA(with({32, 0, 0, 0, cudaChannelFormatKind(77)}), channel);
  RIDGE_CUDA(with({32, 0, 0, 0, cudaChannelFormatKindNone}), channel);
  RIDGE_CUDA(cudaMallocArray(&a, nullptr, 8, 8), value);
  RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 0, 8), value);
  RIDGE_CUDA(cudaMallocArray(nullptr, &kFloat, 8, 8), value);
  RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 1 << 20, 8), value);
  for (unsigned flags : {0x1000u, unsigned(cudaArrayLayered), unsigned(cudaArrayCubemap), 0x20u})
    RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 8, 8, flags), value);

  const auto box = [&](size_t x, size_t y, size_t z, unsigned flags) {
    return cudaMalloc3DArray(&a, &kFloat, make_cudaExtent(x, y, z), flags);
  };
  RIDGE_CUDA(box(8, 8, 5, cudaArrayCubemap), value);
  RIDGE_CUDA(box(8, 4, 6, cudaArrayCubemap), value);
  RIDGE_CUDA(box(8, 4, 0, cudaArrayLayered), value);
  RIDGE_CUDA(box(8, 0, 4, 0), value);
  RIDGE_CUDA(box(8, 4, 4, cudaArrayTextureGather), value);
  RIDGE_CUDA(box(8, 0, 0, cudaArrayTextureGather), value);
  RIDGE_CUDA(box(8, 8, 2, cudaArrayTextureGather | cudaArrayLayered), value);
  RIDGE_CUDA(box(8, 8, 6, cudaArrayTextureGather | cudaArrayCubemap), value);

  cudaMipmappedArray_t m = nullptr;
  for (unsigned levels : {0u, 99u, 4u})
    RIDGE_CUDA(cudaMallocMipmappedArray(&m, &kFloat, make_cudaExtent(8, 8, 0), levels), ok);
  RIDGE_CUDA(cudaGetMipmappedArrayLevel(&a, m, 4), value);
  RIDGE_CUDA(cudaGetMipmappedArrayLevel(nullptr, m, 0), value);
  RIDGE_CUDA(cudaGetMipmappedArrayLevel(&a, m, 3), ok);
  RIDGE_CUDA(cudaFreeArray(a), ok);
  RIDGE_CUDA(cudaFreeArray(nullptr), ok);
  RIDGE_CUDA(cudaFreeMipmappedArray(nullptr), ok);
  cudaArrayMemoryRequirements needs;
  RIDGE_CUDA(cudaMipmappedArrayGetMemoryRequirements(&needs, m, 0), value);

  RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 8, 4), ok);
  cudaArraySparseProperties sparse;
  cudaArray_t plane;
  cudaChannelFormatDesc desc;
  cudaExtent extent;
  unsigned flags;
  RIDGE_CUDA(cudaArrayGetMemoryRequirements(&needs, a, 0), value);
  RIDGE_CUDA(cudaArrayGetSparseProperties(&sparse, a), value);
  RIDGE_CUDA(cudaArrayGetPlane(&plane, a, 0), value);
  RIDGE_CUDA(cudaArrayGetInfo(&desc, &extent, &flags, a), ok);
  RIDGE_CUDA(cudaArrayGetInfo(&desc, &extent, &flags, nullptr), handle);
  RIDGE_CUDA(cudaGetChannelDesc(nullptr, a), value);
  RIDGE_CUDA(cudaGetChannelDesc(&desc, nullptr), handle);

  size_t width = 0;
  const auto widest = [&](const cudaChannelFormatDesc& d) {
    return cudaDeviceGetTexture1DLinearMaxWidth(&width, &d, 0);
  };
  for (const auto& d :
       {kFloat, kInt, cudaCreateChannelDesc<char>(), cudaCreateChannelDesc<uchar4>()}) {
    RIDGE_CUDA(widest(d), ok);
    RIDGE_CHECK(width == 1u << 30);
  }
  RIDGE_CUDA(widest(cudaCreateChannelDesc<float4>()), ok);
  RIDGE_CHECK(width == 1u << 28);
  RIDGE_CUDA(widest(kThree), channel);
  RIDGE_CUDA(cudaDeviceGetTexture1DLinearMaxWidth(&width, &kFloat, 9), cudaErrorInvalidDevice);
  RIDGE_CUDA(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &kFloat, 0), value);
}

void copies(cudaArray_t a, cudaArray_t b, void* device) {
  float host[64] = {};
  const auto rows = [&](size_t x, size_t y, const void* from, size_t pitch, size_t width,
                        cudaMemcpyKind kind) {
    return cudaMemcpy2DToArray(a, x, y, from, pitch, width, 4, kind);
  };
  const cudaMemcpyKind in = cudaMemcpyHostToDevice;
  RIDGE_CUDA(rows(0, 0, host, 32, 32, in), ok);
  RIDGE_CUDA(rows(4, 0, host, 32, 32, in), value);
  RIDGE_CUDA(rows(0, 1, host, 32, 32, in), value);
  RIDGE_CUDA(rows(0, 0, host, 16, 32, in), cudaErrorInvalidPitchValue);
  RIDGE_CUDA(rows(0, 0, host, 32, 32, cudaMemcpyDeviceToHost), direction);
  RIDGE_CUDA(rows(0, 0, host, 32, 32, cudaMemcpyHostToHost), direction);
  RIDGE_CUDA(rows(0, 0, host, 32, 32, cudaMemcpyKind(99)), direction);
  RIDGE_CUDA(rows(0, 0, host, 32, 32, cudaMemcpyDeviceToDevice), value);
  RIDGE_CUDA(rows(0, 0, device, 32, 32, in), ok);
  RIDGE_CUDA(rows(0, 0, host, 32, 0, in), ok);
  RIDGE_CUDA(rows(2, 0, host, 32, 6, in), ok);
  RIDGE_CUDA(rows(0, 0, nullptr, 32, 32, in), value);
  RIDGE_CUDA(cudaMemcpy2DToArray(nullptr, 0, 0, host, 32, 32, 4, in), handle);
  RIDGE_CUDA(cudaMemcpy2DFromArray(host, 32, a, 0, 0, 32, 4, in), direction);
  RIDGE_CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, in), direction);
  RIDGE_CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, cudaMemcpyDeviceToDevice), ok);

  cudaMemcpy3DParms p{};
  p.dstArray = a;
  p.extent = make_cudaExtent(8, 4, 1);
  p.kind = in;
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  p.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
  RIDGE_CUDA(cudaMemcpy3D(&p), ok);
  p.extent.depth = 0;
  RIDGE_CUDA(cudaMemcpy3D(&p), ok);
  p.extent.depth = 2;
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  p.extent = make_cudaExtent(9, 4, 1);
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  p.extent = make_cudaExtent(8, 4, 1);
  p.srcPtr.pitch = 16;
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  p.srcPtr.pitch = 32;
  p.dstPtr = make_cudaPitchedPtr(device, 32, 8, 4);
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  p.dstPtr = {};
  p.kind = cudaMemcpyDeviceToHost;
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
  const auto bytes = cudaCreateChannelDesc<char>();
  cudaArray_t thin;
  RIDGE_CUDA(cudaMallocArray(&thin, &bytes, 8, 4), ok);
  p.srcPtr = {};
  p.srcArray = thin;
  p.kind = cudaMemcpyDeviceToDevice;
  RIDGE_CUDA(cudaMemcpy3D(&p), value);
}

void textures(cudaArray_t a, cudaArray_t ints, float* device) {
  RIDGE_CUDA(texture(of_array(ints), kLinear), cudaErrorInvalidFilterSetting);
  RIDGE_CUDA(texture(of_array(ints), kFractions), cudaErrorInvalidNormSetting);
  RIDGE_CUDA(texture(of_array(nullptr)), handle);
  cudaResourceDesc r = of_array(a);
  RIDGE_CUDA(texture(r), ok);
  r.flags = 1;
  RIDGE_CUDA(texture(r), ok);
  r.flags = 0;
  cudaTextureDesc s = kPlain;
  for (auto& mode : s.addressMode) mode = cudaTextureAddressMode(9);
  RIDGE_CUDA(texture(r, s), value);
  RIDGE_CUDA(texture(r, sampler(cudaReadModeElementType, cudaTextureFilterMode(5))), value);
  RIDGE_CUDA(texture(r, sampler(cudaTextureReadMode(5))), ok);
  s = kPlain;
  s.maxAnisotropy = 99;
  s.sRGB = 1;
  RIDGE_CUDA(texture(r, s), ok);
  r.resType = cudaResourceType(9);
  RIDGE_CUDA(texture(r), value);
  r.resType = cudaResourceTypeArray;
  cudaTextureObject_t t;
  RIDGE_CUDA(cudaCreateTextureObject(nullptr, &r, nullptr, nullptr), handle);
  RIDGE_CUDA(cudaCreateTextureObject(&t, &r, nullptr, nullptr), handle);

  // Formats that are fractions already are read as such, and must be; only 10 10 10 2 need not.
  const auto kinds = {cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized8X4>(),
                      cudaCreateChannelDesc<cudaChannelFormatKindSignedNormalized8X2>()};
  cudaArray_t fractions;
  for (const auto& desc : kinds) {
    RIDGE_CUDA(cudaMallocArray(&fractions, &desc, 8, 4), ok);
    RIDGE_CUDA(texture(of_array(fractions)), cudaErrorInvalidNormSetting);
  }
  const auto tens = cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized1010102>();
  RIDGE_CUDA(cudaMallocArray(&fractions, &tens, 8, 4), ok);
  RIDGE_CUDA(texture(of_array(fractions), kLinear), ok);

  RIDGE_CUDA(texture(of_memory(device, kFloat, 4096)), ok);
  RIDGE_CUDA(texture(of_memory(device, kFloat, 4096), kLinear), ok);
  RIDGE_CUDA(texture(of_memory(device + 1, kFloat, 64)), value);
  RIDGE_CUDA(texture(of_memory(device + 8, kFloat, 64)), value);
  RIDGE_CUDA(texture(of_memory(device, kFloat, 0)), ok);
  RIDGE_CUDA(texture(of_memory(device, kFloat, 1ull << 34)), value);
  RIDGE_CUDA(texture(of_memory(device, kFloat, 1 << 24)), ok);  // more than was allocated
  RIDGE_CUDA(texture(of_memory(device, kThree, 64)), channel);
  RIDGE_CUDA(texture(of_memory(device, kInt, 64), kLinear), cudaErrorInvalidFilterSetting);
  RIDGE_CUDA(texture(of_memory(device, kInt, 64), kFractions), cudaErrorInvalidNormSetting);
  RIDGE_CUDA(texture(of_memory(nullptr, kFloat, 64)), value);
  float host[64];
  RIDGE_CUDA(texture(of_memory(host, kFloat, 64)), value);

  RIDGE_CUDA(texture(of_rows(device, 8, 4, 64)), ok);
  for (size_t pitch : {33, 16, 48}) RIDGE_CUDA(texture(of_rows(device, 8, 4, pitch)), value);
  RIDGE_CUDA(texture(of_rows(device + 8, 8, 4, 64)), value);
  RIDGE_CUDA(texture(of_rows(device, 0, 4, 64)), ok);
  RIDGE_CUDA(texture(of_rows(device, 8, 0, 64)), ok);

  cudaResourceViewDesc v{};
  v.width = 8;
  v.height = 4;
  RIDGE_CUDA(texture(r, kPlain, &v), value);  // no format
  v.format = cudaResViewFormatSignedInt1;
  RIDGE_CUDA(texture(r, kPlain, &v), ok);
  v.format = cudaResViewFormatUnsignedChar4;
  RIDGE_CUDA(texture(r, kPlain, &v), ok);
  for (int format : {int(cudaResViewFormatFloat2), 99}) {
    v.format = cudaResourceViewFormat(format);
    RIDGE_CUDA(texture(r, kPlain, &v), value);
  }
  v.format = cudaResViewFormatFloat1;
  v.width = 4;
  RIDGE_CUDA(texture(r, kPlain, &v), value);
  v.width = 8;
  v.lastMipmapLevel = 1;
  RIDGE_CUDA(texture(r, kPlain, &v), value);
  v.lastMipmapLevel = 0;
  v.lastLayer = 1;
  RIDGE_CUDA(texture(r, kPlain, &v), value);
  v.lastLayer = 0;
  RIDGE_CUDA(texture(of_memory(device, kFloat, 64), kPlain, &v), ok);
  RIDGE_CUDA(texture(of_rows(device, 8, 4, 64), kPlain, &v), ok);

  RIDGE_CUDA(cudaCreateTextureObject(&t, &r, &kPlain, nullptr), ok);
  cudaResourceDesc resource;
  cudaTextureDesc told;
  RIDGE_CUDA(cudaGetTextureObjectResourceViewDesc(&v, t), ok);
  RIDGE_CUDA(cudaGetTextureObjectResourceDesc(&resource, t), ok);
  RIDGE_CUDA(cudaGetTextureObjectTextureDesc(&told, t), ok);
  RIDGE_CUDA(cudaGetTextureObjectResourceDesc(nullptr, t), value);
  RIDGE_CUDA(cudaGetTextureObjectResourceDesc(&resource, 999999), value);
  RIDGE_CUDA(cudaDestroyTextureObject(t), ok);
  RIDGE_CUDA(cudaGetTextureObjectResourceDesc(&resource, t), value);
  for (cudaTextureObject_t none : {t, 0ull, 999999ull})
    RIDGE_CUDA(cudaDestroyTextureObject(none), ok);

  cudaSurfaceObject_t surface;
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &r), ok);  // without cudaArraySurfaceLoadStore
  r = of_memory(device, kFloat, 64);
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &r), value);
  r = of_array(nullptr);
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &r), handle);
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, nullptr), value);
  r = of_array(ints);
  RIDGE_CUDA(cudaCreateSurfaceObject(nullptr, &r), value);
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &r), ok);
  RIDGE_CUDA(cudaGetSurfaceObjectResourceDesc(&resource, 999999), value);
  for (cudaSurfaceObject_t none : {0ull, 999999ull}) RIDGE_CUDA(cudaDestroySurfaceObject(none), ok);
}

void capturing() {
  cudaStream_t stream;
  cudaArray_t a;
  cudaGraph_t graph;
  RIDGE_CUDA(cudaStreamCreate(&stream), ok);
  RIDGE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), ok);
  RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 8, 8), cudaErrorStreamCaptureUnsupported);
  RIDGE_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

}  // namespace

int main() {
  cudaArray_t a, ints;
  float* device;
  making_arrays();
  RIDGE_CUDA(cudaMallocArray(&a, &kFloat, 8, 4), ok);
  RIDGE_CUDA(cudaMallocArray(&ints, &kInt, 8, 4, cudaArraySurfaceLoadStore), ok);
  RIDGE_CUDA(cudaMalloc(&device, 4096), ok);
  copies(a, ints, device);
  textures(a, ints, device);
  capturing();
  return failures != 0;
}
