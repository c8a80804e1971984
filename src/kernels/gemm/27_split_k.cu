// gemm rung 27, split_k: the blocks of a cluster make one tile, each a part of its sum.
//
// Since 26_tile_sizes: where tiles are few, the sum of a tile is split among up to eight blocks of
//   a cluster, so that more SMs read a and b. Each block leaves its sums in shared memory. Then
//   every block adds up a share of the rows from all of them, always in the same order: results do
//   not change from run to run, and no workspace is needed. If d has few rows, the product is made
//   transposed: the long side of the product then lies along the 64 rows of wgmma, and the few
//   rows of d need 16 of its columns instead of 64 of its rows.
// Stops at: DRAM, where the products per element of a and b are few.
// Not for: large products, whose tiles keep all SMs busy without a split.
#include "kernels/gemm/ring_of_tiles.cuh"
#include "kernels/gemm/variants.cuh"

namespace ridge::gemm::split_k {

using namespace hopper;

template <int kCols, int kConsumers, int kStages, int kBlocks_, bool kTransposed_>
struct Variant : RingShape<kCols, kRows, kConsumers, false, kStages, 1> {
  static constexpr int kBlocks = kBlocks_;  // on one SM
  static constexpr bool kTransposed = kTransposed_;
  static constexpr int kProducer = kConsumers * kWarpgroup;  // the first thread of the last warp
  static constexpr int kThreads = kProducer + 32;
  // The tile as it lies in d.
  static constexpr int kDown = kTransposed ? kCols : kConsumers * kRows;
  static constexpr int kAcross = kTransposed ? kConsumers * kRows : kCols;
  // From row to row of the tile. Lanes write pairs of columns of 8 rows, or pairs of rows of 8
  // columns: with these steps, to different banks.
  static constexpr int kPitch = kAcross + (kTransposed ? 4 : 8);
};

// The sums take the place of the ring, when all of it has been read.
template <class V>
union Shared {
  RingOfTiles<V> ring;
  float sums[V::kDown * V::kPitch];
};

// The sums of a warpgroup, whose first row in the product is `row`.
template <class V>
__device__ __forceinline__ void leave_sums(float* tile, int row, const Sums<V>& sums) {
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  const int first_row = row + 16 * warp + lane / 4, first_col = lane % 4 * 2;
#pragma unroll
  for (int s = 0; s < V::kCols / 2; s += 2) {
    const int r = first_row + s / 2 % 2 * 8, c = first_col + s / 4 * 8;
    if constexpr (V::kTransposed) {
      tile[c * V::kPitch + r] = sums.of[0][s];
      tile[(c + 1) * V::kPitch + r] = sums.of[0][s + 1];
    } else {
      *reinterpret_cast<float2*>(tile + r * V::kPitch + c) = {sums.of[0][s], sums.of[0][s + 1]};
    }
  }
}

// Four neighbours of a row of d.
template <class Out>
__device__ __forceinline__ void put_four(const Results<Out>& results, int64_t row, int64_t col,
                                         const float4& sums) {
  const float all[4] = {sums.x, sums.y, sums.z, sums.w};
  struct alignas(4 * sizeof(Out)) Four {
    Out at[4];
  };
  Out* const place = results.d + row * results.d_step + col;
  if (results.beta == 0 && results.c.has(row, col + 3) &&
      reinterpret_cast<uintptr_t>(place) % sizeof(Four) == 0) {
    Four four;
#pragma unroll
    for (int i = 0; i < 4; ++i) four.at[i] = from_float<Out>(results.alpha * all[i]);
    *reinterpret_cast<Four*>(place) = four;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) results.put(row, col + i, all[i]);
}

// Adds up this block's share of the rows of the tile.
template <class Out, class V>
__device__ __forceinline__ void put_share(const Args& args, const float* tile, int64_t row,
                                          int64_t col, int batch) {
  const Results<Out> results(args, batch);
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  constexpr int kPerRow = V::kAcross / 4;
  const int share = (V::kDown + blocks - 1) / blocks;  // rows
  const int end = min(V::kDown, (rank + 1) * share) * kPerRow;
  for (int i = rank * share * kPerRow + int(threadIdx.x); i < end; i += V::kThreads) {
    const int r = i / kPerRow, c = i % kPerRow * 4;
    const float* const here = tile + r * V::kPitch + c;
    float4 sum = {};
    for (int from = 0; from < blocks; ++from) {
      const float4 part = load_from_cluster(reinterpret_cast<const float4*>(here), unsigned(from));
      sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
    }
    put_four(results, row + r, col + c, sum);
  }
}

template <class T, class V, class A, class B>
__global__ void __launch_bounds__(V::kThreads, V::kBlocks)
    gemm_split_k(const __grid_constant__ Maps maps, const Args args, const Tiles<V> tiles) {
  auto& shared = aligned_shared<Shared<V>>();
  if (threadIdx.x == V::kProducer)  // the maps, too, come from memory
    for (const CUtensorMap* map : {&maps.a, &maps.b}) ptx::prefetch_tensor_map(map);
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  const TileAt tile = tiles.template in_bands<16>(int(blockIdx.x) / blocks, 0);
  const int steps = int(tiles_of(args.k, kDepth));
  const Levels levels = {int(int64_t(steps) * rank / blocks) * kDepth,
                         int(int64_t(steps) * (rank + 1) / blocks) * kDepth};
  Place<V> place;
  const Levels left =
      init_and_produce<A, B, V::kProducer>(shared.ring, maps, tile, levels, place, V::kTransposed);
  const int warpgroup = warpgroup_index();
  Sums<V> sums = {};
  if (warpgroup == V::kConsumers) {
    if (threadIdx.x == V::kProducer)
      produce<A, B>(shared.ring, maps, tile, left, place, V::kTransposed);
  } else {
    consume<T, A, B>(shared.ring, warpgroup * kRows, levels, place, sums);
  }
  __syncthreads();  // the ring has been read
  if (warpgroup < V::kConsumers) leave_sums<V>(shared.sums, warpgroup * kRows, sums);
  cluster_arrive();
  cluster_wait();
  const int64_t row = V::kTransposed ? tile.col : tile.row;
  const int64_t col = V::kTransposed ? tile.row : tile.col;
  if (args.result == Dtype::f32) put_share<float, V>(args, shared.sums, row, col, tile.batch);
  else put_share<T, V>(args, shared.sums, row, col, tile.batch);
  cluster_arrive_relaxed();  // no block leaves while another one reads its sums
  cluster_wait();
}

// Columns, consumers, stages, blocks per SM, whether the product is made transposed.
using Shapes =
    std::tuple<Variant<16, 1, 6, 3, true>, Variant<32, 1, 6, 2, true>, Variant<64, 1, 6, 2, true>,
               Variant<64, 2, 8, 1, true>, Variant<128, 2, 6, 1, false>>;
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8};
// All splits of a shape, then those of the next.
#define RIDGE_SPLITS(name) name "/1", name "/2", name "/3", name "/4", name "/6", name "/8"
constexpr const char* kNames[] = {RIDGE_SPLITS("64x16t"), RIDGE_SPLITS("64x32t"),
                                  RIDGE_SPLITS("64x64t"), RIDGE_SPLITS("128x64t"),
                                  RIDGE_SPLITS("128x128")};
#undef RIDGE_SPLITS
constexpr int kSplitCount = int(std::size(kSplits));
static_assert(std::size(kNames) == std::tuple_size_v<Shapes> * kSplitCount);

// Microseconds on an H200: of a launch, which takes longer for larger clusters; of 64 levels of a
// block, by shape. Nothing is known of a block's start and end.
constexpr auto kMeasured = [] {
  constexpr double kFixed[] = {5.5, 5.5, 5.5, 5.5, 8.0};
  constexpr double kOfSplit = 0.5;  // of each further block of a cluster
  constexpr double kOfStep[] = {0.23, 0.25, 0.28, 0.36, 0.45};
  std::array<Constants, std::size(kNames)> all = {};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = {kFixed[i / kSplitCount] + kOfSplit * (kSplits[i % kSplitCount] - 1),
              kOfStep[i / kSplitCount]};
  return all;
}();
constexpr TunedVariants kTuned("gemm", "split_k", kNames, kMeasured);

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const int shape = variant / kSplitCount, splits = kSplits[variant % kSplitCount];
  return of_variant<Shapes>(shape, [&]<class V>(V) {
    const Args product = V::kTransposed ? transposed(args) : args;
    const double steps = double(tiles_of(args.k, kDepth));
    if (steps < splits || (V::kCols < 64 && operand_b(product).is_turned())) return kImpossible;
    const double blocks = double(Tiles<V>(product).all) * splits;
    const double turns = std::ceil(blocks / (double(V::kBlocks) * device.sm_count));
    const double on_an_sm = std::ceil(blocks / turns / device.sm_count);  // at the same time
    const double reads = streaming_us({0, 0.75}, bytes(args), device);
    const double per_sm = blocks / device.sm_count;
    // SMs without a block do not read; blocks that share an SM get in each other's way.
    const double crowded = (V::kCols < 64 ? 0.25 : 1.4) * std::max(0.0, per_sm - 1.7);
    return Terms{.counts = {1, turns * on_an_sm * std::ceil(steps / splits), turns * on_an_sm},
                 .memory_us = reads / std::min(1.0, per_sm) * (1 + crowded)};
  });
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_operands(a, device);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  const int splits = kSplits[variant % kSplitCount];
  return of_variant<Shapes>(variant / kSplitCount, [&]<class V>(V) {
    const Args product = V::kTransposed ? transposed(args) : args;
    return with_majors(product, [&](auto a, auto b) -> Status {
      if constexpr (V::kCols < 64 && decltype(b)::value == Contiguous::width) {
        return Error{int(cudaErrorNotSupported),
                     std::string(kNames[variant]) + " takes a with its depth contiguous only"};
      } else {
        using A = WgmmaOperand<V::kTileRows, decltype(a)::value>;
        using B = WgmmaOperand<V::kCols, decltype(b)::value>;
        const auto maps = make_maps<A, B>(product);
        if (!maps) return maps.error();
        const auto kernel = args.dtype == Dtype::f16 ? gemm_split_k<__half, V, A, B>
                                                     : gemm_split_k<__nv_bfloat16, V, A, B>;
        const Tiles<V> tiles(product);
        return launch_kernel<Begins::early>(kernel, unsigned(tiles.all * splits), V::kThreads,
                                            splits, kSharedBytes<Shared<V>>, stream, *maps, args,
                                            tiles);
      }
    });
  });
}
constinit const Rung rung = {.idea = "few tiles: blocks of a cluster share a sum",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.barriers = 2}};

}  // namespace ridge::gemm::split_k
