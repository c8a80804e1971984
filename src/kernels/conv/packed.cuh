// Images and filters with their channels last, in packs of 8, so that one asynchronous copy of 16
// bytes brings 8 levels of a product. Tensors that do not lie so are copied to the workspace first;
// channels beyond a group's last one are zeros there.
#pragma once

#include "core/align.h"
#include "kernels/conv/pixels.cuh"

namespace ridge::conv {

constexpr int kChunk = 8;  // channels of 16 bits in 16 bytes

// What the product reads. Chunk `q` of a filter has 8 channels of tap q / chunks.
struct Packed {
  const void* x;
  const void* w;
  int64_t image, group, at[kDirections];  // steps of x, in elements
  int chunks;                             // of a group's channels
  bool has_x, has_w;                      // they lie so without a copy

  __host__ __device__ int64_t filter_step(const Args& a) const {
    return int64_t(a.taps()) * chunks * kChunk;
  }
};

inline int64_t packed_x_elements(const Args& a) {
  return a.batch * a.in_pixels() * a.groups * round_up(int64_t(a.group_channels), kChunk);
}
inline int64_t packed_w_elements(const Args& a) {
  return int64_t(a.filters()) * a.taps() * round_up(int64_t(a.group_channels), kChunk);
}

inline Packed packed_of(const Args& a) {
  const auto is_chunk = [](int64_t elements) { return elements % kChunk == 0; };
  const bool even = is_chunk(a.group_channels);
  Packed p = {.x = a.x,
              .w = a.w,
              .image = a.x_steps.batch,
              .group = a.group_channels,
              .at = {a.x_steps.at[0], a.x_steps.at[1], a.x_steps.at[2]},
              .chunks = int(ceil_div(int64_t(a.group_channels), kChunk)),
              .has_x = even && a.x_steps.channel == 1 && is_chunk(a.x_steps.batch) &&
                       is_chunk(a.x_steps.at[0]) && is_chunk(a.x_steps.at[1]) &&
                       is_chunk(a.x_steps.at[2]) && is_pack_aligned(a.x),
              .has_w = even && (a.w_channel == 1 || a.group_channels == 1) &&
                       (a.w_tap == a.group_channels || a.taps() == 1) && is_pack_aligned(a.w)};
  char* free = static_cast<char*>(a.workspace);
  if (!p.has_x) {
    p.x = free;
    p.group = int64_t(p.chunks) * kChunk;
    p.at[2] = p.group * a.groups;
    p.at[1] = p.at[2] * a.along[2].in;
    p.at[0] = p.at[1] * a.along[1].in;
    p.image = p.at[0] * a.along[0].in;
    free += packed_x_elements(a) * 2;
  }
  if (!p.has_w) p.w = free;
  return p;
}
inline size_t packed_bytes(const Args& a) {
  const Packed p = packed_of(a);
  return size_t(p.has_x ? 0 : 2 * packed_x_elements(a)) +
         size_t(p.has_w ? 0 : 2 * packed_w_elements(a));
}

// From (outer, channels, pixels) with any steps to (outer, pixels, groups, chunks of 8 channels).
struct Repack {
  const void* from;
  void* to;
  int outer, groups, channels;  // of a group
  int pixels;
  int64_t outer_step, channel_step, at[kDirections];
  Divider by_width, by_height;
};

constexpr int kRepackPixels = 32, kRepackChunks = kThreads / kRepackPixels;

// A warp reads one channel of 32 pixels after another; the warps of a block write chunks that lie
// side by side.
template <class T>
__global__ void __launch_bounds__(kThreads) conv_repack(Repack r) {
  const int pixel = int(blockIdx.x) * kRepackPixels + int(threadIdx.x) % kRepackPixels;
  const int chunk = int(blockIdx.y) * kRepackChunks + int(threadIdx.x) / kRepackPixels;
  const int of_group = (r.channels + kChunk - 1) / kChunk;
  if (pixel >= r.pixels || chunk >= r.groups * of_group) return;
  const int group = chunk / of_group, first = chunk % of_group * kChunk;
  const int row = int(r.by_width.quotient(pixel)), plane = int(r.by_height.quotient(row));
  const int64_t place = plane * r.at[0] + (row - plane * int(r.by_height.divisor())) * r.at[1] +
                        (pixel - row * int(r.by_width.divisor())) * r.at[2] +
                        (int64_t(group) * r.channels + first) * r.channel_step;
  for (int outer = int(blockIdx.z); outer < r.outer; outer += int(gridDim.z)) {
    const T* const from = static_cast<const T*>(r.from) + outer * r.outer_step + place;
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < kChunk; ++i)
      pack[i] = first + i < r.channels ? from[i * r.channel_step] : T(0.0f);
    T* const to = static_cast<T*>(r.to) +
                  ((int64_t(outer) * r.pixels + pixel) * r.groups * of_group + chunk) * kChunk;
    store_pack(to, pack);
  }
}

template <class T>
void launch_repack(const Repack& r, cudaStream_t stream) {
  const int64_t chunks = ceil_div(int64_t(r.channels), kChunk) * r.groups;
  if (chunks * r.outer * r.pixels == 0) return;
  const dim3 grid(unsigned(ceil_div(int64_t(r.pixels), kRepackPixels)),
                  unsigned(ceil_div(chunks, kRepackChunks)), unsigned(std::min(r.outer, 65535)));
  conv_repack<T><<<grid, kThreads, 0, stream>>>(r);
}

// Copies what does not lie as `p` says.
template <class T>
void repack(const Args& a, const Packed& p, cudaStream_t stream) {
  if (!p.has_x && a.in_pixels() > 0)  // outputs may see nothing but padding
    launch_repack<T>({.from = a.x,
                      .to = const_cast<void*>(p.x),
                      .outer = a.batch,
                      .groups = a.groups,
                      .channels = a.group_channels,
                      .pixels = int(a.in_pixels()),
                      .outer_step = a.x_steps.batch,
                      .channel_step = a.x_steps.channel,
                      .at = {a.x_steps.at[0], a.x_steps.at[1], a.x_steps.at[2]},
                      .by_width = Divider(a.along[2].in, a.in_pixels() + 1),
                      .by_height = Divider(a.along[1].in, a.in_pixels() + 1)},
                     stream);
  if (!p.has_w)
    launch_repack<T>({.from = a.w,
                      .to = const_cast<void*>(p.w),
                      .outer = a.filters(),
                      .groups = 1,
                      .channels = a.group_channels,
                      .pixels = a.taps(),
                      .outer_step = a.filter_size(),
                      .channel_step = a.w_channel,
                      .at = {0, 0, a.w_tap},
                      .by_width = Divider(a.taps(), int64_t(a.taps()) + 1),
                      .by_height = Divider(1, 2)},
                     stream);
}

}  // namespace ridge::conv
