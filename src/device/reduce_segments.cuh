// Reduces segments of a vector, any lengths, in a single launch, with any operator (see
// reduce_op.cuh):
//
//   launch_reduce_segments(op, Segments<float, int64_t>{x, n, offsets, segments}, out,
//                          {workspace, bytes}, device, stream);
//
// The host knows only the mean length. It chooses who takes a segment of that length: a thread,
// some lanes, a warp or a block. A segment that is too long for them goes to their warp, then to
// their block. The longest segments are cut at every kChunk-th element of the vector. Each of these
// places has its own block, which looks up the segment at that place, and ends at once if that is
// not a long one. The last block of a segment to finish combines the results of its blocks.
#pragma once

#include "device/launch_reduce.cuh"

namespace ridge {

// Segment s is elements [offsets[s], offsets[s + 1]). Offsets never fall, and the last is at most
// n.
template <class T, class Offset>
struct Segments {
  const T* x;  // (n)
  int64_t n;
  const Offset* offsets;  // (segments + 1)
  int64_t segments;
};

namespace reduction {

// Estimates for an H200.
struct SegmentTuning {
  static constexpr int kThreads = 256;
  // Packs that a thread has under way, by the number of lanes that take a segment of the mean
  // length. Many short segments hide each other's latency; there, more blocks per SM are worth more
  // than more packs.
  template <int Lanes>
  static constexpr int kUnroll = Lanes == kThreads ? 8 : 4;
  // Lengths, in elements; those that packs decide are what fills as many of them as with 4 bytes.
  template <class T>
  static constexpr int64_t kPerWord = 4 / int64_t(sizeof(T));
  // Means from which on more lanes take a segment.
  static constexpr int64_t kFrom8 = 12;
  template <class T>
  static constexpr int64_t kFrom16 = 128 * kPerWord<T>;
  template <class T>
  static constexpr int64_t kFromWarp = 512 * kPerWord<T>;
  template <class T>
  static constexpr int64_t kFromBlock = 5120 * kPerWord<T>;
  // The longest segment that lanes take; longer ones go to a block.
  static constexpr int64_t kMostOfOne = 64;
  template <class T>
  static constexpr int64_t kMostOfLane = 64 * kPerWord<T>;
  template <class T>
  static constexpr int64_t kMostOfWarp = 8192 * kPerWord<T>;
  // What a block takes at most: that, or the vector over so many chunks an SM.
  static constexpr int64_t kLeastChunk = 65536;
  static constexpr int kChunksPerSm = 16;
};

// Who does what, as the host sees it.
struct SegmentPlan {
  int lanes;        // a segment
  int64_t chunk;    // elements
  unsigned chunks;  // places where long segments are cut; 0: none can be long
  unsigned every;   // a block of this many is one of theirs, until there are no more
  unsigned blocks;
  double segments_per_element;  // where to look first for the segment of an element
};

template <class T, class Offset>
SegmentPlan plan_segments(const Segments<T, Offset>& v, const DeviceInfo& device) {
  using Tuning = SegmentTuning;
  const int64_t mean = v.n / v.segments;
  SegmentPlan plan = {};
  plan.lanes = mean < Tuning::kFrom8          ? 1
               : mean < Tuning::kFrom16<T>    ? 8
               : mean < Tuning::kFromWarp<T>  ? 16
               : mean < Tuning::kFromBlock<T> ? kWarpSize
                                              : Tuning::kThreads;
  const int64_t pieces = int64_t(device.sm_count) * Tuning::kChunksPerSm;
  plan.chunk = std::max(Tuning::kLeastChunk, (v.n + pieces - 1) / pieces);
  plan.chunks = v.n > plan.chunk ? unsigned((v.n + plan.chunk - 1) / plan.chunk) : 0;
  const int64_t a_block = Tuning::kThreads / plan.lanes;
  const auto own = unsigned((v.segments + a_block - 1) / a_block);
  plan.blocks = own + plan.chunks;
  plan.every = plan.chunks ? plan.blocks / plan.chunks : 1;
  plan.segments_per_element = v.n > 0 ? double(v.segments) / double(v.n) : 0;
  return plan;
}

// `count` elements from x on, shared by lanes of a warp or a block; the first has this index in its
// segment. Lanes of a warp never get more than 32 bits can count.
template <int Lanes, int Unroll, class Op, class T>
__device__ __forceinline__ AccOf<Op> fold_range(const Op& op, const T* x, int64_t count,
                                                int64_t index, int lane) {
  constexpr int kSize = kPackSize<T>;
  using Index = std::conditional_t<Lanes <= kWarpSize, int, int64_t>;
  AccOf<Op> acc = op.identity();
  if constexpr (Lanes == 1) {
    for_packs<Unroll, T>(
        0, 1, int(count), [&](T& to, int i) { to = x[i]; },
        [&](const T& from, int i) {
          acc = op.combine(acc, transformed(op, index + i, element(from)));
        });
  } else {
    const int head = int(min(int64_t(elements_to_alignment(x)), count));
    const Index packs = Index(count - head) / kSize;
    const int edges = int(Index(count) - packs * kSize);
    const Index edge = lane + (lane < head ? 0 : packs * kSize);
    T at_edge = T();
    if (lane < edges) at_edge = x[edge];
    // Those behind the first `Lanes` lie behind the packs: no more than kSize - 1 lie in front.
    constexpr bool kMoreEdges = 2 * (kSize - 1) > Lanes;
    static_assert(kSize - 1 <= Lanes);
    const Index another = lane + Lanes + packs * kSize;
    T at_another = T();
    if (kMoreEdges && lane + Lanes < edges) at_another = x[another];
    for_packs<Unroll, Pack<T>>(
        Index(lane), Index(Lanes), packs,
        [&](Pack<T>& to, Index pack) { to = load_pack(x + head + pack * kSize); },
        [&](const Pack<T>& from, Index pack) { fold(op, acc, index + head + pack * kSize, from); });
    if (lane < edges) acc = op.combine(acc, transformed(op, index + edge, element(at_edge)));
    if (kMoreEdges && lane + Lanes < edges)
      acc = op.combine(acc, transformed(op, index + another, element(at_another)));
  }
  return acc;
}

// How many of `count` numbers, which never decrease, are at most `wanted`. A whole block searches:
// first around `guess`, then in as many parts as there are threads.
template <int Threads, class Offset>
__device__ __forceinline__ int64_t count_up_to(const Offset* numbers, int64_t count, int64_t wanted,
                                               int64_t guess) {
  const int t = int(threadIdx.x);
  const int64_t at = max(int64_t(0), min(guess - Threads / 2, count - Threads));
  const int near = __syncthreads_count(at + t < count && int64_t(numbers[at + t]) <= wanted);
  if ((near > 0 || at == 0) && (near < Threads || at + Threads >= count)) return at + near;
  int64_t low = near > 0 ? at + Threads : 0, high = near > 0 ? count : at;
  while (low < high) {
    const int64_t step = (high - low + Threads - 1) / Threads, probe = low + t * step;
    const int below = __syncthreads_count(probe < high && int64_t(numbers[probe]) <= wanted);
    if (below == 0) return low;
    high = min(high, low + below * step);
    low += (below - 1) * step + 1;
  }
  return low;
}

template <class Op, class T, class Offset, class Out>
struct SegmentKernel {
  using Acc = AccOf<Op>;
  static constexpr int kThreads = SegmentTuning::kThreads;
  Op op;
  Segments<T, Offset> v;
  Out* out;
  SegmentPlan plan;
  Meeting<Acc> meeting;  // partials: of chunks, then of the blocks that long segments start with

  // A piece of a segment that has several: chunks [first, end) and what lies before them. The piece
  // is one of the chunks, or that. For warp 0 of a block.
  __device__ __forceinline__ void meet(int64_t s, int64_t b, int64_t e, Acc acc, int64_t chunk,
                                       bool start) const {
    const int64_t first = (b + plan.chunk - 1) / plan.chunk;
    const int64_t end = (e + plan.chunk - 1) / plan.chunk;
    Acc* const starts = meeting.partials + plan.chunks;
    bool last = false;
    if (threadIdx.x == 0) {
      (start ? starts[first] : meeting.partials[chunk]) = acc;
      last = is_last_arrival(meeting.arrivals + first, unsigned(end - first + 1));
    }
    if (!__shfl_sync(kAllLanes, last, 0)) return;
    __syncwarp();  // orders the reads below behind the arrival
    acc = warp_combine_fresh(op, meeting.partials + first, int(end - first));
    if (threadIdx.x == 0)
      out[s] = finished<Out>(op, op.combine(load_fresh(starts + first), acc), e - b);
  }

  template <int Unroll>
  __device__ __forceinline__ void by_block(int64_t s, int64_t b, int64_t e) const {
    const bool is_long = plan.chunks && e - b > plan.chunk;
    const int64_t own = is_long ? (b + plan.chunk - 1) / plan.chunk * plan.chunk : e;
    Acc acc = fold_range<kThreads, Unroll>(op, v.x + b, own - b, 0, int(threadIdx.x));
    acc = block_combine<kThreads>(op, acc);
    if (threadIdx.x >= kWarpSize) return;
    if (is_long) meet(s, b, e, acc, 0, true);
    else if (threadIdx.x == 0) out[s] = finished<Out>(op, acc, e - b);
  }

  // The block of a place where long segments are cut.
  template <int Unroll>
  __device__ __forceinline__ void by_chunk(int64_t chunk) const {
    const int64_t place = chunk * plan.chunk;
    const int64_t s = count_up_to<kThreads>(v.offsets, v.segments + 1, place,
                                            int64_t(double(place) * plan.segments_per_element)) -
                      1;
    if (s < 0 || s >= v.segments) return;  // in front of all, or behind
    const int64_t b = v.offsets[s], e = v.offsets[s + 1];
    if (e - b <= plan.chunk) return;
    Acc acc = fold_range<kThreads, Unroll>(op, v.x + place, min(e - place, plan.chunk), place - b,
                                           int(threadIdx.x));
    acc = block_combine<kThreads>(op, acc);
    if (threadIdx.x < kWarpSize) meet(s, b, e, acc, chunk, false);
  }

  template <int Lanes>
  __device__ __forceinline__ void by_lanes(int64_t block) const {
    constexpr int kGroups = kThreads / Lanes, kUnroll = SegmentTuning::kUnroll<Lanes>;
    constexpr int64_t kMost = Lanes == 1           ? SegmentTuning::kMostOfOne
                              : Lanes == kWarpSize ? SegmentTuning::kMostOfWarp<T>
                                                   : Lanes * SegmentTuning::kMostOfLane<T>;
    const int lane = int(threadIdx.x) % Lanes;
    const int64_t s = block * kGroups + threadIdx.x / Lanes;
    int64_t b = 0, e = 0;
    if (s < v.segments) b = v.offsets[s], e = v.offsets[s + 1];
    const bool mine = e - b <= kMost;
    Acc acc = fold_range<Lanes, kUnroll>(op, v.x + b, mine ? e - b : 0, 0, lane);
    acc = warp_combine<Lanes>(op, acc);
    if (mine && lane == 0 && s < v.segments) out[s] = finished<Out>(op, acc, e - b);
    if constexpr (Lanes < kWarpSize) {
      const bool waits = !mine && e - b <= SegmentTuning::kMostOfWarp<T>;
      unsigned waiting = __ballot_sync(kAllLanes, waits && lane == 0);
      for (; waiting; waiting &= waiting - 1) {
        const int from = __ffs(int(waiting)) - 1;
        const int64_t first = __shfl_sync(kAllLanes, b, from);
        const int64_t end = __shfl_sync(kAllLanes, e, from);
        const int in_warp = int(threadIdx.x) % kWarpSize;
        acc = warp_combine(
            op, fold_range<kWarpSize, kUnroll>(op, v.x + first, end - first, 0, in_warp));
        if (in_warp == from) out[s] = finished<Out>(op, acc, end - first);
      }
    }
    const bool for_block = e - b > SegmentTuning::kMostOfWarp<T> && lane == 0;
    if (!__syncthreads_or(for_block)) return;
    __shared__ int64_t longer[kGroups];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (for_block) longer[atomicAdd(&count, 1)] = s;
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      by_block<kUnroll>(longer[k], v.offsets[longer[k]], v.offsets[longer[k] + 1]);
      __syncthreads();
    }
  }
};

template <int Lanes, class Op, class T, class Offset, class Out>
__global__ void __launch_bounds__(SegmentTuning::kThreads)
    reduce_segments(SegmentKernel<Op, T, Offset, Out> k) {
  constexpr int kUnroll = SegmentTuning::kUnroll<Lanes>;
  // Blocks of chunks are spread between the others, so that memory is busy during their look-ups.
  const unsigned every = k.plan.every, turn = blockIdx.x / every;
  if (turn < k.plan.chunks && turn * every == blockIdx.x) return k.template by_chunk<kUnroll>(turn);
  const int64_t block = blockIdx.x - min(k.plan.chunks, (blockIdx.x + every - 1) / every);
  if constexpr (Lanes == SegmentTuning::kThreads)
    k.template by_block<kUnroll>(block, k.v.offsets[block], k.v.offsets[block + 1]);
  else k.template by_lanes<Lanes>(block);
}

}  // namespace reduction

template <class Op, class T, class Offset>
size_t reduce_segments_workspace(const Op&, const Segments<T, Offset>& v,
                                 const DeviceInfo& device) {
  if (v.segments == 0) return 0;
  const int64_t chunks = reduction::plan_segments(v, device).chunks;
  return chunks == 0 ? 0 : reduction::meeting_bytes<reduction::AccOf<Op>>(chunks, 2 * chunks);
}

// Result s goes to out[s]. Of no elements: finish(identity).
template <class Op, class T, class Offset, class Out>
Status launch_reduce_segments(const Op& op, const Segments<T, Offset>& v, Out* out,
                              Workspace workspace, const DeviceInfo& device, cudaStream_t stream) {
  using namespace reduction;
  if (v.segments == 0) return Status::ok();
  if (workspace.bytes < reduce_segments_workspace(op, v, device))
    return Error{int(cudaErrorInvalidValue),
                 "the workspace is smaller than reduce_segments_workspace says"};
  const SegmentPlan plan = plan_segments(v, device);
  const SegmentKernel<Op, T, Offset, Out> k = {op, v, out, plan,
                                               meeting_at<AccOf<Op>>(workspace.data, plan.chunks)};
  constexpr int kThreads = SegmentTuning::kThreads;
  switch (plan.lanes) {
    case 1: reduce_segments<1><<<plan.blocks, kThreads, 0, stream>>>(k); break;
    case 8: reduce_segments<8><<<plan.blocks, kThreads, 0, stream>>>(k); break;
    case 16: reduce_segments<16><<<plan.blocks, kThreads, 0, stream>>>(k); break;
    case kWarpSize: reduce_segments<kWarpSize><<<plan.blocks, kThreads, 0, stream>>>(k); break;
    default: reduce_segments<kThreads><<<plan.blocks, kThreads, 0, stream>>>(k);
  }
  return launch_status();
}

}  // namespace ridge
