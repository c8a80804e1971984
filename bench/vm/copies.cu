// How fast the software GPU's copy engine is: boxes of 32 KB between 64 MB of global memory and
// shared memory, one block, nothing computed.
//   copies NAME REPEATS   run one of tensor_load, tensor_load_swizzled, tensor_store,
//                         tensor_store_swizzled, memcpy_load, memcpy_load_rows, memcpy_store,
//                         memcpy_store_rows; print the seconds of each repeat
// Boxes have rows of 1 KB, or of 128 bytes where they are swizzled. memcpy_… moves as many bytes on
// the host, from 64 MB to one place of 32 KB or back: 32 KB at a time, or the rows of the swizzled
// boxes one by one, which lie 4 KB apart.
// run.py runs this and records the rates.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstring>
#include <string>

#include "common.cuh"

constexpr uint32_t kBytes = 64 << 20, kBox = 32 << 10, kBoxes = kBytes / kBox;
constexpr uint32_t kWidth = 1024;  // floats of a row of the tensor

__device__ uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// Boxes one after the other; `across` of them lie beside each other. `last` keeps a number of each.
__global__ void load_boxes(const __grid_constant__ CUtensorMap map, int width, int height,
                           int across, float* last) {
  __shared__ __align__(1024) float box[kBox / 4];
  __shared__ uint64_t barrier;
  const uint32_t to = shared_address(box), at = shared_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  for (uint32_t k = 0; k < kBoxes; ++k) {
    const int x = int(k) % across * width, y = int(k) / across * height;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(kBox)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
        "l"(&map), "r"(at), "r"(x), "r"(y)
        : "memory");
    uint32_t done = 0;
    while (!done)
      asm volatile(
          "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(at), "r"(k & 1)
          : "memory");
    last[k] = box[kBox / 4 - 1];
  }
}

__global__ void store_boxes(const __grid_constant__ CUtensorMap map, int width, int height,
                            int across) {
  __shared__ __align__(1024) float box[kBox / 4];
  for (uint32_t i = threadIdx.x; i < kBox / 4; i += blockDim.x) box[i] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  for (uint32_t k = 0; k < kBoxes; ++k) {
    const int x = int(k) % across * width, y = int(k) / across * height;
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            &map),
        "r"(shared_address(box)), "r"(x), "r"(y)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

CUtensorMap describe(float* tensor, uint32_t width, uint32_t height, bool swizzled) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &result));
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  const cuuint64_t sizes[] = {kWidth, kBytes / 4 / kWidth}, strides[] = {kWidth * 4};
  const cuuint32_t box[] = {width, height}, steps[] = {1, 1};
  CUtensorMap map;
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, tensor, sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "the driver refuses the tensor map\n");
    std::exit(4);
  }
  return map;
}

// Where a row of a swizzled box begins: boxes are 32 floats wide.
constexpr uint32_t kNarrow = 32;
size_t place_of_row(uint32_t box, uint32_t row) {
  constexpr uint32_t kAcross = kWidth / kNarrow, kHeight = kBox / 4 / kNarrow;
  return ((size_t(box / kAcross) * kHeight + row) * kWidth + box % kAcross * kNarrow) * 4;
}

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: copies NAME REPEATS\n"), 2;
  const std::string name = argv[1];
  const int repeats = std::atoi(argv[2]);
  std::vector<float> host(kBytes / 4);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 65536);
  const bool loads = name.find("load") != std::string::npos;
  if (name.rfind("memcpy", 0) == 0) {
    std::vector<char> box(kBox);
    const bool rows = name.find("rows") != std::string::npos;
    const uint32_t piece = rows ? kNarrow * 4 : kBox;
    time_launches(repeats, [&] {
      for (uint32_t k = 0; k < kBoxes; ++k) {
        for (uint32_t row = 0; row < kBox / piece; ++row) {
          char* const there = reinterpret_cast<char*>(host.data()) +
                              (rows ? place_of_row(k, row) : size_t(k) * kBox);
          char* const here = box.data() + row * piece;
          std::memcpy(loads ? here : there, loads ? there : here, piece);
        }
        asm volatile("" ::"r"(box.data()) : "memory");  // it is not left out
      }
    });
    return 0;
  }
  const bool swizzled = name.find("swizzled") != std::string::npos;
  const uint32_t width = swizzled ? kNarrow : 256, height = kBox / 4 / width;
  const int across = int(kWidth / width);
  float *tensor = nullptr, *last = nullptr;
  CHECK(cudaMalloc(&tensor, kBytes));
  CHECK(cudaMalloc(&last, kBoxes * sizeof(float)));
  CHECK(cudaMemcpy(tensor, host.data(), kBytes, cudaMemcpyHostToDevice));
  const CUtensorMap map = describe(tensor, width, height, swizzled);
  time_launches(repeats, [&] {
    if (loads) load_boxes<<<1, 1>>>(map, int(width), int(height), across, last);
    else store_boxes<<<1, 128>>>(map, int(width), int(height), across);
  });
  // The last number of each box in shared memory, or all of the tensor.
  std::vector<float> got(loads ? kBoxes : kBytes / 4);
  CHECK(cudaMemcpy(got.data(), loads ? last : tensor, got.size() * 4, cudaMemcpyDeviceToHost));
  for (uint32_t k = 0; k < got.size(); ++k) {
    const uint32_t row = (k / across + 1) * height - 1;
    const uint32_t column = k % across * width + (swizzled ? 3 : width - 1);  // piece 7 ^ 7
    const float want = loads ? host[size_t(row) * kWidth + column] : 1;
    if (got[k] != want) return std::fprintf(stderr, "%s: wrong at %u\n", argv[1], k), 1;
  }
}
