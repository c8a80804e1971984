// transpose rung 06, tma: the copy engine moves tiles in and out; threads only turn them.
//
// Since 05_vectors: no thread computes a global address or waits for a load of its own. Boxes of
//   128-byte rows arrive swizzled in a ring of stages, several ahead. A square goes through
//   registers into a tile of the same kind, which leaves as boxes. The engine takes care of ragged
//   edges: it reads zeros outside and writes nothing there.
// Stops at: HBM. It takes only rows that start, and output rows that end, at multiples of 16 bytes.
// Not for: small matrices, where making the descriptors takes longer than the copy; and strides
//   that are not a multiple of 16 bytes (08).
#include <algorithm>

#include "device/ptx/tma.cuh"
#include "device/register_transpose.cuh"
#include "device/tensor_map.h"
#include "kernels/transpose/tiles.cuh"
#include "select/select.h"

namespace ridge::transpose::tma {

constexpr int kRowBytes = 128;                    // of a box: the span of the swizzle
constexpr int kSquares = kRowBytes / kPackBytes;  // in it
template <class T>
constexpr int kEdge = kRowBytes / int(sizeof(T));  // elements of a box's row

// A tile is kBoxes x kBoxes squares of kEdge elements.
template <class T>
struct Tile;
template <>
struct Tile<uint32_t> {
  static constexpr int kBoxes = 2, kStages = 3, kOuts = 2, kBlocksPerSm = 2;  // 80 KB per block
};
template <>
struct Tile<uint16_t> {
  static constexpr int kBoxes = 1, kStages = 3, kOuts = 2, kBlocksPerSm = 5;  // 40 KB
};
template <>
struct Tile<uint8_t> {
  static constexpr int kBoxes = 1, kStages = 3, kOuts = 2, kBlocksPerSm = 2;  // 80 KB
};
template <class T>
constexpr int kTileEdge = Tile<T>::kBoxes* kEdge<T>;
template <class T>
constexpr int kBoxBytes = kTileEdge<T>* kRowBytes;  // kBoxes of them are a tile
template <class T>
constexpr int kTileBytes = Tile<T>::kBoxes* kBoxBytes<T>;
template <class T>
constexpr int kThreads = Tile<T>::kBoxes* Tile<T>::kBoxes* kSquares* kSquares;
constexpr int kSwizzleSpan = 1024;  // bytes after which the swizzle repeats
template <class T>
constexpr int kSharedBytes = (Tile<T>::kStages + Tile<T>::kOuts) * kTileBytes<T> + kSwizzleSpan;
constexpr int kGroup = 16;  // tiles below each other
constexpr Tuned kTuned = {4.0, 0.75};

// The pack `chunk` of row `row` of a box.
__device__ __forceinline__ uint4* pack_at(char* box, int row, int chunk) {
  return reinterpret_cast<uint4*>(box + row * kRowBytes + ((chunk ^ (row & 7)) * kPackBytes));
}

template <class T>
__global__ void __launch_bounds__(kThreads<T>)
    transpose_tma(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                  Tiling tiling) {
  constexpr int P = kPackSize<T>;
  constexpr int kStages = Tile<T>::kStages, kOuts = Tile<T>::kOuts, kBoxes = Tile<T>::kBoxes;
  extern __shared__ char shared[];
  __shared__ uint64_t full[kStages];
  char* const stages = shared + (kSwizzleSpan - ptx::shared_address(shared) % kSwizzleSpan) %
                                    kSwizzleSpan;       // (kStages, kBoxes, rows, 128)
  char* const outs = stages + kStages * kTileBytes<T>;  // (kOuts, kBoxes, rows, 128)
  const int mine = int((tiling.tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  const auto tile = [&](int k) { return tile_at<kGroup>(tiling, blockIdx.x + k * gridDim.x); };
  const auto load = [&](int k) {
    const TileAt at = tile(k);
    uint64_t* const barrier = &full[k % kStages];
    ptx::mbarrier_arrive_expect(barrier, kTileBytes<T>);
#pragma unroll
    for (int b = 0; b < kBoxes; ++b)
      ptx::tma_load(stages + (k % kStages) * kTileBytes<T> + b * kBoxBytes<T>, &in,
                    int(at.across) * kTileEdge<T> + b * kEdge<T>, int(at.down) * kTileEdge<T>,
                    int(at.batch), barrier);
  };
  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(&in);
    ptx::prefetch_tensor_map(&out);
    for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(&full[s], 1);
    ptx::mbarrier_init_done();
    for (int k = 0; k < min(kStages, mine); ++k) load(k);
  }
  __syncthreads();

  // Of the 8 x 8 squares in a box's part, the lanes of a quarter warp take a diagonal: they read 8
  // different chunks and write 8 different ones.
  const int part = threadIdx.x / (kSquares * kSquares),
            in_part = threadIdx.x % (kSquares * kSquares);
  const int box_across = part % kBoxes, box_down = part / kBoxes;
  const int across = in_part % kSquares, down = across ^ (in_part / kSquares);
  for (int k = 0; k < mine; ++k) {
    const int stage = k % kStages;
    ptx::mbarrier_wait(&full[stage], uint32_t(k / kStages) & 1);
    uint4 x[P];
    char* const from = stages + stage * kTileBytes<T> + box_across * kBoxBytes<T>;
#pragma unroll
    for (int i = 0; i < P; ++i) x[i] = *pack_at(from, box_down * kEdge<T> + down * P + i, across);
    transpose_registers(x, T());

    if (threadIdx.x == 0) ptx::bulk_wait_read<kOuts - 1>();
    __syncthreads();  // the stage has been read by all, and the tile to write has left
    if (threadIdx.x == 0 && k + kStages < mine) load(k + kStages);
    char* const to = outs + (k % kOuts) * kTileBytes<T> + box_down * kBoxBytes<T>;
#pragma unroll
    for (int i = 0; i < P; ++i) *pack_at(to, box_across * kEdge<T> + across * P + i, down) = x[i];
    ptx::fence_before_bulk_store();
    __syncthreads();
    if (threadIdx.x == 0) {
      const TileAt at = tile(k);
#pragma unroll
      for (int b = 0; b < kBoxes; ++b)
        ptx::tma_store(&out, outs + (k % kOuts) * kTileBytes<T> + b * kBoxBytes<T>,
                       int(at.down) * kTileEdge<T> + b * kEdge<T>, int(at.across) * kTileEdge<T>,
                       int(at.batch));
      ptx::bulk_commit();
    }
  }
  if (threadIdx.x == 0) ptx::bulk_wait_read<0>();
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (device.major != 9) return "needs the tensor copies of Hopper";
  if (!has_raw_type(a.dtype)) return "moves elements of 1, 2 or 4 bytes";
  const auto size = int64_t(size_of(a.dtype));
  const auto whole = [&](int64_t elements) { return elements * size % kPackBytes == 0; };
  if (!is_pack_aligned(a.in) || !is_pack_aligned(a.out) || !whole(a.in_stride) ||
      !whole(a.out_stride) ||
      (a.batch > 1 && (!whole(a.in_batch_stride) || !whole(a.out_batch_stride))))
    return "rows must start at multiples of 16 bytes";
  // A tensor store of a row that ends within 16 bytes writes all 16 (seen on an H200).
  if (!whole(a.rows)) return "output rows must end at multiples of 16 bytes";
  return kSupported;
}
template <class T>
static Status launch_as(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const auto pitch = [](int64_t elements) { return uint64_t(elements) * sizeof(T); };
  // A single matrix may come with any distance to the next.
  const bool one = a.batch == 1;
  const TensorMapSpec spec = {
      .base = a.in,
      .element_bytes = sizeof(T),
      .size = {uint64_t(a.cols), uint64_t(a.rows), uint64_t(a.batch)},
      .pitch = {pitch(a.in_stride), pitch(one ? a.rows * a.in_stride : a.in_batch_stride)},
      .box = {uint32_t(kEdge<T>), uint32_t(kTileEdge<T>), 1}};
  TensorMapSpec turned = spec;
  turned.base = a.out;
  std::swap(turned.size[0], turned.size[1]);
  turned.pitch[0] = pitch(a.out_stride);
  turned.pitch[1] = pitch(one ? a.cols * a.out_stride : a.out_batch_stride);
  const auto in = make_tensor_map(spec), out = make_tensor_map(turned);
  if (!in) return in.error();
  if (!out) return out.error();
  const Tiling tiling = tiling_of(a, kTileEdge<T>, kTileEdge<T>);
  const unsigned blocks = std::min(tiling.tiles, unsigned(device.sm_count * Tile<T>::kBlocksPerSm));
  const auto kernel = transpose_tma<T>;
  (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes<T>);
  kernel<<<blocks, kThreads<T>, kSharedBytes<T>, stream>>>(*in, *out, tiling);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) { return launch_as<decltype(t)>(a, device, stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return with_raw_type(a.dtype, [&](auto t) {  // a tile costs the same where it hangs over
    using T = decltype(t);
    const double tiles = tiling_of(a, kTileEdge<T>, kTileEdge<T>).tiles;
    return streaming_us(kTuned, tiles * 2 * kTileBytes<T>, device);
  });
}
constinit const Rung rung = {.idea = "tensor copies in and out, a ring of swizzled tiles",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::transpose::tma
