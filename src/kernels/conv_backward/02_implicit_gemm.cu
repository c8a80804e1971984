// conv_backward rung 02, implicit_gemm: products of matrices that nobody ever stores.
//
// Since 01_naive: 64 x 128 results per block, 8 levels at a time in shared memory, as forward
//   (conv/06_implicit_gemm). Of dx, channels are the rows, inputs the columns, and (tap, filter)
//   what is summed over. Of dw, filters are the rows, (channel, tap) the columns, and the pixels of
//   all images what is summed over. As there are few results and many pixels, several blocks share
//   the pixels; each leaves its sums in the workspace, and a second kernel adds them in order.
// Stops at: f32 multiply-adds. Of dx with a stride, most of what is gathered is zeros.
// Not for: few channels per group, which leave rows or columns empty; 16-bit numbers on tensor
//   cores, which this rung does not use.
#include <cmath>

#include "core/align.h"
#include "kernels/conv/pixels.cuh"
#include "kernels/conv/times.cuh"
#include "kernels/conv_backward/gather.cuh"

namespace ridge::conv_backward::implicit_gemm {

constexpr int kRows = 64, kColumns = 128, kDepth = 8;  // of a block's step
constexpr int kThreadRows = 8, kThreadColumns = 4;
constexpr int kOfRows = kRows * kDepth / kThreads, kOfColumns = kColumns * kDepth / kThreads;
constexpr int kPitch = kRows + 4;           // so that a warp's rows go to different banks
constexpr int kColumnPitch = kColumns + 4;  // the same for its columns
constexpr int kMostParts = 64;              // blocks that share the pixels of dw

// Which results a block has.
struct Block {
  int group, row, column, part;
};
__device__ __forceinline__ Block block_of(int row_blocks) {
  return {int(blockIdx.y) / row_blocks, int(blockIdx.y) % row_blocks * kRows,
          int(blockIdx.x) * kColumns, int(blockIdx.z)};
}

// sums += rows x columns. fetch(step, a, b) gives what this thread brings of a step: kOfRows levels
// of its row, and kOfColumns levels of its column.
template <class Fetch>
__device__ __forceinline__ void multiply(int steps, Fetch fetch,
                                         float (&sums)[kThreadRows][kThreadColumns]) {
  __shared__ __align__(16) float rows[2][kDepth][kPitch];
  __shared__ __align__(16) float columns[2][kDepth][kColumnPitch];
  const int row = int(threadIdx.x) / (kDepth / kOfRows),
            row_level = int(threadIdx.x) % (kDepth / kOfRows) * kOfRows;
  const int column = int(threadIdx.x) % kColumns, level = int(threadIdx.x) / kColumns * kOfColumns;
  const int lane = int(threadIdx.x) % 32, own = int(threadIdx.x) / 32 * kThreadRows;
  float of_row[kOfRows], of_column[kOfColumns];
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kOfRows; ++i) rows[buffer][row_level + i][row] = of_row[i];
#pragma unroll
    for (int i = 0; i < kOfColumns; ++i) columns[buffer][level + i][column] = of_column[i];
  };
  if (steps > 0) {
    fetch(0, of_row, of_column);
    keep(0);
  }
  for (int s = 0; s < steps; ++s) {
    const int buffer = s % 2;
    __syncthreads();  // this buffer is full, and the other one was read
    if (s + 1 < steps) fetch(s + 1, of_row, of_column);
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float b[kThreadColumns];
#pragma unroll
      for (int c = 0; c < kThreadColumns; ++c) b[c] = columns[buffer][k][lane + 32 * c];
#pragma unroll
      for (int r = 0; r < kThreadRows; ++r)
#pragma unroll
        for (int c = 0; c < kThreadColumns; ++c) sums[r][c] += rows[buffer][k][own + r] * b[c];
    }
    if (s + 1 < steps) keep(1 - buffer);
  }
}

// --- dx ---

template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    conv_backward_data(Args a, conv::Pixels inputs, int row_blocks) {
  const Block block = block_of(row_blocks);
  const conv::Direction* const along = a.at.along;
  const int filters = a.at.group_filters, first_filter = block.group * filters;
  const int channel = block.row + int(threadIdx.x) / (kDepth / kOfRows);
  const int row_level = int(threadIdx.x) % (kDepth / kOfRows) * kOfRows;
  const int index = block.column + int(threadIdx.x) % kColumns;
  const int level = int(threadIdx.x) / kColumns * kOfColumns;
  const conv::Pixels::At mine = inputs.at(min(index, inputs.count - 1));
  const int per_tap = (filters + kDepth - 1) / kDepth;
  float sums[kThreadRows][kThreadColumns] = {};
  const auto fetch = [&](int step, float(&w)[kOfRows], float(&dy)[kOfColumns]) {
    const int tap = step / per_tap, from = step % per_tap * kDepth;
    const int row = tap / along[2].kernel;
    const int taps[] = {row / along[1].kernel, row % along[1].kernel, tap % along[2].kernel};
    int out[kDirections];
    bool inside = index < inputs.count;
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      out[d] = output_of(along[d], mine.pixel.out[d], taps[d]);
      inside = inside && out[d] >= 0;
    }
#pragma unroll
    for (int i = 0; i < kOfRows; ++i) {
      const int f = from + row_level + i;
      w[i] =
          f < filters && channel < a.at.group_channels
              ? to_float(static_cast<const T*>(a.at.w)[(first_filter + f) * a.at.filter_size() +
                                                       channel * a.at.w_channel + tap * a.at.w_tap])
              : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kOfColumns; ++i) {
      const int f = from + level + i;
      dy[i] = inside && f < filters
                  ? to_float(dy_of<T>(a, mine.image, first_filter + f)[offset(a.at.y_steps, out)])
                  : 0.0f;
    }
  };
  multiply(per_tap * a.at.taps(), fetch, sums);
  const int lane = int(threadIdx.x) % 32, own = int(threadIdx.x) / 32 * kThreadRows;
#pragma unroll
  for (int c = 0; c < kThreadColumns; ++c) {
    const int column = block.column + lane + 32 * c;
    if (column >= inputs.count) continue;
    const conv::Pixels::At at = inputs.at(column);
#pragma unroll
    for (int r = 0; r < kThreadRows; ++r) {
      const int of_group = block.row + own + r;
      if (of_group >= a.at.group_channels) continue;
      const int global = block.group * a.at.group_channels + of_group;
      static_cast<T*>(a.dx)[at.image * a.at.x_steps.batch + global * a.at.x_steps.channel +
                            offset(a.at.x_steps, at.pixel.out)] = from_float<T>(sums[r][c]);
    }
  }
}

// --- dw ---

// Part p of the sums goes to `parts` + p * weights; of a single part, that is dw itself.
template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    conv_backward_weights(Args a, conv::Pixels pixels, int row_blocks, int steps_of_part,
                          float* parts) {
  const Block block = block_of(row_blocks);
  const conv::Direction* const along = a.at.along;
  const int size = int(a.at.filter_size());
  const int f = block.row + int(threadIdx.x) / (kDepth / kOfRows);
  const int row_level = int(threadIdx.x) % (kDepth / kOfRows) * kOfRows;
  const int column = block.column + int(threadIdx.x) % kColumns;
  const int level = int(threadIdx.x) / kColumns * kOfColumns;
  const int channel = min(column, size - 1) / a.at.taps(),
            tap = min(column, size - 1) % a.at.taps();
  const int row = tap / along[2].kernel;
  const int taps[] = {row / along[1].kernel, row % along[1].kernel, tap % along[2].kernel};
  const int all = (pixels.count + kDepth - 1) / kDepth, first = block.part * steps_of_part;
  float sums[kThreadRows][kThreadColumns] = {};
  const auto fetch = [&](int step, float(&dy)[kOfRows], float(&x)[kOfColumns]) {
    const int from = (first + step) * kDepth;
#pragma unroll
    for (int i = 0; i < kOfRows; ++i) {
      const int index = from + row_level + i;
      const conv::Pixels::At at = pixels.at(min(index, pixels.count - 1));
      dy[i] = index < pixels.count && f < a.at.group_filters
                  ? to_float(dy_of<T>(
                        a, at.image,
                        block.group * a.at.group_filters + f)[offset(a.at.y_steps, at.pixel.out)])
                  : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kOfColumns; ++i) {
      const int index = from + level + i;
      const conv::Pixels::At at = pixels.at(min(index, pixels.count - 1));
      const T* const image = conv::image_of<T>(a.at, at.image, block.group);
      int in[kDirections];
#pragma unroll
      for (int d = 0; d < kDirections; ++d)
        in[d] = along[d].first(at.pixel.out[d]) + taps[d] * along[d].dilation;
      x[i] = index < pixels.count && column < size
                 ? conv::input_at(a.at, image + channel * a.at.x_steps.channel, in[0], in[1], in[2])
                 : 0.0f;
    }
  };
  multiply(max(min(steps_of_part, all - first), 0), fetch, sums);
  const int lane = int(threadIdx.x) % 32, own = int(threadIdx.x) / 32 * kThreadRows;
  float* const to = parts + int64_t(block.part) * a.at.filters() * size;
#pragma unroll
  for (int r = 0; r < kThreadRows; ++r) {
    if (block.row + own + r >= a.at.group_filters) continue;
    const int64_t filter = int64_t(block.group) * a.at.group_filters + block.row + own + r;
#pragma unroll
    for (int c = 0; c < kThreadColumns; ++c) {
      const int of_filter = block.column + lane + 32 * c;
      if (of_filter < size) to[filter * size + of_filter] = sums[r][c];
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    conv_backward_add_parts(const float* parts, float* dw, int64_t count, int many) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  float sum = parts[i];
  for (int part = 1; part < many; ++part) sum += parts[part * count + i];
  dw[i] = sum;
}

// --- Launches ---

struct Plan {
  int64_t row_blocks, column_blocks, parts = 1, steps_of_part = 0;
};
static Plan plan_of(const Args& a, const DeviceInfo& device) {
  if (!a.weights)
    return {.row_blocks = ceil_div(int64_t(a.at.group_channels), kRows),
            .column_blocks = ceil_div(a.at.batch * a.at.in_pixels(), kColumns)};
  Plan plan = {.row_blocks = ceil_div(int64_t(a.at.group_filters), kRows),
               .column_blocks = ceil_div(a.at.filter_size(), kColumns)};
  const int64_t steps = std::max<int64_t>(ceil_div(conv::count_pixels(a.at), kDepth), 1);
  const int64_t blocks = std::max<int64_t>(plan.row_blocks * plan.column_blocks * a.at.groups, 1);
  // Two blocks per SM, but at least 64 steps for each.
  const int64_t wanted = std::min(ceil_div(int64_t(device.sm_count) * 2, blocks), steps / 64);
  plan.parts = std::clamp<int64_t>(wanted, 1, kMostParts);
  plan.steps_of_part = ceil_div(steps, plan.parts);
  return plan;
}
static int64_t weights(const Args& a) { return a.at.filters() * a.at.filter_size(); }
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const Plan plan = plan_of(a, device);
  return a.weights && plan.parts > 1 ? size_t(plan.parts) * size_t(weights(a)) * sizeof(float) : 0;
}
static Support supports(const Args& a, const DeviceInfo& device) {
  constexpr int64_t kMost = int64_t(1) << 31;
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (conv::count_pixels(a.at) >= kMost || a.at.batch * a.at.in_pixels() >= kMost ||
      a.at.filter_size() >= kMost / 2 ||
      int64_t(a.at.taps()) * ceil_div(int64_t(a.at.group_filters), kDepth) >= kMost)
    return "counts fewer than 2^31 pixels and products of a filter";
  if (plan_of(a, device).row_blocks * a.at.groups > 65535)
    return "has at most 65535 blocks of rows";
  return kSupported;
}
template <class T>
Status launch_all(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Plan plan = plan_of(a, device);
  const dim3 grid(unsigned(plan.column_blocks), unsigned(plan.row_blocks * a.at.groups),
                  unsigned(plan.parts));
  if (!a.weights) {
    conv::Args inputs = a.at;
    for (conv::Direction& d : inputs.along) d.out = d.in;
    conv_backward_data<T>
        <<<grid, kThreads, 0, stream>>>(a, conv::pixels_of(inputs), int(plan.row_blocks));
    return launch_status();
  }
  const int64_t count = weights(a);
  if (count > 0) {
    conv::Args outputs = a.at;
    if (conv::count_pixels(a.at) == 0)  // nothing to add up, and nothing to divide by
      for (conv::Direction& d : outputs.along) d.out = 1;
    conv::Pixels pixels = conv::pixels_of(outputs);
    pixels.count = int(conv::count_pixels(a.at));
    float* const parts = plan.parts > 1 ? static_cast<float*>(a.workspace) : a.dw;
    conv_backward_weights<T><<<grid, kThreads, 0, stream>>>(a, pixels, int(plan.row_blocks),
                                                            int(plan.steps_of_part), parts);
    if (plan.parts > 1)
      conv_backward_add_parts<<<unsigned(ceil_div(count, kThreads)), kThreads, 0, stream>>>(
          parts, a.dw, count, int(plan.parts));
  }
  launch_bias<T>(a, stream);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype,
                         [&](auto t) { return launch_all<decltype(t)>(a, device, stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Plan plan = plan_of(a, device);
  const double blocks = double(plan.row_blocks) * double(plan.column_blocks) * a.at.groups;
  const double steps = a.weights ? std::ceil(double(conv::count_pixels(a.at)) / kDepth)
                                 : std::ceil(double(a.at.group_filters) / kDepth) * a.at.taps();
  return conv::instructions_us(blocks * kThreads * steps * (kDepth * 38 + 150), conv::bytes(a.at),
                               device);
}
constinit const Rung rung = {.idea = "gathered products of matrices, pixels shared out for dw",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::conv_backward::implicit_gemm
