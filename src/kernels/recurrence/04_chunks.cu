// recurrence rung 04, chunks: chains are cut into chunks, which all SMs work on at the same time.
//
// Since 03_block_scan: a first launch makes one step of each chunk, a second does the steps of a
//   chain's chunks one after the other, and a third does each chunk from the h that it starts
//   with. Where the steps of a chain are neighbours, a block has a chunk; otherwise a thread has
//   one, and its neighbours have those of the neighbouring chains. The grouping is fixed, so
//   results are the same in every run.
// Stops at: HBM: the steps are read twice.
// Not for: so many chains that every SM is busy without chunks: there one read is enough.
#include <algorithm>

#include "kernels/recurrence/tile.cuh"
#include "select/select.h"

namespace ridge::recurrence::chunks {

constexpr Tuned kTuned = {8.0, 0.70};  // modelled; to be replaced by a rate measured on an H200
constexpr int kThreads = 128;          // of a launch with one thread per chunk
constexpr int kUnderWay = 8;           // steps that such a thread loads at a time

// Chunks of a chain, and the steps of each.
struct Chunks {
  int64_t length, count;
  Chunks(const Args& a, const DeviceInfo& device) {
    const bool by_blocks = a.inner == 1;
    const int64_t least = by_blocks ? kTile : 4 * kUnderWay;
    const int64_t places =
        int64_t(device.sm_count) * device.threads_per_sm / (by_blocks ? kTileThreads : 1);
    const int64_t wanted = std::max<int64_t>(places / std::max<int64_t>(a.rows(), 1), 1);
    length = std::max((a.length + wanted - 1) / wanted, least);
    length = (length + least - 1) / least * least;
    count = std::max<int64_t>((a.length + length - 1) / length, 1);
  }
};

// One block per chunk.
template <class Chain>
__global__ void __launch_bounds__(kTileThreads)
    chunk_steps_by_blocks(Args args, int count, int64_t length, Step* to) {
  __shared__ Step shared[2][kTileWarps];
  const Chain chain(args, blockIdx.x / unsigned(count));
  const int64_t begin = int64_t(blockIdx.x % unsigned(count)) * length;
  const int64_t end = min(begin + length, args.length);
  Step all;
  int turn = 0;
  for (int64_t first = begin; first < end; first += kTile, turn ^= 1)
    all =
        then(all, steps::warps_before(steps::load_tile(chain, first, end).warp, shared[turn]).all);
  if (threadIdx.x == 0) to[blockIdx.x] = all;
}
template <class Chain>
__global__ void __launch_bounds__(kTileThreads)
    do_chunks_by_blocks(Args args, int count, int64_t length, const Step* starts) {
  __shared__ Step shared[2][kTileWarps];
  const Chain chain(args, blockIdx.x / unsigned(count));
  const int64_t begin = int64_t(blockIdx.x % unsigned(count)) * length;
  const int64_t end = min(begin + length, args.length);
  const float h = walk_tiles(chain, begin, end, starts[blockIdx.x].b, shared);
  if (threadIdx.x == 0 && end == args.length) chain.end(h);
}

// One thread per chunk: (outer, chunks, inner), so that neighbours have neighbouring chains.
struct Place {
  int64_t row, begin, end;
  __device__ __forceinline__ Place(const Args& args, int64_t count, int64_t length, int64_t i) {
    const int64_t of_outer = count * args.inner, o = i / of_outer, left = i - o * of_outer;
    const int64_t chunk = left / args.inner;
    row = o * args.inner + left - chunk * args.inner;
    begin = chunk * length;
    end = min(begin + length, args.length);
  }
};
template <class Chain, class F>
__device__ __forceinline__ void each_step(const Chain& chain, const Place& place, F f) {
  for (int64_t first = place.begin; first < place.end; first += kUnderWay) {
    Step steps[kUnderWay];
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k)
      if (first + k < place.end) steps[k] = chain.at(first + k);
#pragma unroll
    for (int k = 0; k < kUnderWay; ++k)
      if (first + k < place.end) f(first + k, steps[k]);
  }
}
template <class Chain>
__global__ void __launch_bounds__(kThreads)
    chunk_steps_by_threads(Args args, int64_t all, int64_t count, int64_t length, Step* to) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const Place place(args, count, length, i);
  Step made;
  each_step(Chain(args, place.row), place,
            [&](int64_t, const Step& step) { made = then(made, step); });
  to[place.row * count + place.begin / length] = made;
}
template <class Chain>
__global__ void __launch_bounds__(kThreads)
    do_chunks_by_threads(Args args, int64_t all, int64_t count, int64_t length,
                         const Step* starts) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const Place place(args, count, length, i);
  const Chain chain(args, place.row);
  float h = starts ? starts[place.row * count + place.begin / length].b : chain.initial();
  each_step(chain, place, [&](int64_t s, const Step& step) {
    h = step(h);
    chain.put(s, h);
  });
  if (place.end == args.length) chain.end(h);
}

// One thread per chain: the step of a chunk makes room for the h that it starts with, as `b`.
template <class Chain>
__global__ void __launch_bounds__(kThreads)
    chunk_starts(Args args, int64_t rows, int64_t count, Step* chunks) {
  const int64_t row = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  float h = Chain(args, row).initial();
  for (int64_t c = 0; c < count; ++c) {
    const Step step = chunks[row * count + c];
    chunks[row * count + c].b = h;
    h = step(h);
  }
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return a.rows() * Chunks(a, device).count <= INT32_MAX ? kSupported : "counts chunks up to 2^31";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Chunks c(a, device);
  Step* const steps = static_cast<Step*>(a.workspace);
  const int64_t rows = a.rows(), all = rows * c.count;
  const auto blocks = [](int64_t n) { return unsigned((n + kThreads - 1) / kThreads); };
  return with_chain(a, [&](auto of) {
    using Chain = typename decltype(of)::type;
    const bool by_blocks = a.inner == 1, is_cut = c.count > 1;
    if (is_cut && by_blocks)
      chunk_steps_by_blocks<Chain>
          <<<unsigned(all), kTileThreads, 0, stream>>>(a, int(c.count), c.length, steps);
    else if (is_cut)
      chunk_steps_by_threads<Chain>
          <<<blocks(all), kThreads, 0, stream>>>(a, all, c.count, c.length, steps);
    if (is_cut || by_blocks)
      chunk_starts<Chain><<<blocks(rows), kThreads, 0, stream>>>(a, rows, c.count, steps);
    if (by_blocks)
      do_chunks_by_blocks<Chain>
          <<<unsigned(all), kTileThreads, 0, stream>>>(a, int(c.count), c.length, steps);
    else
      do_chunks_by_threads<Chain><<<blocks(all), kThreads, 0, stream>>>(a, all, c.count, c.length,
                                                                        is_cut ? steps : nullptr);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return size_t(a.rows() * Chunks(a, device).count) * sizeof(Step);
}
static double cost(const Args& a, const DeviceInfo& device) {
  const bool is_cut = Chunks(a, device).count > 1;
  // The second read: two tensors of three or five; of gae, all inputs.
  const double again = is_cut ? (a.op == Op::backward ? 0.4 : 0.67) : 0;
  const double sectors = a.inner == 1 || a.inner >= 8 ? 1 : 8.0 / double(a.inner);
  return streaming_us(kTuned, bytes(a) * (1 + again) * sectors, device);
}
constinit const Rung rung = {.idea = "chunks of a chain at the same time, in three launches",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::recurrence::chunks
