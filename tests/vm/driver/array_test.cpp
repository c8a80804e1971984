// Arrays, copies of them, textures and surfaces.
#include <numeric>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Arrays : public DriverTest {
 protected:
  CUarray floats(size_t width, size_t height, size_t depth = 0, unsigned flags = 0) {
    const CUDA_ARRAY3D_DESCRIPTOR d{width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    CUarray array = nullptr;
    EXPECT_OK(cuArray3DCreate(&array, &d));
    return array;
  }
  // Four numbers of row y.
  void read_row(CUarray array, size_t y, std::vector<float>& to) {
    CUDA_MEMCPY2D row{};
    row.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    row.srcArray = array;
    row.srcY = y;
    row.dstMemoryType = CU_MEMORYTYPE_HOST;
    row.dstHost = to.data();
    row.dstPitch = row.WidthInBytes = 4 * sizeof(float);
    row.Height = 1;
    EXPECT_OK(cuMemcpy2D(&row));
  }
};

TEST_F(Arrays, TheySayWhatTheyAre) {
  const CUDA_ARRAY_DESCRIPTOR flat{7, 5, CU_AD_FORMAT_UNSIGNED_INT8, 4};
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  CUDA_ARRAY_DESCRIPTOR half{};
  CUarray array = nullptr;
  ASSERT_OK(cuArrayCreate(&array, &flat));
  EXPECT_OK(cuArray3DGetDescriptor(&whole, array));
  EXPECT_EQ(whole.Width, 7u);
  EXPECT_EQ(whole.Height, 5u);
  EXPECT_EQ(whole.Depth, 0u);
  EXPECT_EQ(whole.Format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(whole.NumChannels, 4u);
  EXPECT_EQ(whole.Flags, 0u);
  EXPECT_OK(cuArrayGetDescriptor(&half, array));
  EXPECT_EQ(half.Width, 7u);
  EXPECT_EQ(half.NumChannels, 4u);
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY_DESCRIPTOR wrong = flat;
  wrong.NumChannels = 3;
  EXPECT_EQ(cuArrayCreate(&array, &wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = flat;
  wrong.Width = 0;
  EXPECT_EQ(cuArrayCreate(&array, &wrong), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  size_t width = 0;
  EXPECT_OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, device));
  EXPECT_GE(width, size_t(1) << 27);
}

TEST_F(Arrays, NormalizedFormatsNameTheirChannels) {
  CUDA_ARRAY_DESCRIPTOR d{4, 4, CU_AD_FORMAT_UNORM_INT8X2, 2}, back{};
  CUarray array = nullptr;
  ASSERT_OK(cuArrayCreate(&array, &d));
  EXPECT_OK(cuArrayGetDescriptor(&back, array));
  EXPECT_EQ(back.Format, CU_AD_FORMAT_UNORM_INT8X2);
  EXPECT_EQ(back.NumChannels, 2u);
  d.NumChannels = 4;
  EXPECT_EQ(cuArrayCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Arrays, BoxesGoInAndOut) {
  std::vector<float> host(4 * 3 * 2), back(2 * 2 * 2);
  std::iota(host.begin(), host.end(), 0.0f);
  CUarray array = floats(4, 3, 2), other = floats(4, 3, 2);
  CUDA_MEMCPY3D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.srcPitch = 16;
  in.srcHeight = 3;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.WidthInBytes = 16;
  in.Height = 3;
  in.Depth = 2;
  EXPECT_OK(cuMemcpy3D(&in));
  CUDA_MEMCPY3D across = in;
  across.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  across.srcArray = array;
  across.dstArray = other;
  EXPECT_OK(cuMemcpy3D(&across));
  CUDA_MEMCPY3D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = other;
  out.srcXInBytes = 4;
  out.srcY = 1;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back.data();
  out.dstPitch = 8;
  out.dstHeight = 2;
  out.WidthInBytes = 8;
  out.Height = 2;
  out.Depth = 2;
  EXPECT_OK(cuMemcpy3D(&out));
  EXPECT_EQ(back, (std::vector<float>{5, 6, 9, 10, 17, 18, 21, 22}));
  out.srcXInBytes = 12;
  EXPECT_EQ(cuMemcpy3D(&out), CUDA_ERROR_INVALID_VALUE);
  out.srcArray = nullptr;
  EXPECT_NE(cuMemcpy3D(&out), CUDA_SUCCESS);

  read_row(array, 2, back);
  EXPECT_EQ(back[3], 11);
}

TEST_F(Arrays, RunsOfBytes) {
  std::vector<float> host{1, 2, 3, 4, 5, 6, 7, 8}, back(8);
  CUarray array = floats(8, 0), other = floats(8, 0);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, 0));
  ASSERT_OK(cuMemAlloc(&memory, 32));
  EXPECT_OK(cuMemcpyHtoA(array, 0, host.data(), 32));
  EXPECT_OK(cuMemcpyAtoD(memory, array, 16, 16));
  EXPECT_OK(cuMemcpyDtoA(array, 0, memory, 8));
  EXPECT_OK(cuMemcpyAtoA(other, 8, array, 0, 24));
  EXPECT_OK(cuMemcpyHtoAAsync(other, 0, host.data(), 8, stream));
  EXPECT_OK(cuMemcpyAtoHAsync(back.data(), other, 0, 32, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(back, (std::vector<float>{1, 2, 5, 6, 3, 4, 5, 6}));
  EXPECT_OK(cuMemcpyAtoH(back.data(), array, 4, 4));
  EXPECT_EQ(back[0], 6);
  EXPECT_NE(cuMemcpyHtoA(array, 4, host.data(), 32), CUDA_SUCCESS);
}

TEST_F(Arrays, NodesOfGraphsGiveThemBack) {
  CUarray array = floats(4, 3);
  std::vector<float> host(12, 2.5f), back(12);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUDA_MEMCPY3D in{}, shown{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host.data();
  in.srcPitch = 8;
  in.srcHeight = 1;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.dstXInBytes = 8;
  in.dstY = 2;
  in.WidthInBytes = 8;
  in.Height = 1;
  in.Depth = 1;
  ASSERT_OK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &in, context));
  EXPECT_OK(cuGraphMemcpyNodeGetParams(node, &shown));
  EXPECT_EQ(shown.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(shown.dstArray, array);
  EXPECT_EQ(shown.dstXInBytes, 8u);
  EXPECT_EQ(shown.dstY, 2u);
  EXPECT_EQ(shown.srcMemoryType, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(shown.WidthInBytes, 8u);
  ASSERT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  read_row(array, 2, back);
  EXPECT_EQ(back[3], 2.5f);
}

TEST_F(Arrays, LevelsAreArrays) {
  const CUDA_ARRAY3D_DESCRIPTOR d{8, 4, 0, CU_AD_FORMAT_HALF, 2, 0};
  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr;
  CUDA_ARRAY_DESCRIPTOR shown{};
  ASSERT_OK(cuMipmappedArrayCreate(&mipmapped, &d, 3));
  ASSERT_OK(cuMipmappedArrayGetLevel(&level, mipmapped, 2));
  EXPECT_OK(cuArrayGetDescriptor(&shown, level));
  EXPECT_EQ(shown.Width, 2u);
  EXPECT_EQ(shown.Height, 1u);
  EXPECT_EQ(shown.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, mipmapped, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMipmappedArrayDestroy(mipmapped));
  EXPECT_NE(cuMipmappedArrayDestroy(mipmapped), CUDA_SUCCESS);
}

TEST_F(Arrays, GoWithTheirContext) {
  CUcontext other = nullptr;
  size_t before = 0, after = 0, total = 0;
  ASSERT_OK(cuMemGetInfo(&before, &total));
  CUctxCreateParams parameters{};
  ASSERT_OK(cuCtxCreate(&other, &parameters, 0, device));
  const CUarray array = floats(1024, 1024);
  EXPECT_OK(cuCtxDestroy(other));
  ASSERT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  CUDA_ARRAY_DESCRIPTOR shown{};
  EXPECT_NE(cuArrayGetDescriptor(&shown, array), CUDA_SUCCESS);
}

// out[i] = texture at i, as four numbers of 32 bits, and the surface's byte gets i.
const char* const kFetchPtx = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out];
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
.visible .entry look(.param .u64 texture, .param .u64 out)
{
  .reg .f32 %f<2>;
  .reg .b32 %r<9>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out];
  cvt.rn.f32.u32 %f1, %r1;
  add.f32 %f1, %f1, 0f3f000000;  // the middle of a texel
  tex.1d.v4.u32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
.visible .entry write(.param .u64 surface)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [surface];
  shl.b32 %r2, %r1, 2;
  add.u32 %r3, %r1, 100;
  sust.b.1d.b32.trap [%rd1, {%r2}], {%r3};
  ret;
}
)";

class Textures : public Arrays {
 protected:
  std::vector<unsigned> fetch(CUtexObject texture, unsigned count, const char* how = "fetch") {
    const Module module(kFetchPtx);
    CUdeviceptr out = 0;
    std::vector<unsigned> values(count);
    EXPECT_OK(cuMemAlloc(&out, count * 4));
    void* arguments[] = {&texture, &out};
    EXPECT_OK(
        cuLaunchKernel(module.function(how), 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_OK(cuMemcpyDtoH(values.data(), out, count * 4));
    return values;
  }
};

TEST_F(Textures, IntegersOrFractions) {
  CUdeviceptr memory = 0;
  const unsigned char bytes[4] = {0, 51, 102, 255};
  ASSERT_OK(cuMemAlloc(&memory, 512));
  ASSERT_OK(cuMemcpyHtoD(memory, bytes, 4));
  CUDA_RESOURCE_DESC resource{}, shown{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = 4;
  CUDA_TEXTURE_DESC sampler{}, sampler_shown{};
  CUtexObject texture = 0;
  sampler.flags = CU_TRSF_READ_AS_INTEGER;
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &sampler, nullptr));
  EXPECT_EQ(fetch(texture, 4), (std::vector<unsigned>{0, 51, 102, 255}));
  EXPECT_OK(cuTexObjectGetResourceDesc(&shown, texture));
  EXPECT_EQ(shown.resType, CU_RESOURCE_TYPE_LINEAR);
  EXPECT_EQ(shown.res.linear.devPtr, memory);
  EXPECT_EQ(shown.res.linear.format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(shown.res.linear.numChannels, 1u);
  EXPECT_EQ(shown.res.linear.sizeInBytes, 4u);
  EXPECT_OK(cuTexObjectGetTextureDesc(&sampler_shown, texture));
  EXPECT_EQ(sampler_shown.flags, unsigned(CU_TRSF_READ_AS_INTEGER));
  CUDA_RESOURCE_VIEW_DESC view{};
  EXPECT_OK(cuTexObjectGetResourceViewDesc(&view, texture));  // it has none: zeros, as on an H200
  EXPECT_OK(cuTexObjectDestroy(texture));

  sampler.flags = 0;  // 255 is 1.0
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &sampler, nullptr));
  const std::vector<unsigned> bits = fetch(texture, 4);
  EXPECT_EQ(bits[0], 0u);
  EXPECT_EQ(bits[3], 0x3f800000u);
  EXPECT_OK(cuTexObjectGetTextureDesc(&sampler_shown, texture));
  EXPECT_EQ(sampler_shown.flags, 0u);
  EXPECT_OK(cuTexObjectDestroy(texture));
  sampler.flags = 0x8000;
  EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &sampler, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, SurfacesWriteArrays) {
  const CUDA_ARRAY3D_DESCRIPTOR d{
      4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  CUsurfObject surface = 0;
  CUtexObject texture = 0;
  ASSERT_OK(cuArray3DCreate(&array, &d));
  CUDA_RESOURCE_DESC resource{}, shown{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  ASSERT_OK(cuSurfObjectCreate(&surface, &resource));
  EXPECT_OK(cuSurfObjectGetResourceDesc(&shown, surface));
  EXPECT_EQ(shown.res.array.hArray, array);
  const Module module(kFetchPtx);
  void* arguments[] = {&surface};
  EXPECT_OK(
      cuLaunchKernel(module.function("write"), 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned values[4];
  EXPECT_OK(cuMemcpyAtoH(values, array, 0, 16));
  EXPECT_EQ(values[3], 103u);
  EXPECT_OK(cuSurfObjectDestroy(surface));
  // 32-bit integers are read as they are, whatever the flag.
  CUDA_TEXTURE_DESC sampler{};
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &sampler, nullptr));
  EXPECT_EQ(fetch(texture, 4, "look"), (std::vector<unsigned>{100, 101, 102, 103}));
  resource.res.array.hArray = nullptr;
  EXPECT_NE(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ridge::vm::driver
