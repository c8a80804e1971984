// Textures of every resource and geometry, read back. Weights are multiples of 1/256, so that every
// GPU gives the same numbers.
#include <cmath>
#include <vector>

#include "check.h"

namespace {

struct Sampler : cudaTextureDesc {
  Sampler() : cudaTextureDesc{} {
    for (auto& mode : addressMode) mode = cudaAddressModeClamp;
    filterMode = mipmapFilterMode = cudaFilterModePoint;
    maxMipmapLevelClamp = 100;
  }
  Sampler& linear() { return filterMode = cudaFilterModeLinear, *this; }
  Sampler& normalized() { return normalizedCoords = 1, *this; }
  Sampler& fractions() { return readMode = cudaReadModeNormalizedFloat, *this; }
  Sampler& address(cudaTextureAddressMode mode) {
    for (auto& one : addressMode) one = mode;
    return *this;
  }
};

cudaTextureObject_t texture_of(cudaArray_t array, const Sampler& sampler) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  RIDGE_CUDA(cudaCreateTextureObject(&texture, &resource, &sampler, nullptr), cudaSuccess);
  return texture;
}

// What `read(texture, x, y, z)` gives for one coordinate.
enum Read {
  kOne,
  kTwo,
  kThree,
  kLayer1,
  kLayer2,
  kCube,
  kCubeLayer,
  kLevel,
  kGradient,
  kGather,
  kFetch
};
__global__ void look(cudaTextureObject_t t, Read how, float x, float y, float z, float w,
                     float4* out) {
  switch (how) {
    case kOne: out->x = tex1D<float>(t, x); break;
    case kTwo: *out = tex2D<float4>(t, x, y); break;
    case kThree: out->x = tex3D<float>(t, x, y, z); break;
    case kLayer1: out->x = tex1DLayered<float>(t, x, int(w)); break;
    case kLayer2: out->x = tex2DLayered<float>(t, x, y, int(w)); break;
    case kCube: out->x = texCubemap<float>(t, x, y, z); break;
    case kCubeLayer: out->x = texCubemapLayered<float>(t, x, y, z, int(w)); break;
    case kLevel: out->x = tex2DLod<float>(t, x, y, w); break;
    case kGradient: out->x = tex2DGrad<float>(t, x, y, make_float2(w, 0), make_float2(0, 0)); break;
    case kGather: *out = tex2Dgather<float4>(t, x, y, 0); break;
    case kFetch: out->x = tex1Dfetch<float>(t, int(x)); break;
  }
}
float4* out;
float4 read(cudaTextureObject_t t, Read how, float x, float y = 0, float z = 0, float w = 0) {
  *out = make_float4(-1, -1, -1, -1);
  look<<<1, 1>>>(t, how, x, y, z, w, out);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  return *out;
}
bool is(float4 v, float x, float y, float z, float w) {
  return v.x == x && v.y == y && v.z == z && v.w == w;
}

const cudaChannelFormatDesc kFloat = cudaCreateChannelDesc<float>();

// An array whose texel (x, y, z) is x + 10 y + 100 z.
cudaArray_t numbered(cudaExtent extent, unsigned flags) {
  cudaArray_t array = nullptr;
  RIDGE_CUDA(cudaMalloc3DArray(&array, &kFloat, extent, flags), cudaSuccess);
  const size_t h = extent.height ? extent.height : 1, d = extent.depth ? extent.depth : 1;
  std::vector<float> values;
  for (size_t z = 0; z < d; ++z)
    for (size_t y = 0; y < h; ++y)
      for (size_t x = 0; x < extent.width; ++x) values.push_back(float(x + 10 * y + 100 * z));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), extent.width * 4, extent.width, h);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, h, d);
  copy.kind = cudaMemcpyHostToDevice;
  RIDGE_CUDA(cudaMemcpy3D(&copy), cudaSuccess);
  return array;
}

void geometries() {
  cudaArray_t array = numbered(make_cudaExtent(8, 0, 0), 0);
  cudaTextureObject_t t = texture_of(array, Sampler().linear());
  RIDGE_CHECK(read(t, kOne, 2.75f).x == 2.25f);
  RIDGE_CHECK(read(t, kOne, -9).x == 0);
  RIDGE_CHECK(read(t, kOne, 99).x == 7);
  RIDGE_CUDA(cudaDestroyTextureObject(t), cudaSuccess);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(8, 4, 0), cudaArrayTextureGather);
  t = texture_of(array, Sampler().linear());
  RIDGE_CHECK(read(t, kTwo, 2.5f, 1.75f).x == 2 + 12.5f);
  RIDGE_CHECK(is(read(t, kGather, 3, 2), 22, 23, 13, 12));
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(4, 4, 4), 0);
  t = texture_of(array, Sampler().linear().normalized().address(cudaAddressModeWrap));
  RIDGE_CHECK(read(t, kThree, 0.25f, 0.25f, 0.25f).x == 0.5f + 5 + 50);
  RIDGE_CHECK(read(t, kThree, 1.375f, -0.625f, 2.375f).x == 1 + 10 + 100);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(8, 0, 3), cudaArrayLayered);
  t = texture_of(array, Sampler());
  RIDGE_CHECK(read(t, kLayer1, 5.5f, 0, 0, 2).x == 205);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(8, 4, 3), cudaArrayLayered);
  t = texture_of(array, Sampler().linear());
  RIDGE_CHECK(read(t, kLayer2, 5.25f, 1.5f, 0, 1).x == 4.75f + 10 + 100);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(4, 4, 6), cudaArrayCubemap);
  t = texture_of(array, Sampler().normalized());
  RIDGE_CHECK(read(t, kCube, 1, 0.1f, 0.1f).x == 0 + 10 + 1);
  RIDGE_CHECK(read(t, kCube, -0.1f, -3, 0.1f).x == 300 + 10 + 1);
  RIDGE_CHECK(read(t, kCube, 0.6f, 0.1f, -1).x == 500 + 10 + 0);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  array = numbered(make_cudaExtent(2, 2, 12), cudaArrayCubemap | cudaArrayLayered);
  t = texture_of(array, Sampler().normalized());
  RIDGE_CHECK(read(t, kCubeLayer, 0.1f, 0.1f, 1, 1).x == 1000 + 0 + 1);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);
}

void modes() {
  const cudaArray_t array = numbered(make_cudaExtent(4, 0, 0), 0);
  Sampler border = Sampler().normalized().address(cudaAddressModeBorder);
  border.borderColor[0] = 42;
  cudaTextureObject_t t = texture_of(array, border);
  RIDGE_CHECK(read(t, kOne, -0.1f).x == 42);
  RIDGE_CHECK(read(t, kOne, 0.3f).x == 1);
  t = texture_of(array, Sampler().normalized().address(cudaAddressModeMirror));
  RIDGE_CHECK(read(t, kOne, -0.3f).x == 1);
  RIDGE_CHECK(read(t, kOne, 1.1f).x == 3);
  RIDGE_CHECK(read(t, kOne, 2.3f).x == 1);
  t = texture_of(array, Sampler().normalized().address(cudaAddressModeWrap));
  RIDGE_CHECK(read(t, kOne, -0.3f).x == 2);
  RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);

  // Bytes as fractions, four channels, from pitched memory.
  uchar4* pixels;
  size_t pitch;
  RIDGE_CUDA(cudaMallocPitch(&pixels, &pitch, 4 * sizeof(uchar4), 2), cudaSuccess);
  RIDGE_CUDA(cudaMemset2D(pixels, pitch, 255, 4 * sizeof(uchar4), 1), cudaSuccess);
  RIDGE_CUDA(cudaMemset2D((char*)pixels + pitch, pitch, 51, 4 * sizeof(uchar4), 1), cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pixels, cudaCreateChannelDesc<uchar4>(), 4, 2, pitch};
  const Sampler fractions = Sampler().fractions();
  RIDGE_CUDA(cudaCreateTextureObject(&t, &resource, &fractions, nullptr), cudaSuccess);
  RIDGE_CHECK(is(read(t, kTwo, 1, 0), 1, 1, 1, 1));
  RIDGE_CHECK(std::fabs(read(t, kTwo, 1, 1).y - 0.2f) < 1e-6f);
  cudaResourceDesc told{};
  RIDGE_CUDA(cudaGetTextureObjectResourceDesc(&told, t), cudaSuccess);
  RIDGE_CHECK(told.res.pitch2D.pitchInBytes == pitch);
  RIDGE_CUDA(cudaDestroyTextureObject(t), cudaSuccess);
  RIDGE_CUDA(cudaFree(pixels), cudaSuccess);

  float* line;
  RIDGE_CUDA(cudaMallocManaged(&line, 8 * sizeof(float)), cudaSuccess);
  for (int i = 0; i < 8; ++i) line[i] = float(i * i);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {line, kFloat, 8 * sizeof(float)};
  const Sampler plain;
  RIDGE_CUDA(cudaCreateTextureObject(&t, &resource, &plain, nullptr), cudaSuccess);
  RIDGE_CHECK(read(t, kFetch, 5).x == 25);
  RIDGE_CHECK(read(t, kFetch, 8).x == 0);
  RIDGE_CUDA(cudaDestroyTextureObject(t), cudaSuccess);
  RIDGE_CUDA(cudaFree(line), cudaSuccess);
}

void mipmaps() {
  cudaMipmappedArray_t array;
  RIDGE_CUDA(cudaMallocMipmappedArray(&array, &kFloat, make_cudaExtent(8, 8, 0), 4), cudaSuccess);
  for (unsigned k = 0; k < 4; ++k) {
    cudaArray_t level;
    cudaExtent extent;
    RIDGE_CUDA(cudaGetMipmappedArrayLevel(&level, array, k), cudaSuccess);
    RIDGE_CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
    RIDGE_CHECK(extent.width == 8u >> k && extent.height == 8u >> k);
    const std::vector<float> values(extent.width * extent.height, float(k));
    RIDGE_CUDA(cudaMemcpy2DToArray(level, 0, 0, values.data(), extent.width * 4, extent.width * 4,
                                   extent.height, cudaMemcpyHostToDevice),
               cudaSuccess);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  Sampler sampler = Sampler().linear().normalized();
  sampler.mipmapFilterMode = cudaFilterModeLinear;
  cudaTextureObject_t t = 0;
  RIDGE_CUDA(cudaCreateTextureObject(&t, &resource, &sampler, nullptr), cudaSuccess);
  RIDGE_CHECK(read(t, kLevel, 0.5f, 0.5f, 0, 1).x == 1);
  RIDGE_CHECK(read(t, kLevel, 0.5f, 0.5f, 0, 1.25f).x == 1.25f);
  RIDGE_CHECK(read(t, kLevel, 0.5f, 0.5f, 0, 77).x == 3);
  RIDGE_CHECK(read(t, kGradient, 0.5f, 0.5f, 0, 0.5f).x == 2);
  RIDGE_CUDA(cudaDestroyTextureObject(t), cudaSuccess);
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 8;
  view.firstMipmapLevel = 2;
  view.lastMipmapLevel = 3;
  cudaResourceViewDesc told{};
  RIDGE_CUDA(cudaCreateTextureObject(&t, &resource, &sampler, &view), cudaSuccess);
  RIDGE_CHECK(read(t, kLevel, 0.5f, 0.5f, 0, 0).x == 2);
  RIDGE_CUDA(cudaGetTextureObjectResourceViewDesc(&told, t), cudaSuccess);
  RIDGE_CHECK(told.firstMipmapLevel == 2);
  RIDGE_CUDA(cudaDestroyTextureObject(t), cudaSuccess);
  RIDGE_CUDA(cudaFreeMipmappedArray(array), cudaSuccess);
}

}  // namespace

int main() {
  RIDGE_CUDA(cudaMallocManaged(&out, sizeof *out), cudaSuccess);
  geometries();
  modes();
  mipmaps();
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  return failures != 0;
}
