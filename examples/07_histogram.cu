// 07_histogram: when many threads hit few counters, give every block counters of its own.
//
// Threads that add to the same counter must take turns. With one histogram for the whole grid, all
// threads queue at the same 256 places in global memory. Here each block counts in shared memory,
// which is near and which only its own threads touch, and adds its result to the global histogram
// once, at the end.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kBins = 256;
constexpr int kBlock = 256;
constexpr int kBlocksPerSm = 2;  // few blocks, long loops: each block pays kBins global atomics

__global__ void histogram(const uint8_t* in, int n, unsigned* bins) {
  __shared__ unsigned block_bins[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += kBlock) block_bins[bin] = 0;
  __syncthreads();  // shared memory starts with anything in it: no counting before it is cleared

  const int stride = gridDim.x * kBlock;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += stride) {
    atomicAdd(&block_bins[in[i]], 1u);
  }
  __syncthreads();  // the counts are complete

  for (int bin = threadIdx.x; bin < kBins; bin += kBlock) {
    if (block_bins[bin] > 0) atomicAdd(&bins[bin], block_bins[bin]);
  }
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 2000003, 1, 1 << 30}});
  const int n = args.size(0);

  // The sum of four dice is a bell: the middle bins are hit often, the outer ones hardly ever. An
  // even spread would hide what matters here, threads that meet at the same counter.
  std::vector<uint8_t> in(n);
  std::mt19937 random(1);
  for (uint8_t& value : in) {
    const uint32_t dice = uint32_t(random());
    value = uint8_t(((dice & 255) + (dice >> 8 & 255) + (dice >> 16 & 255) + (dice >> 24)) / 4);
  }

  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = std::min(ceil_div(n, kBlock), sms * kBlocksPerSm);

  uint8_t* device_in = nullptr;     // (n)
  unsigned* device_bins = nullptr;  // (kBins)
  CHECK(cudaMalloc(&device_in, n));
  CHECK(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  CHECK(cudaMemcpy(device_in, in.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));
  histogram<<<blocks, kBlock>>>(device_in, n, device_bins);
  CHECK(cudaGetLastError());
  std::vector<unsigned> bins(kBins);
  CHECK(cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_bins));

  std::vector<unsigned> want(kBins, 0);
  for (uint8_t value : in) ++want[value];
  for (int bin = 0; bin < kBins; ++bin) {  // whole numbers: exact, in whatever order they came
    if (bins[bin] != want[bin]) return fail("bin %d is %u, expected %u", bin, bins[bin], want[bin]);
  }

  printf("counted %d bytes into %d bins with %d blocks; every count is exact\n", n, kBins, blocks);
  constexpr int kRows = 16, kBinsPerRow = kBins / kRows, kLongestBar = 60;
  std::vector<unsigned> rows(kRows, 0);
  for (int bin = 0; bin < kBins; ++bin) rows[bin / kBinsPerRow] += bins[bin];
  const double largest = *std::max_element(rows.begin(), rows.end());
  for (int row = 0; row < kRows; ++row) {
    const std::string bar(size_t(kLongestBar * (rows[row] / largest) + 0.5), '#');
    printf("%3d to %3d %9u %s\n", row * kBinsPerRow, (row + 1) * kBinsPerRow - 1, rows[row],
           bar.c_str());
  }
  printf("global atomics: at most %d, where one histogram for all would need %d\n", blocks * kBins,
         n);
  return 0;
}
