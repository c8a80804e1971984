// Arrays, their copies, and texture and surface objects, as calls; lookups are other tests' matter.
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime_test.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

const cudaChannelFormatDesc kFloat{32, 0, 0, 0, cudaChannelFormatKindFloat};
const cudaChannelFormatDesc kInt{32, 0, 0, 0, cudaChannelFormatKindSigned};
const cudaChannelFormatDesc kBytes{8, 8, 8, 8, cudaChannelFormatKindUnsigned};

class TextureTest : public RuntimeTest {
 protected:
  cudaArray_t array(cudaExtent extent, unsigned flags = 0,
                    const cudaChannelFormatDesc& desc = kFloat) {
    cudaArray_t made = nullptr;
    EXPECT_EQ(cudaMalloc3DArray(&made, &desc, extent, flags), cudaSuccess);
    return made;
  }
  static cudaResourceDesc resource(cudaArray_t array) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    return r;
  }
};
using ArrayTest = TextureTest;

TEST_F(ArrayTest, ShapesThatExistAndThatDoNot) {
  struct Case {
    cudaExtent extent;
    unsigned flags;
    cudaError_t expected;
  };
  const cudaError_t ok = cudaSuccess, bad = cudaErrorInvalidValue;
  const Case cases[] = {
      {{8, 0, 0}, 0, ok},
      {{8, 4, 0}, cudaArraySurfaceLoadStore | cudaArrayTextureGather, ok},
      {{8, 4, 2}, 0, ok},
      {{8, 0, 3}, cudaArrayLayered, ok},
      {{8, 4, 3}, cudaArrayLayered, ok},
      {{8, 8, 6}, cudaArrayCubemap, ok},
      {{8, 8, 12}, cudaArrayCubemap | cudaArrayLayered, ok},
      {{0, 4, 0}, 0, bad},
      {{8, 0, 3}, 0, bad},
      {{8, 4, 0}, cudaArrayLayered, bad},
      {{8, 4, 6}, cudaArrayCubemap, bad},
      {{8, 8, 7}, cudaArrayCubemap | cudaArrayLayered, bad},
      {{8, 8, 12}, cudaArrayCubemap, bad},
      {{8, 4, 2}, cudaArrayTextureGather, bad},
      {{8, 4, 2}, cudaArrayTextureGather | cudaArrayLayered, bad},
      {{8, 8, 6}, cudaArrayTextureGather | cudaArrayCubemap, bad},
      {{8, 4, 0}, 0x1000, bad},
      {{1 << 18, 4, 0}, 0, bad},
      {{8, 4, 0}, cudaArraySparse, cudaErrorNotSupported},
  };
  for (const Case& c : cases) {
    cudaArray_t made = nullptr;
    EXPECT_EQ(cudaMalloc3DArray(&made, &kFloat, c.extent, c.flags), c.expected)
        << "case " << &c - cases;
    if (!made) continue;
    cudaExtent extent{};
    unsigned flags = 99;
    cudaChannelFormatDesc desc{};
    EXPECT_EQ(cudaArrayGetInfo(&desc, &extent, &flags, made), cudaSuccess);
    EXPECT_EQ(extent.depth, c.extent.depth);
    EXPECT_EQ(flags, c.flags);
    EXPECT_EQ(desc.f, cudaChannelFormatKindFloat);
    EXPECT_EQ(cudaFreeArray(made), cudaSuccess);
  }
}

TEST_F(ArrayTest, ChannelDescriptors) {
  cudaArray_t made = nullptr;
  const cudaChannelFormatKind u = cudaChannelFormatKindUnsigned, f = cudaChannelFormatKindFloat;
  for (const cudaChannelFormatDesc& bad :
       {cudaChannelFormatDesc{8, 8, 8, 0, u}, {8, 16, 0, 0, u}, {0, 0, 0, 0, u}, {8, 0, 0, 0, f}})
    EXPECT_EQ(cudaMallocArray(&made, &bad, 8, 8, 0), cudaErrorInvalidChannelDescriptor);
  const cudaChannelFormatDesc compressed{8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1};
  EXPECT_EQ(cudaMallocArray(&made, &compressed, 8, 8, 0), cudaErrorNotSupported);
  ASSERT_EQ(cudaMallocArray(&made, &kBytes, 8, 8, 0), cudaSuccess);
  cudaChannelFormatDesc desc{};
  EXPECT_EQ(cudaGetChannelDesc(&desc, made), cudaSuccess);
  EXPECT_EQ(desc.w, 8);
}

TEST_F(ArrayTest, MemoryComesFromTheDeviceAndGoesBack) {
  size_t before = 0, between = 0, after = 0, total = 0;
  cudaMemGetInfo(&before, &total);
  const cudaArray_t a = array({64, 64, 64});
  cudaMemGetInfo(&between, &total);
  EXPECT_GE(before - between, size_t(64 * 64 * 64 * 4));
  EXPECT_EQ(cudaFreeArray(a), cudaSuccess);
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(after, before);
  EXPECT_EQ(cudaFreeArray(a), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFreeArray(nullptr), cudaSuccess);
}

TEST_F(ArrayTest, MipmappedLevelsHalve) {
  cudaMipmappedArray_t m = nullptr;
  ASSERT_EQ(cudaMallocMipmappedArray(&m, &kFloat, {20, 8, 0}, 99, 0), cudaSuccess);
  cudaArray_t level = nullptr;
  for (unsigned k = 0; k < 5; ++k) {
    cudaExtent extent{};
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, m, k), cudaSuccess);
    EXPECT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
    EXPECT_EQ(extent.width, 20u >> k);
    EXPECT_EQ(extent.height, std::max(1u, 8u >> k));
  }
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, m, 5), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(level), cudaSuccess);  // without effect: the whole owns it
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, level), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(m), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(m), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, level), cudaErrorInvalidResourceHandle);
}

TEST_F(ArrayTest, RectanglesAndTheirBounds) {
  const cudaArray_t a = array({8, 4, 0}), b = array({8, 4, 0});
  std::vector<float> host(32), back(32);
  std::iota(host.begin(), host.end(), 0.0f);
  const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy2DToArray(a, 0, 0, host.data(), 32, 32, 4, in), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DToArray(a, 4, 0, host.data(), 32, 32, 4, in), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(a, 0, 1, host.data(), 32, 32, 4, in), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(a, 0, 0, host.data(), 16, 32, 4, in), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DArrayToArray(b, 8, 1, a, 4, 2, 12, 2, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DFromArrayAsync(back.data(), 12, b, 8, 1, 12, 2, out, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<float>(back.begin(), back.begin() + 6),
            (std::vector<float>{17, 18, 19, 25, 26, 27}));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(ArrayTest, RunsGoOnInTheNextRow) {
  const cudaArray_t a = array({8, 4, 0}), b = array({4, 8, 0});
  std::vector<float> host(32), back(32);
  std::iota(host.begin(), host.end(), 0.0f);
  EXPECT_EQ(cudaMemcpyToArray(a, 0, 0, host.data(), 128, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyArrayToArray(b, 4, 0, a, 20, 0, 80, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromArray(back.data(), b, 4, 0, 80, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(back[i], float(5 + i));
  EXPECT_EQ(cudaMemcpyFromArray(back.data(), b, 4, 0, 128, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
}
#pragma GCC diagnostic pop

TEST_F(ArrayTest, BoxesCountTexels) {
  const cudaArray_t a = array({4, 3, 5}, cudaArrayLayered), bytes = array({4, 3, 5}, 0, kBytes),
                    thin = array({4, 3, 5}, 0, {8, 0, 0, 0, cudaChannelFormatKindUnsigned});
  std::vector<float> host(60), back(60);
  std::iota(host.begin(), host.end(), 0.0f);
  cudaMemcpy3DParms p{};
  p.srcPtr = {host.data(), 16, 4, 3};
  p.dstArray = a;
  p.extent = {4, 3, 5};
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  p.dstPos = {1, 0, 0};
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p = {};
  p.srcArray = a;
  p.dstArray = bytes;
  p.srcPos = {1, 1, 2};
  p.dstPos = {0, 2, 3};
  p.extent = {3, 1, 2};
  p.kind = cudaMemcpyDeviceToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  p.dstArray = thin;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);  // texels of another size
  p = {};
  p.srcArray = bytes;
  p.srcPos = {0, 2, 3};
  p.dstPtr = {back.data(), 12, 3, 1};
  p.extent = {3, 1, 2};
  p.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  EXPECT_EQ(std::vector<float>(back.begin(), back.begin() + 6),
            (std::vector<float>{29, 30, 31, 41, 42, 43}));
  p.srcPtr = p.dstPtr;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);  // two sources
}

TEST_F(TextureTest, ObjectsAreMadeToldAndDestroyed) {
  const cudaResourceDesc r = resource(array({8, 4, 0}));
  cudaTextureDesc s{};
  s.filterMode = cudaFilterModeLinear;
  s.borderColor[2] = 7;
  cudaTextureObject_t t = 0, other = 0;
  ASSERT_EQ(cudaCreateTextureObject(&t, &r, &s, nullptr), cudaSuccess);
  ASSERT_EQ(cudaCreateTextureObject(&other, &r, &s, nullptr), cudaSuccess);
  EXPECT_NE(t, 0u);
  EXPECT_NE(t, other);
  cudaResourceDesc told_r{};
  cudaTextureDesc told_s{};
  cudaResourceViewDesc told_v{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&told_r, t), cudaSuccess);
  EXPECT_EQ(told_r.res.array.array, r.res.array.array);
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&told_s, t), cudaSuccess);
  EXPECT_EQ(told_s.borderColor[2], 7);
  EXPECT_EQ(cudaGetTextureObjectResourceViewDesc(&told_v, t), cudaSuccess);
  EXPECT_EQ(told_v.format, cudaResViewFormatNone);
  EXPECT_EQ(cudaDestroyTextureObject(t), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(t), cudaSuccess);  // again, without complaint
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&told_r, t), cudaErrorInvalidValue);
  EXPECT_FALSE(runtime().engine.textures().find(t));
  EXPECT_TRUE(runtime().engine.textures().find(other));
  cudaDeviceReset();
  EXPECT_FALSE(runtime().engine.textures().find(other));
}

TEST_F(TextureTest, SettingsThatDoNotGoTogether) {
  cudaTextureObject_t t = 0;
  cudaTextureDesc linear{}, fractions{}, wrong{};
  linear.filterMode = cudaFilterModeLinear;
  fractions.readMode = cudaReadModeNormalizedFloat;
  wrong.addressMode[1] = cudaTextureAddressMode(9);
  const cudaResourceDesc ints = resource(array({8, 4, 0}, 0, kInt));
  const cudaResourceDesc bytes = resource(array({8, 4, 0}, 0, kBytes));
  EXPECT_EQ(cudaCreateTextureObject(&t, &ints, &linear, nullptr), cudaErrorInvalidFilterSetting);
  EXPECT_EQ(cudaCreateTextureObject(&t, &ints, &fractions, nullptr), cudaErrorInvalidNormSetting);
  EXPECT_EQ(cudaCreateTextureObject(&t, &bytes, &linear, nullptr), cudaErrorInvalidFilterSetting);
  linear.readMode = cudaReadModeNormalizedFloat;
  EXPECT_EQ(cudaCreateTextureObject(&t, &bytes, &linear, nullptr), cudaSuccess);
  EXPECT_EQ(cudaCreateTextureObject(&t, &bytes, &wrong, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&t, nullptr, &linear, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&t, &bytes, nullptr, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(TextureTest, MemoryMustBeAlignedAndThere) {
  char* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), 4096);
  cudaTextureObject_t t = 0;
  const cudaTextureDesc s{};
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  const auto linear = [&](void* start, size_t bytes) {
    r.res.linear = {start, kFloat, bytes};
    return cudaCreateTextureObject(&t, &r, &s, nullptr);
  };
  EXPECT_EQ(linear(memory, 4096), cudaSuccess);
  EXPECT_EQ(linear(memory + 512, 64), cudaSuccess);
  EXPECT_EQ(linear(memory + 32, 64), cudaErrorInvalidValue);
  EXPECT_EQ(linear(memory, 0), cudaSuccess);
  EXPECT_EQ(runtime().engine.textures().find(t)->image.levels[0].width, 0u);
  EXPECT_EQ(linear(memory, 1 << 20), cudaSuccess);  // more than there is: what is there
  EXPECT_EQ(runtime().engine.textures().find(t)->image.levels[0].width, 1024u);
  EXPECT_EQ(linear(nullptr, 64), cudaErrorInvalidValue);
  r.resType = cudaResourceTypePitch2D;
  const auto pitched = [&](size_t width, size_t height, size_t pitch) {
    r.res.pitch2D = {memory, kFloat, width, height, pitch};
    return cudaCreateTextureObject(&t, &r, &s, nullptr);
  };
  EXPECT_EQ(pitched(8, 4, 64), cudaSuccess);
  EXPECT_EQ(pitched(8, 4, 33), cudaErrorInvalidValue);
  EXPECT_EQ(pitched(24, 4, 64), cudaErrorInvalidValue);
  EXPECT_EQ(pitched(8, 0, 64), cudaSuccess);
  EXPECT_EQ(runtime().engine.textures().find(t)->image.levels[0].height, 0u);
  EXPECT_EQ(pitched(0, 4, 0), cudaSuccess);
  EXPECT_EQ(pitched(8, 100, 64), cudaSuccess);
  EXPECT_EQ(runtime().engine.textures().find(t)->image.levels[0].height, 64u);
}

TEST_F(TextureTest, ViewsAreInsideAndOfTheSameSize) {
  const cudaResourceDesc r = resource(array({8, 4, 6}, cudaArrayLayered));
  const cudaTextureDesc s{};
  cudaTextureObject_t t = 0;
  cudaResourceViewDesc v{cudaResViewFormatSignedInt1, 8, 4, 6, 0, 0, 2, 4, {}};
  ASSERT_EQ(cudaCreateTextureObject(&t, &r, &s, &v), cudaSuccess);
  const texture::ObjectRef seen = runtime().engine.textures().find(t);
  EXPECT_EQ(seen->image.layers, 3u);
  EXPECT_EQ(seen->image.format.kind, texture::Channel::sint);
  v.format = cudaResViewFormatFloat2;
  EXPECT_EQ(cudaCreateTextureObject(&t, &r, &s, &v), cudaErrorInvalidValue);
  v.format = cudaResViewFormatNone;
  EXPECT_EQ(cudaCreateTextureObject(&t, &r, &s, &v), cudaErrorInvalidValue);
  v.format = cudaResViewFormatSignedInt1;
  v.lastLayer = 6;
  EXPECT_EQ(cudaCreateTextureObject(&t, &r, &s, &v), cudaErrorInvalidValue);
  v.lastLayer = 4;
  v.lastMipmapLevel = 1;
  EXPECT_EQ(cudaCreateTextureObject(&t, &r, &s, &v), cudaErrorInvalidValue);
}

TEST_F(TextureTest, Surfaces) {
  cudaSurfaceObject_t s = 0;
  cudaResourceDesc r = resource(array({8, 4, 0}));
  EXPECT_EQ(cudaCreateSurfaceObject(&s, &r), cudaSuccess);  // even without the flag
  r = resource(array({8, 4, 0}, cudaArraySurfaceLoadStore));
  ASSERT_EQ(cudaCreateSurfaceObject(&s, &r), cudaSuccess);
  cudaResourceDesc told{};
  EXPECT_EQ(cudaGetSurfaceObjectResourceDesc(&told, s), cudaSuccess);
  EXPECT_EQ(told.res.array.array, r.res.array.array);
  EXPECT_EQ(cudaDestroyTextureObject(s), cudaSuccess);  // it is no texture, and stays
  EXPECT_TRUE(runtime().engine.textures().find(s));
  EXPECT_EQ(cudaDestroySurfaceObject(s), cudaSuccess);
  EXPECT_FALSE(runtime().engine.textures().find(s));
  EXPECT_EQ(cudaDestroySurfaceObject(s), cudaSuccess);
}

}  // namespace
}  // namespace ridge::vm::cudart
