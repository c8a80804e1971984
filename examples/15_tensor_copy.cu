// 15_tensor_copy: Hopper's copy engine fetches a tile with its halo; the edges take care of
// themselves.
//
// A blur needs, for each tile of a picture, the tile and a rim around it. 03_grey_and_blur lets all
// threads compute addresses, and ask at each pixel whether it lies outside. A GPU of compute
// capability 9.0 has an engine for that (TMA, the tensor memory accelerator). The host describes
// the picture once, in a *tensor map*: its address, its size, the bytes from row to row, and the
// size of a box. Then one thread says "the box at (x, y), please". The engine copies while the
// threads do something else. What lies outside the picture arrives as zeros, on all four sides. The
// result goes back the same way; there the engine leaves out what is outside.
//
// Two rules are easy to miss. Boxes begin at multiples of 16 bytes along a row, so the box starts 4
// floats left of the tile although the blur needs only one; and boxes lie at multiples of 128 bytes
// in shared memory.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kTile = 32;           // pixels, in both directions
constexpr int kLeft = 4, kTop = 1;  // of the box, around the tile
constexpr int kBoxWidth = kTile + 2 * kLeft, kBoxHeight = kTile + 2 * kTop;
constexpr int kThreads = 256;

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// An mbarrier counts arrivals and bytes. Its phase ends when one thread has arrived and all bytes
// that it announced are there.
__device__ void init(uint64_t* barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // the engine must see it
}
__device__ void arrive_and_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void wait(uint64_t* barrier, uint32_t phase) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(phase)
        : "memory");
}

// The box at (x, y) into shared memory; the engine tells the barrier its bytes.
__device__ void load_box(float* to, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
// And back; the thread waits until the engine has read shared memory.
__device__ void store_box(const CUtensorMap* map, const float* from, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(x), "r"(y)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

// One block per tile. The maps are parameters: __grid_constant__ keeps them where the engine can
// read them.
__global__ void __launch_bounds__(kThreads)
    blur(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ __align__(128) float box[kBoxHeight][kBoxWidth];
  __shared__ __align__(128) float tile[kTile][kTile];
  __shared__ uint64_t arrived;
  const int x = int(blockIdx.x) * kTile, y = int(blockIdx.y) * kTile;

  if (threadIdx.x == 0) {
    init(&arrived);
    arrive_and_expect(&arrived, sizeof box);  // all of it: what is outside counts, too
    load_box(&box[0][0], &in, x - kLeft, y - kTop, &arrived);
  }
  __syncthreads();  // nobody waits at a barrier that is not there yet
  wait(&arrived, 0);

  for (int i = int(threadIdx.x); i < kTile * kTile; i += kThreads) {
    const int row = i / kTile, column = i % kTile;
    float sum = 0;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += box[row + dy][column + kLeft + dx];
    tile[row][column] = sum / 9.0f;
  }
  // The engine reads shared memory by another way than threads write it: a fence by each writer,
  // then a barrier, then the copy.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) store_box(&out, &tile[0][0], x, y);
}

// A picture of `height` rows, `pitch` bytes apart, and boxes of it.
CUtensorMap describe(float* pixels, int width, int height, size_t pitch, int box_width,
                     int box_height) {
  // The function belongs to the driver; the runtime knows where it is.
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &result));
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  const cuuint64_t sizes[] = {cuuint64_t(width), cuuint64_t(height)};  // the fastest one first
  const cuuint64_t strides[] = {pitch};  // bytes, of all dimensions but the first
  const cuuint32_t box[] = {cuuint32_t(box_width), cuuint32_t(box_height)}, steps[] = {1, 1};
  CUtensorMap map;
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, pixels, sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    fprintf(stderr, "the driver refuses the tensor map\n");
    std::exit(4);
  }
  return map;
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"width", 250, 1, 16384}, {"height", 130, 1, 16384}});
  const int width = args.size(0), height = args.size(1);
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major != 9) {
    printf("this example needs the copy engine of compute capability 9.0\n");
    return 0;
  }
  std::vector<float> picture(size_t(width) * height), blurred(picture.size());  // (height, width)
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = float(i * 2654435761u % 256);

  // A map needs rows that start at multiples of 16 bytes, and cudaMallocPitch pads them. Stores
  // need the padding, too: they write whole pieces of 16 bytes, up to three floats past a row.
  float *in = nullptr, *out = nullptr;
  size_t pitch = 0;
  const size_t row = size_t(width) * sizeof(float);
  CHECK(cudaMallocPitch(&in, &pitch, row, height));
  CHECK(cudaMallocPitch(&out, &pitch, row, height));
  CHECK(cudaMemcpy2D(in, pitch, picture.data(), row, row, height, cudaMemcpyHostToDevice));

  const CUtensorMap from = describe(in, width, height, pitch, kBoxWidth, kBoxHeight);
  const CUtensorMap to = describe(out, width, height, pitch, kTile, kTile);
  const dim3 grid(ceil_div(width, kTile), ceil_div(height, kTile));
  blur<<<grid, kThreads>>>(from, to);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(blurred.data(), row, out, pitch, row, height, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double want = 0;  // sums of nine small integers are exact
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width)
            want += picture[size_t(y + dy) * width + x + dx];
      const float got = blurred[size_t(y) * width + x];
      if (!is_close(got, want / 9, want * 1e-7))
        return fail("pixel (%d, %d) is %.9g, expected %.9g", x, y, got, want / 9);
    }
  }
  printf("a picture of %d x %d pixels blurred in %u tiles\n", width, height, grid.x * grid.y);
  printf("each tile came as one box of %d x %d pixels, zeros outside, and left as one of %d x %d\n",
         kBoxWidth, kBoxHeight, kTile, kTile);
  return 0;
}
