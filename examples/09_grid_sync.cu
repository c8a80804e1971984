// 09_grid_sync: a barrier for the whole grid, so that a loop over time lives inside one launch.
//
// A metal plate, hot along its top edge: in each step every cell becomes the mean of its four
// neighbours. No cell may take step t + 1 before its neighbours have taken step t, and they may
// belong to another block. The usual barrier between blocks is the end of a launch; a cooperative
// launch offers grid.sync() instead. It has a price: all blocks must be on the device at once, or
// those that wait would keep out those they wait for. So the grid is sized by asking the device.
#include <cooperative_groups.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "common/args.h"
#include "common/check.h"

namespace cg = cooperative_groups;

constexpr int kBlock = 256;
constexpr float kHot = 100.0f;

// now, next: (n, n). The last step's result is in the second buffer after an odd number of steps.
// The pointers must not be __restrict__: other blocks write what this one reads, and data promised
// to be read-only may be served stale, from a cache.
__global__ void heat(float* now, float* next, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  const int inner = n - 2;  // the edges keep their temperature
  for (int step = 0; step < steps; ++step) {
    // There may be fewer threads than cells: each takes every grid.size()-th one.
    for (int i = int(grid.thread_rank()); i < inner * inner; i += int(grid.size())) {
      const int cell = (1 + i / inner) * n + 1 + i % inner;
      next[cell] = 0.25f * ((now[cell - 1] + now[cell + 1]) + (now[cell - n] + now[cell + n]));
    }
    grid.sync();  // everybody has written `next`, and everybody is done reading `now`

    float* const done = now;  // each thread swaps its own copies of the pointers
    now = next;
    next = done;
  }
}

template <typename Real>
std::vector<Real> cold_plate_with_hot_top(int n) {
  std::vector<Real> plate(size_t(n) * n, Real(0));
  std::fill(plate.begin(), plate.begin() + n, Real(kHot));
  return plate;
}

void print_plate(const std::vector<float>& plate, int n) {
  constexpr char kRamp[] = " .:-=+*#%@";  // cold to hot
  constexpr int kColumns = 48, kRows = 12;
  for (int row = 0; row < kRows; ++row) {
    printf("  ");
    for (int column = 0; column < kColumns; ++column) {
      const float t = plate[size_t(row * n / kRows) * n + column * n / kColumns];
      putchar(kRamp[std::clamp(int(t / kHot * 10.0f), 0, 9)]);
    }
    putchar('\n');
  }
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 50, 3, 16384}, {"steps", 1000, 1, 1000000}});
  int n = args.size(0), steps = args.size(1);

  int cooperative = 0, sms = 0, blocks_per_sm = 0;
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, heat, kBlock, 0));
  if (!cooperative) {
    fprintf(stderr, "this device has no cooperative launches\n");
    return 4;
  }
  const int resident = sms * blocks_per_sm;  // more blocks than this would never meet
  const int blocks = std::min(resident, ceil_div((n - 2) * (n - 2), kBlock));

  std::vector<float> plate = cold_plate_with_hot_top<float>(n);  // (n, n)
  const size_t bytes = plate.size() * sizeof(float);
  float *now = nullptr, *next = nullptr;
  CHECK(cudaMalloc(&now, bytes));
  CHECK(cudaMalloc(&next, bytes));
  CHECK(cudaMemcpy(now, plate.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(next, plate.data(), bytes, cudaMemcpyHostToDevice));  // both need the edges

  void* arguments[] = {&now, &next, &n, &steps};  // what <<<>>> would collect for us
  CHECK(cudaLaunchCooperativeKernel(heat, dim3(blocks), dim3(kBlock), arguments));
  CHECK(cudaMemcpy(plate.data(), steps % 2 == 1 ? next : now, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(now));
  CHECK(cudaFree(next));

  std::vector<double> want = cold_plate_with_hot_top<double>(n), before = want;
  for (int step = 0; step < steps; ++step) {
    std::swap(before, want);
    for (int y = 1; y < n - 1; ++y) {
      for (int x = 1; x < n - 1; ++x) {
        const size_t cell = size_t(y) * n + x;
        want[cell] =
            0.25 * (before[cell - 1] + before[cell + 1] + before[cell - n] + before[cell + n]);
      }
    }
  }
  // A step rounds on two levels of additions, and its mean never enlarges errors made before.
  const double tolerance = steps * 2 * std::ldexp(1.0, -24) * kHot;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const size_t cell = size_t(y) * n + x;
      if (!is_close(plate[cell], want[cell], tolerance)) {
        return fail("cell (%d, %d) is %.9g, expected %.9g", x, y, plate[cell], want[cell]);
      }
    }
  }
  printf("a %d x %d plate, hot along the top, after %d steps in one launch:\n", n, n, steps);
  print_plate(plate, n);
  printf("%d blocks of %d threads met %d times; the device can hold %d such blocks at once\n",
         blocks, kBlock, steps, resident);
  printf("every cell is right to %.1g degrees\n", tolerance);
  return 0;
}
