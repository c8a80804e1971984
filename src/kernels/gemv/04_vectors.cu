// gemv rung 04, vectors: 16 bytes a lane and load, four or eight loads of A under way.
//
// Since 03_block_per_row: a lane has four packs of each of two rows under way (one of each of four,
//   where rows are short), 64 or 128 bytes instead of 4; a pack of x serves all of these rows, from
//   L1; as many lanes work on a row as it has packs for; and where there are too few rows to go
//   round, several blocks share a row, and the last of them to finish adds their sums, always in
//   the same order.
// Stops at: HBM. Every byte of A is read once; x comes from L1.
// Not for: several vectors x at once. That is a matrix product, whose A serves all of them.
//
// A row is packs in the middle and up to 30 elements at its edges, a lane each: what comes before
// A's first 16-byte boundary, what is left at the end, and, where x is at another distance from its
// boundary than A (not congruent), the packs whose x is not inside two aligned packs of x.
#include <algorithm>
#include <iterator>
#include <utility>

#include "device/convert_pack.cuh"
#include "device/lanes.cuh"
#include "device/reduce_block.cuh"
#include "device/reduce_op.cuh"
#include "device/shifted.cuh"
#include "kernels/gemv/finish.cuh"
#include "select/select.h"

namespace ridge::gemv::vectors {

// Lanes: threads that share a row; up to 32 of them are part of a warp, more are the block.
// Unroll: packs of a row a lane has under way. Rows: that a lane works on at once; they share a
// pack of x where A and x are congruent.
struct Shape {
  int lanes, unroll, rows;

  constexpr bool operator==(const Shape&) const = default;
  __host__ __device__ constexpr int threads() const { return lanes > 128 ? lanes : 128; }
  __host__ __device__ constexpr int rows_a_block() const { return threads() / lanes * rows; }
  __host__ __device__ constexpr int turn() const { return lanes * unroll; }  // packs of a row
  // Where a row is not longer than a turn.
  __host__ __device__ constexpr bool is_short() const { return turn() <= 64; }
  // That there are registers for.
  __host__ __device__ constexpr int blocks_per_sm(size_t element) const {
    return (is_short() ? 32 : element == 2 && rows > 1 ? 20 : 24) * kWarpSize / threads();
  }
};
constexpr Shape kShapes[] = {{4, 1, 4},  {8, 1, 4},   {16, 1, 4},
                             {32, 1, 4}, {32, 2, 4},  // short rows, from the shortest on
                             {32, 4, 2}, {128, 4, 2}, {256, 4, 2},
                             {32, 4, 1}, {128, 4, 1}, {256, 4, 1}};  // not congruent
constexpr double kEnoughWaves = 2;        // of blocks; with fewer, rows are shared
constexpr double kWaves = 4;              // then
constexpr double kLargeBytes = 64 << 20;  // of A: even waves are worth a meeting from here
constexpr Tuned kTuned = {3.0, 0.92};

// The packs in the middle of a row: columns begin … begin + packs * kPackSize.
struct Middle {
  int begin;
  int64_t packs;
};
template <bool Congruent, class T>
__device__ __forceinline__ Middle middle_of(const T* a, const T* x, int64_t cols) {
  constexpr int kSize = kPackSize<T>;
  int begin = elements_to_alignment(a);
  int64_t packs = (cols - begin) / kSize;  // rounds up to 0 where the row ends before
  if (!Congruent && packs > 0) {
    const int before = int(reinterpret_cast<uintptr_t>(x + begin) % kPackBytes / sizeof(T));
    if (before > begin) {
      begin += kSize;
      --packs;
    }
    if (before > 0 && begin + packs * kSize + (kSize - before) > cols) --packs;
  }
  return {begin, max(packs, int64_t(0))};
}

// Each of Lanes lanes has a part of every sum. Halving what is exchanged at every step, the sums
// are dealt to the lanes: this one has those of `kEach` rows from `first` on, if they are its own.
template <int Rows, int Lanes>
struct Dealt {
  static constexpr int kEach = Rows > Lanes ? Rows / Lanes : 1;
  int first = 0;
  bool is_mine = true;
};
template <int Lanes, int Rows>
__device__ __forceinline__ Dealt<Rows, Lanes> dealt_sums(float (&sum)[Rows], int lane) {
  Dealt<Rows, Lanes> dealt;
#pragma unroll
  for (int step = Lanes / 2, held = Rows; step > 0; step /= 2) {
    const bool upper = lane & step;
    if (held > 1) {
      held /= 2;
#pragma unroll
      for (int i = 0; i < held; ++i) {
        const float away = upper ? sum[i] : sum[i + held];
        sum[i] = (upper ? sum[i + held] : sum[i]) + __shfl_xor_sync(~0u, away, step);
      }
      dealt.first += upper ? held : 0;
    } else {
      sum[0] += __shfl_xor_sync(~0u, sum[0], step);
      dealt.is_mine &= !upper;
    }
  }
  return dealt;
}

// Where blocks share rows: one counter for all blocks of the same rows, and (rows, splits) sums.
using Meeting = reduction::Meeting<float>;

// The last block of its rows adds what all have left: a warp a row.
template <class T, Shape kShape>
__device__ __forceinline__ void combine_splits(const Args& args, const Meeting& meeting,
                                               unsigned long long arrivals) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = reduction::is_last_arrival(meeting.arrivals + blockIdx.x, gridDim.y, arrivals);
  __syncthreads();
  if (!is_last) return;
  for (int r = threadIdx.x / kWarpSize; r < kShape.rows_a_block();
       r += kShape.threads() / kWarpSize) {
    const int64_t row = int64_t(blockIdx.x) * kShape.rows_a_block() + r;
    if (row >= args.rows) return;                                  // the whole warp
    const float* const sums = meeting.partials + row * gridDim.y;  // (splits)
    const float total =
        reduction::warp_combine_fresh(reduction::Sum<float>(), sums, int(gridDim.y));
    if (threadIdx.x % kWarpSize == 0) finish<T>(args, row, total);
  }
}

// Where the middle of a row is, and the x that goes with it.
template <class T, class Count>
struct Row {
  const T* a;           // (cols)
  const int4* x_packs;  // from `shift` bytes before x + begin on, which is a boundary
  int begin, shift;
  Count packs;

  // Columns at the edges: `edges` of them.
  __device__ __forceinline__ int64_t edge_column(int e) const {
    return e < begin ? e : e + int64_t(packs) * kPackSize<T>;
  }
};

template <class T, int Lanes, int Unroll, int Rows, bool Congruent>
__global__ void __launch_bounds__(Shape{Lanes, Unroll, Rows}.threads(),
                                  Shape{Lanes, Unroll, Rows}.blocks_per_sm(sizeof(T)))
    gemv_vectors(Args args, int64_t packs_per_split, Meeting meeting) {
  constexpr int kSize = kPackSize<T>;
  constexpr Shape kShape = {Lanes, Unroll, Rows};  // which a kernel's template cannot take
  using Count = std::conditional_t<kShape.is_short(), int, int64_t>;
  const int lane = threadIdx.x % Lanes;
  const int64_t first_row =
      int64_t(blockIdx.x) * kShape.rows_a_block() + threadIdx.x / Lanes * Rows;
  const T* const x = static_cast<const T*>(args.x);  // (cols)
  unsigned long long arrivals = 0;
  if (!kShape.is_short() && gridDim.y > 1 && threadIdx.x == 0)
    arrivals = reduction::before_arrival(meeting.arrivals + blockIdx.x);

  // Congruent rows differ in nothing but `a`.
  Row<T, Count> rows[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    // Past the end: the last row once more, so that shuffles are full.
    const T* const a =
        static_cast<const T*>(args.a) + min(first_row + r, args.rows - 1) * args.a_stride;
    if (Congruent && r > 0) {
      rows[r] = rows[0];
      rows[r].a = a;
      continue;
    }
    const auto [begin, packs] = middle_of<Congruent>(a, x, args.cols);
    const auto at = reinterpret_cast<uintptr_t>(x + begin);
    const int shift = Congruent ? 0 : int(at % kPackBytes);
    rows[r] = {a, reinterpret_cast<const int4*>(at - uintptr_t(shift)), begin, shift, Count(packs)};
  }

  const auto edges_of = [&](const Row<T, Count>& row) {
    return blockIdx.y == 0 ? int(args.cols - int64_t(row.packs) * kSize) : 0;
  };
  float edge_a[Rows] = {}, edge_x[Rows] = {};
#pragma unroll
  for (int r = 0; r < Rows; ++r)
    if (lane < edges_of(rows[r])) {
      const int64_t c = rows[r].edge_column(lane);
      edge_a[r] = to_float(rows[r].a[c]);
      edge_x[r] = to_float(x[c]);
    }

  float sums[Rows][Unroll] = {};
  const auto add = [&](Count p, auto inside) {  // packs p, p + Lanes, … where they are inside
    Pack<T> packs_a[Rows][Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u)
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        packs_a[r][u] = {};  // all bits 0 are zeros
        if (inside(u, rows[r]))
          packs_a[r][u] = load_pack(rows[r].a + rows[r].begin + (p + u * Lanes) * kSize);
      }
#pragma unroll
    for (int r = 0; r < (Congruent ? 1 : Rows); ++r) {
      int4 packs_x[Unroll], next_x[Unroll];
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        packs_x[u] = next_x[u] = {};
        const int4* const at = rows[r].x_packs + p + u * Lanes;
        if (inside(u, rows[r])) packs_x[u] = __ldg(at);
        if (!Congruent && inside(u, rows[r]) && rows[r].shift) next_x[u] = __ldg(at + 1);
      }
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        float fx[kSize], fa[kSize];
        to_floats(bytes_as<Pack<T>>(Congruent ? packs_x[u]
                                              : shifted(packs_x[u], next_x[u], rows[r].shift)),
                  fx);
#pragma unroll
        for (int q = r; q < (Congruent ? Rows : r + 1); ++q) {
          to_floats(packs_a[q][u], fa);
#pragma unroll
          for (int i = 0; i < kSize; ++i) sums[q][u] = fmaf(fa[i], fx[i], sums[q][u]);
        }
      }
    }
  };
  if constexpr (kShape.is_short()) {
    add(lane, [&](int u, const Row<T, Count>& row) { return lane + u * Lanes < row.packs; });
  } else {
    // Of rows with an x of their own there is one: they end apart.
    static_assert(Congruent || Rows == 1);
    const int64_t end = min(rows[0].packs, (int64_t(blockIdx.y) + 1) * packs_per_split);
    int64_t p = int64_t(blockIdx.y) * packs_per_split;  // of lane 0, so that all lanes turn alike
    for (; p + kShape.turn() <= end; p += kShape.turn())
      add(p + lane, [](int, const auto&) { return true; });
    if (p < end) add(p + lane, [&](int u, const auto&) { return p + lane + u * Lanes < end; });
  }

  float sum[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    sum[r] = edge_a[r] * edge_x[r];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) sum[r] += sums[r][u];
    if constexpr (Lanes < kWarpSize) {  // fewer lanes than edges
      for (int e = lane + Lanes; e < edges_of(rows[r]); e += Lanes) {
        const int64_t c = rows[r].edge_column(e);
        sum[r] = fmaf(to_float(rows[r].a[c]), to_float(x[c]), sum[r]);
      }
    }
  }
  const auto put = [&](int64_t row, float total) {
    if (row >= args.rows) return;
    if (gridDim.y == 1) finish<T>(args, row, total);
    else meeting.partials[row * gridDim.y + blockIdx.y] = total;
  };
  if constexpr (Lanes <= kWarpSize) {
    const Dealt<Rows, Lanes> dealt = dealt_sums<Lanes>(sum, lane);
#pragma unroll
    for (int i = 0; i < dealt.kEach; ++i)
      if (dealt.is_mine) put(first_row + dealt.first + i, sum[i]);
  } else {
    constexpr int kWarps = Lanes / kWarpSize;
    __shared__ float partial[Rows][kWarps];
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      sum[r] = lanes_sum(sum[r], kWarpSize);
      if (lane % kWarpSize == 0) partial[r][lane / kWarpSize] = sum[r];
    }
    __syncthreads();
    if (lane < Rows) {
      float total = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) total += partial[lane][w];
      put(first_row + lane, total);
    }
  }
  if constexpr (!kShape.is_short())
    if (gridDim.y > 1) combine_splits<T, kShape>(args, meeting, arrivals);
}

// How the work is cut; the same for `workspace` and `launch`.
struct Plan {
  bool congruent;
  Shape shape;
  int64_t blocks;
  int64_t splits, packs_per_split;
};
static Shape shape_for(int64_t packs, bool congruent, size_t element) {
  for (const Shape& shape : kShapes)
    if (shape.is_short() && packs <= shape.turn()) return shape;
  // Of two-byte formats there are registers for five blocks of 128, but two of 256.
  const int lanes = packs < 512 ? 32 : packs < 4096 || element == 2 ? 128 : 256;
  return {lanes, 4, congruent ? 2 : 1};
}
static Plan plan_for(const Args& a, const DeviceInfo& device) {
  const auto size = int64_t(size_of(a.dtype));
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  Plan plan;
  plan.congruent =
      phase(a.a) == phase(a.x) && (a.rows == 1 || uint64_t(a.a_stride * size) % kPackBytes == 0);
  const int64_t packs = a.cols * size / kPackBytes;
  plan.shape = shape_for(packs, plan.congruent, size_t(size));
  plan.blocks = (a.rows + plan.shape.rows_a_block() - 1) / plan.shape.rows_a_block();
  plan.splits = 1;
  plan.packs_per_split = std::max<int64_t>(packs, 1);
  const int64_t resident = int64_t(device.sm_count) * plan.shape.blocks_per_sm(size_t(size));
  const double waves = double(plan.blocks) / double(resident);
  if (plan.shape.is_short() || waves >= kEnoughWaves) return plan;
  // A split is whole turns of all lanes: what is left over is a turn with idle lanes.
  const bool is_large = double(a.rows) * double(a.cols) * double(size) >= kLargeBytes;
  const int64_t turn = plan.shape.turn(), turns = std::max<int64_t>(packs / turn, 1);
  const auto wanted = int64_t((is_large ? kWaves : 1) / waves + 0.999);
  const auto splits = std::clamp<int64_t>(wanted, 1, std::min<int64_t>(turns, 65535));
  if (splits == 1) return plan;
  plan.packs_per_split = turns / splits * turn;
  plan.splits = (packs + plan.packs_per_split - 1) / plan.packs_per_split;
  return plan;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  if (a.rows == 0) return 0;
  const Plan plan = plan_for(a, device);
  return plan.splits == 1 ? 0 : reduction::meeting_bytes<float>(plan.blocks, a.rows * plan.splits);
}

template <class T, Shape kShape>
static bool launch_as(const Args& a, const Plan& plan, cudaStream_t stream) {
  if (plan.shape != kShape) return false;
  const dim3 grid(unsigned(plan.blocks), unsigned(plan.splits));
  const auto run = [&](auto kernel) {
    kernel<<<grid, kShape.threads(), 0, stream>>>(
        a, plan.packs_per_split, reduction::meeting_at<float>(a.workspace, plan.blocks));
    return true;
  };
  constexpr int kLanes = kShape.lanes, kUnroll = kShape.unroll, kRows = kShape.rows;
  if constexpr (kShape.is_short())
    return plan.congruent ? run(gemv_vectors<T, kLanes, kUnroll, kRows, true>)
                          : run(gemv_vectors<T, kLanes, kUnroll, kRows, false>);
  else return run(gemv_vectors<T, kLanes, kUnroll, kRows, (kRows > 1)>);
}
template <class T, size_t... I>
static void launch_shape(const Args& a, const Plan& plan, cudaStream_t stream,
                         std::index_sequence<I...>) {
  (void)(launch_as<T, kShapes[I]>(a, plan, stream) || ...);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  const Plan plan = plan_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    launch_shape<decltype(t)>(a, plan, stream, std::make_index_sequence<std::size(kShapes)>());
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes_read(a) + bytes_written(a), device);
}
constinit const Rung rung = {.idea = "16 bytes a lane, rows share x, blocks share rows",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::gemv::vectors
