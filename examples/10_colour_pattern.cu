// 10_colour_pattern: sixteen pixels per thread; the next sine of a wave costs four multiplications.
//
// The plasma of 1990s demos is a sum of four waves, taken as a place on the colour wheel. Along a
// row, a wave's phase grows by the same angle from pixel to pixel, and adding an angle is a
// rotation: (cos, sin) of the next pixel follow from those of this one. A thread that owns sixteen
// neighbours computes four sines once and rotates from there. The phase of the rings grows by an
// angle that itself grows, so for them the rotation is rotated too.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"
#include "common/gif.h"

constexpr int kBlock = 128;
constexpr int kRun = 16;       // pixels per thread
constexpr int kColours = 256;  // round the wheel: the GIF's palette
constexpr int kDelay = 5;      // hundredths of a second per frame

// What a film of this size has in common: turns of each wave from pixel to pixel.
template <typename Real>
struct Waves {
  Real across, down, diagonal, rings;  // turns per pixel; rings: per squared pixel
  Real middle_x, middle_y;
};
template <typename Real>
Waves<Real> waves_of(int width, int height) {
  const double w = width, h = height;
  return {Real(3 / w), Real(2 / h), Real(4 / (w + h)), Real(12 / (w * w + h * h)),
          Real(w / 2), Real(h / 2)};
}

// Where on the colour wheel the pixel is at time t: 0 to 1, 1 being 0 again. t from 0 to 1 is once
// round the loop. Written once for both sides: float on the GPU, double where the CPU checks it.
template <typename Real>
__host__ __device__ Real plasma(Waves<Real> k, int x, int y, Real t) {
  const Real turn = Real(6.283185307179586);
  const Real dx = x - k.middle_x, dy = y - k.middle_y;
  const Real sum = sin(turn * (x * k.across + t)) + sin(turn * (y * k.down - t)) +
                   sin(turn * ((x + y) * k.diagonal + t)) +
                   sin(turn * ((dx * dx + dy * dy) * k.rings - t));
  const Real hue = sum / 4 + t;
  return hue - floor(hue);
}

// frames: (count, height, width) palette indices. One thread per pixel.
__global__ void draw_each(uint8_t* frames, Waves<float> k, int width, int height, int count) {
  const int x = blockIdx.x * kBlock + threadIdx.x, y = blockIdx.y, frame = blockIdx.z;
  if (x >= width) return;
  const float hue = plasma(k, x, y, float(frame) / float(count));
  frames[(size_t(frame) * height + y) * width + x] = uint8_t(int(hue * kColours) % kColours);
}

// An angle as a point on the unit circle; adding angles multiplies such points.
struct Angle {
  float cos, sin;
};
__device__ Angle angle_of(float turns) {
  Angle a;
  sincospif(2 * turns, &a.sin, &a.cos);
  return a;
}
__device__ Angle operator+(Angle a, Angle b) {
  return {a.cos * b.cos - a.sin * b.sin, a.sin * b.cos + a.cos * b.sin};
}

// The same picture, kRun neighbours per thread.
__global__ void draw_rotating(uint8_t* frames, Waves<float> k, int width, int height, int count) {
  const int x0 = (blockIdx.x * kBlock + threadIdx.x) * kRun, y = blockIdx.y, frame = blockIdx.z;
  if (x0 >= width) return;
  const float t = float(frame) / float(count);
  const float dx = x0 - k.middle_x, dy = y - k.middle_y;
  Angle across = angle_of(x0 * k.across + t);
  Angle diagonal = angle_of((x0 + y) * k.diagonal + t);
  Angle rings = angle_of((dx * dx + dy * dy) * k.rings - t);
  Angle rings_step = angle_of((2 * dx + 1) * k.rings);  // (dx + 1)^2 - dx^2
  const Angle across_step = angle_of(k.across), diagonal_step = angle_of(k.diagonal);
  const Angle rings_step_step = angle_of(2 * k.rings);
  const float down = angle_of(y * k.down - t).sin;

  uint8_t* row = frames + (size_t(frame) * height + y) * width;
  for (int x = x0; x < min(x0 + kRun, width); ++x) {
    const float hue = (across.sin + down + diagonal.sin + rings.sin) / 4 + t;
    row[x] = uint8_t(int((hue - floorf(hue)) * kColours) % kColours);
    across = across + across_step;
    diagonal = diagonal + diagonal_step;
    rings = rings + rings_step;
    rings_step = rings_step + rings_step_step;
  }
}

std::vector<uint8_t> make_palette() {  // (256, 3)
  std::vector<uint8_t> palette;
  for (int colour = 0; colour < kColours; ++colour) {
    for (int channel = 0; channel < 3; ++channel) {  // three cosines, a third of a turn apart
      const double phase = double(colour) / kColours + channel / 3.0;
      palette.push_back(uint8_t(127.5 + 127.5 * std::cos(6.283185307179586 * phase)));
    }
  }
  return palette;
}

// Is `index` the step of the wheel in which `hue` lies? The slack is for float against double:
// where a hue lies on the border of two steps, both are right.
bool lies_in(int index, double hue) {
  constexpr double kSlack = 0.01;  // steps; float errs by about 256 steps x 1e-6
  double distance = hue * kColours - (index + 0.5);
  distance -= kColours * std::round(distance / kColours);  // the short way round
  return is_close(distance, 0.0, 0.5 + kSlack);
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"width", 192, 1, 2048}, {"frames", 32, 1, 256}}, Files::kWritten);
  const int width = args.size(0), height = width;
  const int count = args.size(1);
  const size_t bytes = size_t(count) * height * width;
  const Waves<float> waves = waves_of<float>(width, height);

  uint8_t* device_frames = nullptr;  // (count, height, width)
  CHECK(cudaMalloc(&device_frames, bytes));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<uint8_t> frames(bytes);
  const char* const names[] = {"a sine for every wave", "waves by rotation"};
  for (int way = 0; way < 2; ++way) {
    const int threads = way == 0 ? width : ceil_div(width, kRun);  // a row
    const dim3 grid(ceil_div(threads, kBlock), height, count);
    CHECK(cudaMemset(device_frames, 0, bytes));
    CHECK(cudaEventRecord(begin));
    if (way == 0) draw_each<<<grid, kBlock>>>(device_frames, waves, width, height, count);
    else draw_rotating<<<grid, kBlock>>>(device_frames, waves, width, height, count);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaMemcpy(frames.data(), device_frames, bytes, cudaMemcpyDeviceToHost));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));

    const Waves<double> exact = waves_of<double>(width, height);
    size_t i = 0;
    for (int frame = 0; frame < count; ++frame) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x, ++i) {
          const double hue = plasma(exact, x, y, double(frame) / count);
          if (!lies_in(frames[i], hue)) {
            return fail("%s: frame %d, pixel (%d, %d) is colour %d, expected %.3f", names[way],
                        frame, x, y, frames[i], hue * kColours);
          }
        }
      }
    }
    printf("%-22s %8.3f ms; all colours right\n", names[way], ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaFree(device_frames));

  const std::string path = args.path("plasma.gif");
  if (!gif::write(path, width, height, count, kDelay, make_palette().data(), frames.data())) {
    fprintf(stderr, "cannot write %s: is there such a folder?\n", path.c_str());
    return 2;
  }
  printf("look at %s: it loops every %.1f seconds\n", path.c_str(), count * kDelay / 100.0);
  return 0;
}
