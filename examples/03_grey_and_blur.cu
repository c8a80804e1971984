// 03_grey_and_blur: pictures want two-dimensional blocks, and neighbours want shared memory.
//
// Grey is a map: every pixel by itself. Blur is a stencil: every pixel reads the square around it,
// so the pixels of a block read nearly the same data over and over. Each block therefore first
// copies its tile of the picture, plus a border as wide as the blur (the halo), into shared memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"
#include "common/png.h"

constexpr int kBlockW = 32;  // a warp is one row of the block: its 32 pixels lie side by side
constexpr int kBlockH = 8;
constexpr int kRadius = 5;
constexpr int kWindow = 2 * kRadius + 1;
constexpr int kTileW = kBlockW + 2 * kRadius;
constexpr int kTileH = kBlockH + 2 * kRadius;

// The eye sees green brightest and blue darkest. Weights in 1/256: whole numbers, so that the GPU
// and the CPU agree to the bit.
__host__ __device__ uint8_t luminance(int r, int g, int b) {
  return uint8_t((77 * r + 150 * g + 29 * b + 128) / 256);
}

__host__ __device__ uint8_t mean_of_window(int sum) {
  constexpr int kArea = kWindow * kWindow;
  return uint8_t((sum + kArea / 2) / kArea);
}

__host__ __device__ int clamp_to(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

// rgb: (height, width, 3), grey: (height, width)
__global__ void to_grey(const uint8_t* rgb, uint8_t* grey, int width, int height) {
  const int x = blockIdx.x * kBlockW + threadIdx.x;
  const int y = blockIdx.y * kBlockH + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  grey[i] = luminance(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

// grey, blurred: (height, width)
__global__ void box_blur(const uint8_t* grey, uint8_t* blurred, int width, int height) {
  __shared__ uint8_t tile[kTileH][kTileW];
  const int left = blockIdx.x * kBlockW - kRadius;  // where the tile lies in the picture
  const int top = blockIdx.y * kBlockH - kRadius;

  // The tile has more pixels than the block has threads: every thread fetches several. Outside the
  // picture the nearest pixel of its edge stands in.
  for (int ty = threadIdx.y; ty < kTileH; ty += kBlockH) {
    for (int tx = threadIdx.x; tx < kTileW; tx += kBlockW) {
      tile[ty][tx] = grey[clamp_to(top + ty, height) * width + clamp_to(left + tx, width)];
    }
  }
  __syncthreads();  // nobody reads the tile before everybody has written their part

  // Threads outside the picture leave only now: their help was needed above, and a thread that has
  // left cannot come to the barrier.
  const int x = blockIdx.x * kBlockW + threadIdx.x;
  const int y = blockIdx.y * kBlockH + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int dy = 0; dy < kWindow; ++dy) {
    for (int dx = 0; dx < kWindow; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
  }
  blurred[y * width + x] = mean_of_window(sum);
}

// The test picture: an evening sky with stars and a low sun, and five mountain ridges, each nearer
// and darker. Stars and ridge lines are sharp, so that a blur shows.
std::vector<uint8_t> draw_ridges(int width, int height) {
  constexpr int kRidges = 5;
  std::vector<uint8_t> rgb(size_t(width) * height * 3);
  for (int py = 0; py < height; ++py) {
    for (int px = 0; px < width; ++px) {
      const double x = double(px) / width, y = double(py) / height;  // in [0, 1)
      double r = 40 + 215 * y, g = 30 + 130 * y, b = 90 + 40 * y;    // dusk, red near the horizon
      uint32_t hash = uint32_t(px) * 73856093u + uint32_t(py) * 19349663u + 1u;
      hash = (hash ^ hash >> 15) * 2654435761u;
      if (y < 0.4 && hash >> 20 < 8) r = g = b = 255;  // a star for 8 pixels in 4096
      if (std::hypot(x - 0.68, (y - 0.42) * height / width) < 0.07) r = 255, g = 226, b = 150;
      for (int i = 0; i < kRidges; ++i) {
        const double s = x * (3 + i) + 1.7 * i;
        const double skyline = 0.50 + 0.10 * i - 0.10 * std::fabs(std::sin(2.1 * s)) -
                               0.03 * std::sin(7.3 * s) - 0.008 * std::sin(31 * s);
        const double light = 1 - double(i) / kRidges;
        if (y > skyline) r = 20 + 130 * light, g = 22 + 75 * light, b = 48 + 85 * light;
      }
      uint8_t* pixel = &rgb[(size_t(py) * width + px) * 3];
      pixel[0] = uint8_t(r), pixel[1] = uint8_t(g), pixel[2] = uint8_t(b);
    }
  }
  return rgb;
}

// The blur once more, pixel by pixel, straight from its definition.
uint8_t blur_on_cpu(const std::vector<uint8_t>& grey, int width, int height, int x, int y) {
  int sum = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      sum += grey[size_t(clamp_to(y + dy, height)) * width + clamp_to(x + dx, width)];
    }
  }
  return mean_of_window(sum);
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"width", 512, 1, 8192}}, Files::kWritten);
  const int width = args.size(0);
  const int height = std::max(1, width * 5 / 8);
  const size_t pixels = size_t(width) * height;
  const std::vector<uint8_t> rgb = draw_ridges(width, height);  // (height, width, 3)
  std::vector<uint8_t> grey(pixels), blurred(pixels);           // (height, width)

  uint8_t *device_rgb = nullptr, *device_grey = nullptr, *device_blurred = nullptr;
  CHECK(cudaMalloc(&device_rgb, rgb.size()));
  CHECK(cudaMalloc(&device_grey, pixels));
  CHECK(cudaMalloc(&device_blurred, pixels));
  CHECK(cudaMemcpy(device_rgb, rgb.data(), rgb.size(), cudaMemcpyHostToDevice));

  const dim3 block(kBlockW, kBlockH);
  const dim3 grid(ceil_div(width, kBlockW), ceil_div(height, kBlockH));
  to_grey<<<grid, block>>>(device_rgb, device_grey, width, height);
  CHECK(cudaGetLastError());
  box_blur<<<grid, block>>>(device_grey, device_blurred, width, height);  // waits for to_grey
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(grey.data(), device_grey, pixels, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(blurred.data(), device_blurred, pixels, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_rgb));
  CHECK(cudaFree(device_grey));
  CHECK(cudaFree(device_blurred));

  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const size_t i = size_t(y) * width + x;
      const int want_grey = luminance(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
      const int want_blur = blur_on_cpu(grey, width, height, x, y);
      if (grey[i] != want_grey) {
        return fail("grey pixel (%d, %d) is %d, expected %d", x, y, grey[i], want_grey);
      }
      if (blurred[i] != want_blur) {
        return fail("blurred pixel (%d, %d) is %d, expected %d", x, y, blurred[i], want_blur);
      }
    }
  }
  printf("%d x %d pixels made grey and blurred over %d x %d; every pixel is exact\n", width, height,
         kWindow, kWindow);
  printf("a block reads %d pixels into shared memory, where without it its threads would read %d\n",
         kTileW * kTileH, kBlockW * kBlockH * kWindow * kWindow);

  if (!png::write(args.path("colour.png"), width, height, 3, rgb.data()) ||
      !png::write(args.path("grey.png"), width, height, 1, grey.data()) ||
      !png::write(args.path("blur.png"), width, height, 1, blurred.data())) {
    fprintf(stderr, "cannot write %s: is there such a folder?\n", args.path("*.png").c_str());
    return 2;
  }
  printf("look at %s, grey.png and blur.png\n", args.path("colour.png").c_str());
  return 0;
}
