// 04_colour_pattern: a film from one launch; a third grid dimension is time.
//
// Every pixel of every frame is independent, so the whole animation is one grid: x and y are the
// picture, z is the frame. A GIF holds palette indices, so each thread also rounds its colour to
// the nearest of 256: 32 hues x 8 shades. Rounding with a threshold that differs from pixel to
// pixel (ordered dithering) lets the eye mix neighbours into the shades in between.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"
#include "common/gif.h"

constexpr int kHues = 32;
constexpr int kShades = 8;
constexpr int kBlockW = 32;
constexpr int kBlockH = 8;
constexpr int kDelay = 5;  // hundredths of a second per frame

template <typename Real>
struct Colour {
  Real hue;    // in palette steps, a ring: kHues is 0 again
  Real shade;  // in palette steps, 0 dark to kShades - 1 bright
};

// The picture at pixel (px, py) and time t, where t from 0 to 1 is once round the loop. Written
// once for both sides: float on the GPU, double where the CPU checks it.
template <typename Real>
__host__ __device__ Colour<Real> pattern(int px, int py, int width, int height, Real t) {
  const Real turn = Real(6.283185307179586);
  const Real x = Real(2 * px + 1 - width) / Real(width);  // -1 to 1, 0 in the middle
  const Real y = Real(2 * py + 1 - height) / Real(width);
  const Real radius = sqrt(x * x + y * y + Real(0.01));  // never 0: log(0) is infinite
  const Real angle = atan2(y, x) / turn;
  const Real spiral = 3 * angle + log(radius);  // 3 arms: after a full turn, hues meet again
  const Real wave = sin(turn * (2 * spiral - t)) + sin(turn * (3 * radius - 2 * t));
  const Real hue = spiral / 3 + Real(0.08) * wave + t;
  const Real shade = Real(0.55) + Real(0.2) * wave;
  return {(hue - floor(hue)) * kHues, fmin(fmax(shade, Real(0)), Real(1)) * (kShades - 1)};
}

// The 4 x 4 Bayer matrix, scaled into (0, 1): neighbours round at very different thresholds.
template <typename Real>
__host__ __device__ Real threshold(int px, int py) {
  const int fine = 2 * ((px ^ py) & 1) + (py & 1);                  // 0 to 3
  const int coarse = 2 * (((px ^ py) >> 1) & 1) + ((py >> 1) & 1);  // 0 to 3
  return (Real(4 * fine + coarse) + Real(0.5)) / 16;
}

// frames: (count, height, width) palette indices
__global__ void draw(uint8_t* frames, int width, int height, int count) {
  const int px = blockIdx.x * kBlockW + threadIdx.x;
  const int py = blockIdx.y * kBlockH + threadIdx.y;
  const int frame = blockIdx.z;
  if (px >= width || py >= height) return;
  const Colour<float> colour = pattern(px, py, width, height, float(frame) / float(count));
  const float round_up = threshold<float>(px, py);
  const int hue = int(colour.hue + round_up) % kHues;
  const int shade = min(int(colour.shade + round_up), kShades - 1);
  frames[(size_t(frame) * height + py) * width + px] = uint8_t(hue * kShades + shade);
}

std::vector<uint8_t> make_palette() {  // (256, 3)
  std::vector<uint8_t> palette;
  for (int hue = 0; hue < kHues; ++hue) {
    for (int shade = 0; shade < kShades; ++shade) {
      const double light = double(shade + 1) / kShades;
      for (int channel = 0; channel < 3; ++channel) {  // three cosines, a third of a turn apart
        const double phase = double(hue) / kHues + channel / 3.0;
        const double full = 0.55 + 0.45 * std::cos(6.283185307179586 * phase);
        palette.push_back(uint8_t(255 * std::pow(full, 1.6 - 0.9 * light) * light));
      }
    }
  }
  return palette;
}

// Is `index` what dithering makes of `want`, when it adds `round_up` and drops the fraction? That
// lands less than one step away, in the half the threshold chose. The slack is for float against
// double: where a colour lies on the boundary of two steps, both are right.
bool rounds_to(double index, double want, double round_up, double ring) {
  constexpr double kSlack = 1e-3;  // steps; float errs by about 32 steps x 1e-6
  double distance = index - (want + round_up - 0.5);
  if (ring > 0) distance -= ring * std::round(distance / ring);  // the short way round
  return is_close(distance, 0.0, 0.5 + kSlack);
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"width", 192, 1, 2048}, {"frames", 32, 1, 256}}, Files::kWritten);
  const int width = args.size(0), height = width;
  const int count = args.size(1);
  const size_t bytes = size_t(count) * height * width;

  uint8_t* device_frames = nullptr;  // (count, height, width)
  CHECK(cudaMalloc(&device_frames, bytes));
  const dim3 block(kBlockW, kBlockH);
  const dim3 grid(ceil_div(width, kBlockW), ceil_div(height, kBlockH), count);
  draw<<<grid, block>>>(device_frames, width, height, count);
  CHECK(cudaGetLastError());

  std::vector<uint8_t> frames(bytes);
  CHECK(cudaMemcpy(frames.data(), device_frames, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_frames));

  size_t i = 0;
  for (int frame = 0; frame < count; ++frame) {
    for (int py = 0; py < height; ++py) {
      for (int px = 0; px < width; ++px, ++i) {
        const Colour<double> want = pattern(px, py, width, height, double(frame) / count);
        const double round_up = threshold<double>(px, py);
        const int hue = frames[i] / kShades, shade = frames[i] % kShades;
        if (!rounds_to(hue, want.hue, round_up, kHues) ||
            !rounds_to(shade, want.shade, round_up, 0)) {
          return fail("frame %d, pixel (%d, %d): hue %d and shade %d, expected %.3f and %.3f",
                      frame, px, py, hue, shade, want.hue, want.shade);
        }
      }
    }
  }
  printf("%d frames of %d x %d pixels in one launch of %u x %u x %u blocks; all colours right\n",
         count, width, height, grid.x, grid.y, grid.z);

  const std::string path = args.path("pattern.gif");
  if (!gif::write(path, width, height, count, kDelay, make_palette().data(), frames.data())) {
    fprintf(stderr, "cannot write %s: is there such a folder?\n", path.c_str());
    return 2;
  }
  printf("look at %s: it loops every %.1f seconds\n", path.c_str(), count * kDelay / 100.0);
  return 0;
}
