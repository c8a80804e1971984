// conv rung 08, windows: a thread slides its filters down one column of pixels, in registers.
//
// Since 05_register_blocking: a thread computes 8 pixels below each other, for up to 4 filters. It
//   loads each row of its window once and uses it for every output row that needs it; the taps of a
//   channel stay in registers. There is no shared memory and no barrier: what neighbours load, too,
//   comes from L1. Sizes of filters are constants, so that nothing is left of the loops: 288
//   products of 3 x 3 taps take 66 loads. 06 and 07 are for many channels, this one is for few.
// Stops at: the bandwidth of the memory for depthwise convolutions; f32 multiply-adds for others.
// Not for: other filters than squares of 3, 5 and 7 (05), or more than one row from output to
//   output; many channels (06, 07), each of which comes again for every few filters.
#include "device/ptx/opaque.cuh"
#include "kernels/conv/pixels.cuh"
#include "kernels/conv/times.cuh"

namespace ridge::conv::windows {

constexpr int kRows = 8;  // pixels of a thread
constexpr int kBlockThreads = 128;

struct Threads {
  int count;
  Divider by_width, by_strips, by_filters;  // columns, strips of 8 rows, blocks of filters
};

// Blocks per SM. Unasked, the compiler keeps more rows under way than pays, in up to 255 registers;
// these leave it enough for taps and sums.
template <int kSize, int kFilters>
constexpr int kBlocks = kSize == 3                    ? (kFilters == 1 ? 6 : 4)
                        : kSize == 5 && kFilters == 1 ? 4
                                                      : 3;

template <class T, int kSize, int kFilters>
__global__ void __launch_bounds__(kBlockThreads, kBlocks<kSize, kFilters>)
    conv_windows(Args a, Threads threads) {
  const int index = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
  if (index >= threads.count) return;
  const int strip_index = int(threads.by_width.quotient(index));
  const int column = index - strip_index * a.along[2].out;
  const int filter_index = int(threads.by_strips.quotient(strip_index));
  const int first_row = (strip_index - filter_index * int(threads.by_strips.divisor())) * kRows;
  const int image = int(threads.by_filters.quotient(filter_index));
  const int block = filter_index - image * int(threads.by_filters.divisor());
  const int of_group = (a.group_filters + kFilters - 1) / kFilters;
  const int group = block / of_group, first = block % of_group * kFilters;  // of the group
  const int filters = min(kFilters, a.group_filters - first);
  const int filter = group * a.group_filters + first;

  // The columns of the window. Outside of the image, its border is loaded in vain: without a branch
  // around them, the loads of all rows can be under way together.
  bool inside[kSize];
  int at[kSize];
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    const int x = a.along[2].first(column) + k * a.along[2].dilation;
    inside[k] = unsigned(x) < unsigned(a.along[2].in);
    at[k] = min(max(x, 0), a.along[2].in - 1) * int(a.x_steps.at[2]);
  }
  const int top = a.along[1].first(first_row);
  float sums[kFilters][kRows];
#pragma unroll
  for (int f = 0; f < kFilters; ++f)
#pragma unroll
    for (int r = 0; r < kRows; ++r) sums[f][r] = 0;
  const T* channel = image_of<T>(a, image, group);
  const T* w = static_cast<const T*>(a.w) + filter * a.filter_size();
#pragma unroll 1
  for (int c = 0; c < a.group_channels; ++c) {
    // Places of all inputs, kept from channel to channel, would be spilled.
    const int above = ptx::opaque(top);
    float taps[kFilters][kSize][kSize];
#pragma unroll
    for (int f = 0; f < kFilters; ++f)
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i)
        taps[f][i / kSize][i % kSize] =
            to_float(w[(f < filters ? f : 0) * a.filter_size() + i * a.w_tap]);
#pragma unroll
    for (int y = 0; y < kRows + kSize - 1; ++y) {
      const bool has_row = unsigned(above + y) < unsigned(a.along[1].in);
      const int row = min(max(above + y, 0), a.along[1].in - 1) * int(a.x_steps.at[1]);
      float x[kSize];
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const float loaded = to_float(channel[row + at[k]]);
        x[k] = has_row && inside[k] ? loaded : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const int r = y - i;
        if (r < 0 || r >= kRows) continue;
#pragma unroll
        for (int f = 0; f < kFilters; ++f)
#pragma unroll
          for (int k = 0; k < kSize; ++k) sums[f][r] += taps[f][i][k] * x[k];
      }
    }
    channel += a.x_steps.channel;
    w += a.w_channel;
  }
#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    if (f >= filters) continue;
    const float bias = bias_of<T>(a, filter + f);
    T* y = static_cast<T*>(a.y) + image * a.y_steps.batch + (filter + f) * a.y_steps.channel +
           first_row * a.y_steps.at[1] + column * a.y_steps.at[2];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r < a.along[1].out) *y = from_float<T>(sums[f][r] + bias);
      y += a.y_steps.at[1];
    }
  }
}

// As many as have their taps in the registers.
static int filters_of_thread(const Args& a) {
  const int size = a.along[1].kernel;
  return a.group_filters == 1 || size == 7 ? 1 : size == 5 ? 2 : 4;
}
static int64_t strips(const Args& a) { return (a.along[1].out + kRows - 1) / kRows; }
static int64_t filter_blocks(const Args& a) {
  const int filters = filters_of_thread(a);
  return int64_t(a.groups) * ((a.group_filters + filters - 1) / filters);
}
static int64_t count_threads(const Args& a) {
  return a.batch * filter_blocks(a) * strips(a) * a.along[2].out;
}
static Support supports(const Args& a, const DeviceInfo&) {
  const int size = a.along[1].kernel;
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.along[0].in != 1 || a.along[0].kernel != 1 || a.along[0].out != 1)
    return "slides along two dimensions";
  if (a.in_pixels() == 0) return "images have pixels";
  if (a.along[2].kernel != size || (size != 3 && size != 5 && size != 7))
    return "has filters of 3 x 3, 5 x 5 and 7 x 7";
  if (a.along[1].stride != 1 || a.along[1].dilation != 1) return "slides by one row";
  const double reach = double(a.along[1].in) * double(a.x_steps.at[1]) +
                       double(a.along[2].in) * double(a.x_steps.at[2]);
  if (!(reach < 2147483648.0)) return "counts elements of a channel in 31 bits";
  const double threads =
      double(a.batch) * double(filter_blocks(a)) * double(strips(a)) * a.along[2].out;
  return threads < double(int64_t(1) << 31) - kBlockThreads ? kSupported
                                                            : "has fewer than 2^31 threads";
}

template <class T, int kSize, int kFilters>
Status launch_windows(const Args& a, cudaStream_t stream) {
  const int64_t count = count_threads(a), most = count + kBlockThreads;
  const Threads threads = {.count = int(count),
                           .by_width = Divider(a.along[2].out, most),
                           .by_strips = Divider(strips(a), most),
                           .by_filters = Divider(filter_blocks(a), most)};
  conv_windows<T, kSize, kFilters>
      <<<unsigned((count + kBlockThreads - 1) / kBlockThreads), kBlockThreads, 0, stream>>>(
          a, threads);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const bool many = filters_of_thread(a) > 1;
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.along[1].kernel == 3)
      return many ? launch_windows<T, 3, 4>(a, stream) : launch_windows<T, 3, 1>(a, stream);
    if (a.along[1].kernel == 5)
      return many ? launch_windows<T, 5, 2>(a, stream) : launch_windows<T, 5, 1>(a, stream);
    return launch_windows<T, 7, 1>(a, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int size = a.along[1].kernel, filters = filters_of_thread(a);
  const double products = double(kRows) * size * size * filters;
  const double loads = 2.0 * (kRows + size - 1) * size + filters * size * size;
  const double thread = a.group_channels * (products + loads) + 60 + 6 * kRows * filters;
  return instructions_us(double(count_threads(a)) * thread, bytes(a), device);
}
constinit const Rung rung = {.idea = "filters slide down a column, in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::conv::windows
