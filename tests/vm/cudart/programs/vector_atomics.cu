// Vector atomics on halves: every pair of zeros, subnormals, ones, infinities and NaNs, against
// hashes of what an H200 made of them.
#include <cstdint>

#include "check.h"

namespace {

constexpr uint16_t kValues[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                0x7c01, 0x7e00, 0x7fff, 0xfe00, 0xffff, 0x7f80, 0x7f81, 0x7fc0};
constexpr int kCount = sizeof kValues / sizeof *kValues;

enum Op { kMinHalf, kMaxHalf, kMinBrain, kMaxBrain, kAddHalf, kAddBrain };
struct Case {
  const char* name;
  Op op;
  uint64_t hash;
};
constexpr Case kCases[] = {
    {"min.f16", kMinHalf, 0x6f319ff0368361d7},   {"max.f16", kMaxHalf, 0xcde841c258cd1eb7},
    {"min.bf16", kMinBrain, 0xe4f2e20b12ee113e}, {"max.bf16", kMaxBrain, 0x68e836a59bbcf6b8},
    {"add.f16", kAddHalf, 0x407aca40370da61b},   {"add.bf16", kAddBrain, 0x49e30c3d3bf76b8e}};

// One thread per pair: cells[2 i] and the one after it hold the old value.
__global__ void combine(uint16_t* cells, const uint16_t* operands, Op op) {
  uint16_t* cell = cells + 2 * threadIdx.x;
  const uint16_t v = operands[threadIdx.x];
#define RIDGE_RED(spelling) \
  asm volatile("red.global." spelling " [%0], {%1, %1};" ::"l"(cell), "h"(v) : "memory")
  switch (op) {
    case kMinHalf: RIDGE_RED("min.noftz.v2.f16"); break;
    case kMaxHalf: RIDGE_RED("max.noftz.v2.f16"); break;
    case kMinBrain: RIDGE_RED("min.noftz.v2.bf16"); break;
    case kMaxBrain: RIDGE_RED("max.noftz.v2.bf16"); break;
    case kAddHalf: RIDGE_RED("add.noftz.v2.f16"); break;
    case kAddBrain: RIDGE_RED("add.noftz.v2.bf16"); break;
  }
#undef RIDGE_RED
}

}  // namespace

int main() {
  uint16_t *cells, *operands;
  RIDGE_CUDA(cudaMallocManaged(&cells, 2 * kCount * kCount * sizeof *cells), cudaSuccess);
  RIDGE_CUDA(cudaMallocManaged(&operands, kCount * kCount * sizeof *operands), cudaSuccess);
  for (const Case& c : kCases) {
    for (int i = 0; i < kCount * kCount; ++i) {
      cells[2 * i] = cells[2 * i + 1] = kValues[i / kCount];
      operands[i] = kValues[i % kCount];
    }
    combine<<<1, kCount * kCount>>>(cells, operands, c.op);
    RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
    RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < kCount * kCount; ++i) {
      RIDGE_CHECK(cells[2 * i] == cells[2 * i + 1]);
      hash = (hash ^ cells[2 * i]) * 0x100000001b3;
    }
    if (hash != c.hash) std::printf("%s: %llx\n", c.name, static_cast<unsigned long long>(hash));
    RIDGE_CHECK(hash == c.hash);
  }
  return failures != 0;
}
