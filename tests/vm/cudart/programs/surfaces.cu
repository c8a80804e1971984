// Surfaces: kernels that write arrays and read them, at their edges too; and copies between arrays.
#include <vector>

#include "check.h"

namespace {

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  return surface;
}

__global__ void number_2d(cudaSurfaceObject_t s, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) surf2Dwrite(make_short2(x, y), s, x * int(sizeof(short2)), y);
}
__global__ void shift(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= width) return;
  short2 v = surf2Dread<short2>(from, (x + 1) * int(sizeof(short2)), y, cudaBoundaryModeClamp);
  const short2 zero = surf2Dread<short2>(from, x * int(sizeof(short2)), -1, cudaBoundaryModeZero);
  v.x += zero.x;
  surf2Dwrite(v, to, x * int(sizeof(short2)), y);
  surf2Dwrite(v, to, x * int(sizeof(short2)), 1000, cudaBoundaryModeZero);  // dropped
}
__global__ void others(cudaSurfaceObject_t one, cudaSurfaceObject_t volume,
                       cudaSurfaceObject_t layers, cudaSurfaceObject_t cube) {
  const int i = threadIdx.x;
  surf1Dwrite(char(i), one, i);
  surf3Dwrite(make_float4(i, 1, 2, 3), volume, i * 16, 1, 2);
  surf2DLayeredwrite((long long)(i * 1000), layers, i * 8, 0, 1);
  surfCubemapwrite(i + 500, cube, i * 4, 1, 3);
  __syncthreads();
  const char c = surf1Dread<char>(one, 7 - i);
  const float4 f = surf3Dread<float4>(volume, (7 - i) * 16, 1, 2);
  const long long l = surf2DLayeredread<long long>(layers, (7 - i) * 8, 0, 1);
  const int w = surfCubemapread<int>(cube, (7 - i) * 4, 1, 3);
  __syncthreads();
  surf1Dwrite(char(c + int(f.x) + int(l / 1000) + (w - 500)), one, i);
}

void kernels() {
  constexpr int width = 100, height = 7;
  const cudaChannelFormatDesc pairs = cudaCreateChannelDesc<short2>();
  cudaArray_t a, b;
  RIDGE_CUDA(cudaMallocArray(&a, &pairs, width, height, cudaArraySurfaceLoadStore), cudaSuccess);
  RIDGE_CUDA(cudaMallocArray(&b, &pairs, width, height, cudaArraySurfaceLoadStore), cudaSuccess);
  const cudaSurfaceObject_t sa = surface_of(a), sb = surface_of(b);
  number_2d<<<dim3(1, height), 128>>>(sa, width, height);
  shift<<<height, 128>>>(sb, sa, width);
  std::vector<short2> back(width * height);
  RIDGE_CUDA(cudaMemcpy2DFromArray(back.data(), width * 4, b, 0, 0, width * 4, height,
                                   cudaMemcpyDeviceToHost),
             cudaSuccess);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const short2 v = back[y * width + x];
      RIDGE_CHECK(v.x == (x + 1 < width ? x + 1 : x) && v.y == y);
    }
  RIDGE_CUDA(cudaDestroySurfaceObject(sa), cudaSuccess);
  RIDGE_CUDA(cudaDestroySurfaceObject(sb), cudaSuccess);

  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>(),
                              fours = cudaCreateChannelDesc<float4>(),
                              words = cudaCreateChannelDesc<int2>(),
                              ints = cudaCreateChannelDesc<int>();
  cudaArray_t one, volume, layers, cube;
  RIDGE_CUDA(cudaMallocArray(&one, &bytes, 8, 0, cudaArraySurfaceLoadStore), cudaSuccess);
  RIDGE_CUDA(
      cudaMalloc3DArray(&volume, &fours, make_cudaExtent(8, 2, 3), cudaArraySurfaceLoadStore),
      cudaSuccess);
  RIDGE_CUDA(cudaMalloc3DArray(&layers, &words, make_cudaExtent(8, 1, 2),
                               cudaArraySurfaceLoadStore | cudaArrayLayered),
             cudaSuccess);
  RIDGE_CUDA(cudaMalloc3DArray(&cube, &ints, make_cudaExtent(8, 8, 6),
                               cudaArraySurfaceLoadStore | cudaArrayCubemap),
             cudaSuccess);
  others<<<1, 8>>>(surface_of(one), surface_of(volume), surface_of(layers), surface_of(cube));
  char result[8];
  RIDGE_CUDA(cudaMemcpy2DFromArray(result, 8, one, 0, 0, 8, 1, cudaMemcpyDeviceToHost),
             cudaSuccess);
  for (int i = 0; i < 8; ++i) RIDGE_CHECK(result[i] == 4 * (7 - i));
  for (const cudaArray_t array : {a, b, one, volume, layers, cube})
    RIDGE_CUDA(cudaFreeArray(array), cudaSuccess);
}

void copies() {
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaArray_t a, b;
  RIDGE_CUDA(cudaMallocArray(&a, &ints, 8, 4), cudaSuccess);
  RIDGE_CUDA(cudaMallocArray(&b, &ints, 8, 4), cudaSuccess);
  int host[32], back[32] = {};
  for (int i = 0; i < 32; ++i) host[i] = i;
  RIDGE_CUDA(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice), cudaSuccess);
  // A rectangle of 3 x 2 from (1, 1) to (4, 2).
  RIDGE_CUDA(cudaMemcpy2DArrayToArray(b, 16, 8 - 6, a, 4, 1, 12, 2, cudaMemcpyDeviceToDevice),
             cudaSuccess);
  RIDGE_CUDA(cudaMemcpy2DFromArray(back, 12, b, 16, 2, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(back[0] == 9 && back[2] == 11 && back[3] == 17 && back[5] == 19);

  cudaMemcpy3DParms p{};
  p.srcArray = a;
  p.srcPos = make_cudaPos(2, 3, 0);
  p.dstPtr = make_cudaPitchedPtr(back, 32, 8, 4);
  p.extent = make_cudaExtent(6, 1, 1);
  p.kind = cudaMemcpyDeviceToHost;
  RIDGE_CUDA(cudaMemcpy3D(&p), cudaSuccess);
  RIDGE_CHECK(back[0] == 26 && back[5] == 31);

  // The same as a node of a graph.
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  RIDGE_CUDA(cudaGraphCreate(&graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p), cudaSuccess);
  cudaMemcpy3DParms told{};
  RIDGE_CUDA(cudaGraphMemcpyNodeGetParams(node, &told), cudaSuccess);
  RIDGE_CHECK(told.srcArray == a && told.srcPos.x == 2 && told.extent.width == 6);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  back[0] = back[5] = 0;
  RIDGE_CUDA(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  RIDGE_CHECK(back[0] == 26 && back[5] == 31);
  RIDGE_CUDA(cudaFreeArray(a), cudaSuccess);
  RIDGE_CUDA(cudaFreeArray(b), cudaSuccess);
}

}  // namespace

int main() {
  kernels();
  copies();
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  return failures != 0;
}
