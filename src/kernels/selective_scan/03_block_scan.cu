// selective_scan rung 03, block_scan: one block per channel, 1024 steps at a time.
//
// Since 02_state_lanes: the steps of one number of the state are a linear recurrence, so threads
//   take neighbouring steps and combine them in shuffles (device/step_tile.cuh), one number of
//   the state after the other. Loads are neighbours in the order of the steps. Backward, h is
//   computed anew in each tile, from the h before it, and g comes from the end; a block takes
//   several channels, so that only few parts of db and dc have to be added up.
// Stops at: instructions: 60 or so for each step and number of the state, most of them shuffles.
// Not for: steps that come one at a time, as in generation.
#include <algorithm>

#include "device/step_tile.cuh"
#include "kernels/selective_scan/gradients.cuh"
#include "select/select.h"

namespace ridge::selective_scan::block_scan {

// Modelled; to be replaced by a rate measured on an H200.
constexpr Tuned kTuned = {5.0, 0.30}, kTunedBackward = {20.0, 0.10};
using steps::kTile;
using steps::kTileRows;
using steps::kTileThreads;
using steps::kTileWarps;

// The steps of a tile that a thread has. Past the end, steps of no length.
struct Tile {
  int64_t at[kTileRows];
  bool inside[kTileRows];
  float s[kTileRows], u[kTileRows];

  template <class T>
  __device__ __forceinline__ Tile(const Channel<T>& x, int64_t first) {
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
      at[r] = steps::tile_step(first, r);
      inside[r] = at[r] < x.length;
      s[r] = inside[r] ? x.s(at[r]) : 0;
      u[r] = inside[r] ? x.of_u(at[r]) : 0;
    }
  }
};

// What a block carries from tile to tile for each number of the state. Two halves take turns,
// because the one that a tile starts from is still being read.
struct Carry {
  float (&of)[2][kMostState];
  Step (&shared)[2][kTileWarps];
  int turn = 0;

  // h behind each of the thread's steps, and the h from which its warp starts.
  __device__ __forceinline__ float scan(steps::TileSteps& tile, int half, int n,
                                        float (&h)[kTileRows]) {
    const steps::AroundWarp around = steps::warps_before(tile.warp, shared[turn]);
    turn ^= 1;
    const float start = of[half][n], from = around.before(start);
    if (threadIdx.x == 0) of[half ^ 1][n] = around.all(start);
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) h[r] = tile.through[r](from);
    return from;
  }
};

// The forward steps of number n of the state.
template <class T>
__device__ __forceinline__ steps::TileSteps state_steps(const Channel<T>& x, const Tile& tile,
                                                        int n, float a) {
  steps::TileSteps made;
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    made.through[r] = Step();
    if (tile.inside[r])
      made.through[r] = {expf(tile.s[r] * a), tile.s[r] * x.of_b(n, tile.at[r]) * tile.u[r]};
  }
  steps::combine_tile(made);
  return made;
}

template <class T>
__global__ void __launch_bounds__(kTileThreads) selective_scan_block_scan(Args args) {
  __shared__ float carried[2][kMostState];
  __shared__ Step shared[2][kTileWarps];
  const Channel<T> x(args, blockIdx.x);
  for (int n = threadIdx.x; n < args.state; n += kTileThreads) carried[0][n] = 0;
  __syncthreads();
  Carry carry = {carried, shared};
  int half = 0;
  for (int64_t first = 0; first < args.length; first += kTile, half ^= 1) {
    const Tile tile(x, first);
    float v[kTileRows], h[kTileRows];
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) v[r] = x.d * tile.u[r];
    for (int n = 0; n < args.state; ++n) {
      steps::TileSteps made = state_steps(x, tile, n, x.a[n]);
      carry.scan(made, half, n, h);
#pragma unroll
      for (int r = 0; r < kTileRows; ++r)
        if (tile.inside[r]) v[r] += x.of_c(n, tile.at[r]) * h[r];
    }
    T* const y = static_cast<T*>(args.y) + blockIdx.x * args.length;
#pragma unroll
    for (int r = 0; r < kTileRows; ++r)
      if (tile.inside[r]) y[tile.at[r]] = from_float<T>(v[r] * x.gate(tile.at[r]));
  }
  __syncthreads();
  for (int n = threadIdx.x; args.last_state && n < args.state; n += kTileThreads)
    args.last_state[blockIdx.x * args.state + n] = carried[half][n];
}

// Channels of a sample that a block does one after the other.
struct Groups {
  int64_t size, count;
  Groups(const Args& a, const DeviceInfo& device) {
    const int64_t wanted =
        std::clamp<int64_t>(2 * int64_t(device.sm_count) / std::max<int64_t>(a.batch, 1), 1,
                            std::max<int64_t>(a.dim, 1));
    size = std::max<int64_t>((a.dim + wanted - 1) / wanted, 1);
    count = (a.dim + size - 1) / size;
  }
};
inline int64_t tiles_of(const Args& a) { return (a.length + kTile - 1) / kTile; }

// In the rest of the workspace: h before each tile (batch, dim, tiles, state), then parts of db and
// of dc (batch, groups, state, length).
struct Rest {
  float *starts, *db, *dc;
  int64_t tiles;
  Rest(const Args& a, int64_t groups) : tiles(tiles_of(a)) {
    starts = Memory(a).rest;
    db = starts + a.channels() * tiles * a.state;
    dc = db + a.batch * groups * a.state * a.length;
  }
  static int64_t floats(const Args& a, int64_t groups) {
    return a.channels() * tiles_of(a) * a.state + 2 * a.batch * groups * a.state * a.length;
  }
};

// The block's sum of what its threads have; `parts` may not be in use by an earlier call. To thread
// 0 only.
__device__ __forceinline__ float block_sum(float mine, float (&parts)[kTileWarps]) {
  mine = lanes_sum(mine, kWarpSize);
  if (threadIdx.x % kWarpSize == 0) parts[threadIdx.x / kWarpSize] = mine;
  __syncthreads();
  float sum = 0;
  for (int w = 0; w < kTileWarps; ++w) sum += parts[w];
  __syncthreads();
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kTileThreads)
    selective_scan_backward(Args args, Memory memory, Rest rest, int64_t group_size,
                            int64_t groups) {
  __shared__ float carried_h[2][kMostState], carried_g[2][kMostState];
  __shared__ float da_parts[kTileWarps][kMostState], sums[kTileWarps];
  __shared__ Step shared_h[2][kTileWarps], shared_g[2][kTileWarps];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int64_t sample = blockIdx.x / groups, group = blockIdx.x % groups;
  const int64_t one = args.state * args.length;
  float* const of_db = rest.db + blockIdx.x * one;
  float* const of_dc = rest.dc + blockIdx.x * one;
  const int64_t last = min((group + 1) * group_size, args.dim);
  for (int64_t d = group * group_size; d < last; ++d) {
    const int64_t channel = sample * args.dim + d;
    const bool is_first = d == group * group_size;
    const Channel<T> x(args, channel);
    float* const starts = rest.starts + channel * rest.tiles * args.state;
    __syncthreads();  // the channel before is done with all of the shared memory
    for (int n = threadIdx.x; n < args.state; n += kTileThreads) {
      carried_h[0][n] = carried_g[0][n] = 0;
      for (int w = 0; w < kTileWarps; ++w) da_parts[w][n] = 0;
    }
    __syncthreads();
    Carry carry_h = {carried_h, shared_h}, carry_g = {carried_g, shared_g};
    float h[kTileRows], g[kTileRows], dd = 0, ddelta_bias = 0;
    // h before each tile; nobody asks for the h behind the last one.
    int half = 0;
    for (int64_t tile_number = 0; tile_number < rest.tiles; ++tile_number, half ^= 1) {
      for (int n = threadIdx.x; n < args.state; n += kTileThreads)
        starts[tile_number * args.state + n] = carried_h[half][n];
      if (tile_number + 1 == rest.tiles) break;
      const Tile tile(x, tile_number * kTile);
      for (int n = 0; n < args.state; ++n) {
        steps::TileSteps made = state_steps(x, tile, n, x.a[n]);
        carry_h.scan(made, half, n, h);
      }
      __syncthreads();  // thread 0 has written what the next tile starts from
    }
    half = 0;
    for (int64_t tile_number = rest.tiles; tile_number-- > 0; half ^= 1) {
      const int64_t first = tile_number * kTile;
      const Tile tile(x, first);
      float dv[kTileRows], v[kTileRows], du[kTileRows] = {}, ds[kTileRows] = {}, next[kTileRows];
#pragma unroll
      for (int r = 0; r < kTileRows; ++r) {
        const bool has_next = tile.at[r] + 1 < args.length;
        next[r] = has_next ? x.s(tile.at[r] + 1) : 0;
        dv[r] = tile.inside[r] ? to_float(x.dy[tile.at[r]]) * x.gate(tile.at[r]) : 0;
        v[r] = x.d * tile.u[r];
      }
      __syncthreads();
      for (int n = threadIdx.x; n < args.state; n += kTileThreads)
        carried_h[half][n] = starts[tile_number * args.state + n];
      __syncthreads();
      for (int n = 0; n < args.state; ++n) {
        const float a = x.a[n];
        steps::TileSteps made = state_steps(x, tile, n, a);
        const float from = carry_h.scan(made, half, n, h);
        steps::TileSteps back;
#pragma unroll
        for (int r = 0; r < kTileRows; ++r) {
          back.through[r] = Step();
          if (tile.inside[r])
            back.through[r] = {tile.at[r] + 1 < args.length ? expf(next[r] * a) : 0,
                               x.of_c(n, tile.at[r]) * dv[r]};
        }
        steps::combine_tile<steps::Order::from_end>(back);
        const steps::AroundWarp around =
            steps::warps_before<steps::Order::from_end>(back.warp, shared_g[carry_g.turn]);
        carry_g.turn ^= 1;
        const float start = carried_g[half][n];
        if (threadIdx.x == 0) carried_g[half ^ 1][n] = around.all(start);
        float da = 0, below = from;  // h behind the last step of the row before
#pragma unroll
        for (int r = 0; r < kTileRows; ++r) {
          g[r] = back.through[r](around.before(start));
          float before = __shfl_up_sync(kAllLanes, h[r], 1);
          if (lane == 0) before = below;
          below = __shfl_sync(kAllLanes, h[r], kWarpSize - 1);
          if (!tile.inside[r]) continue;
          const int64_t t = tile.at[r];
          const float b = x.of_b(n, t), passed = expf(tile.s[r] * a) * before;
          v[r] += x.of_c(n, t) * h[r];
          du[r] += g[r] * b;
          ds[r] += g[r] * (a * passed + b * tile.u[r]);
          da += g[r] * tile.s[r] * passed;
          float *const db = of_db + n * args.length + t, *const dc = of_dc + n * args.length + t;
          const float more_db = g[r] * tile.s[r] * tile.u[r], more_dc = dv[r] * h[r];
          *db = is_first ? more_db : *db + more_db;
          *dc = is_first ? more_dc : *dc + more_dc;
        }
        da = lanes_sum(da, kWarpSize);
        if (lane == 0) da_parts[warp][n] += da;
      }
#pragma unroll
      for (int r = 0; r < kTileRows; ++r) {
        if (!tile.inside[r]) continue;
        const int64_t t = tile.at[r], at = channel * args.length + t;
        const float ddelta = ds[r] * x.slope(t);
        dd += dv[r] * tile.u[r];
        ddelta_bias += ddelta;
        static_cast<T*>(args.du)[at] = from_float<T>(tile.s[r] * du[r] + x.d * dv[r]);
        static_cast<T*>(args.ddelta)[at] = from_float<T>(ddelta);
        if (args.dz)
          static_cast<T*>(args.dz)[at] = from_float<T>(to_float(x.dy[t]) * v[r] * x.gate_slope(t));
      }
    }
    __syncthreads();
    for (int n = threadIdx.x; n < args.state; n += kTileThreads) {
      float da = 0;
      for (int w = 0; w < kTileWarps; ++w) da += da_parts[w][n];
      memory.da[channel * args.state + n] = da;
    }
    dd = block_sum(dd, sums);
    ddelta_bias = block_sum(ddelta_bias, sums);
    if (threadIdx.x == 0) {
      memory.dd[channel] = dd;
      memory.ddelta_bias[channel] = ddelta_bias;
    }
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    if (!a.backward) {
      selective_scan_block_scan<T><<<unsigned(a.channels()), kTileThreads, 0, stream>>>(a);
      return launch_status();
    }
    const Groups groups(a, device);
    const Rest rest(a, groups.count);
    if (a.channels() > 0)
      selective_scan_backward<T><<<unsigned(a.batch * groups.count), kTileThreads, 0, stream>>>(
          a, Memory(a), rest, groups.size, groups.count);
    const Status s = launch_add_parts<T>(a, rest.db, rest.dc, groups.count, stream);
    return s ? launch_add_samples(a, stream) : s;
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return a.backward ? Memory::bytes(a, Rest::floats(a, Groups(a, device).count)) : 0;
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double states = std::max(double(a.state), 1.0);
  return streaming_us(a.backward ? kTunedBackward : kTuned, bytes(a) * states, device);
}
constinit const Rung rung = {.idea = "one block, one channel: a scan for each number of the state",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::selective_scan::block_scan
