// What the rungs with wgmma share: which calls they serve, the tensor maps, the products of one
// warpgroup, and how its sums become results.
//
// In the lessons a warpgroup makes 64 by 256 results; each step of the sum is 64 deep. Both
// operands may lie either way, so there is one kernel for each of the four transpositions.
#pragma once

#include <type_traits>

#include "device/ring.cuh"
#include "device/wgmma_operand.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::hopper {

constexpr int kRows = 64, kCols = 256, kDepth = 64;  // of one warpgroup and one step
constexpr int kLineBytes = 128;  // of one row of a, or column of b: as deep as a step
constexpr int kWarpgroup = 128;  // threads

// --- Which calls ---

constexpr bool is_multiple_of_16(int64_t bytes) { return bytes % 16 == 0; }
inline bool is_copied_by_tma(const void* data, int64_t pitch, int64_t lines, int64_t batch_step,
                             int64_t batch, Dtype dtype) {
  const auto bytes = int64_t(size_of(dtype));
  return is_multiple_of_16(int64_t(reinterpret_cast<uintptr_t>(data))) &&
         (lines <= 1 || (pitch > 0 && is_multiple_of_16(pitch * bytes))) &&
         (batch <= 1 || (batch_step > 0 && is_multiple_of_16(batch_step * bytes)));
}
// An operand as tiles see it: a's rows or b's columns are its width, k is its depth.
struct Operand {
  const void* data;
  int64_t width, depth, width_step, depth_step, batch_step;

  // A matrix of one line may be contiguous both ways; its depth is preferred.
  bool is_turned() const { return depth_step != 1; }
  bool is_contiguous() const { return depth_step == 1 || width_step == 1; }
  int64_t lines() const { return is_turned() ? depth : width; }
  int64_t pitch() const { return is_turned() ? depth_step : width_step; }  // from line to line
};
inline Operand operand_a(const Args& a) {
  return {a.a.data, a.m, a.k, a.a.row_step, a.a.col_step, a.a.batch_step};
}
inline Operand operand_b(const Args& a) {
  return {a.b.data, a.n, a.k, a.b.col_step, a.b.row_step, a.b.batch_step};
}

// The copy engine reaches a and b as they lie.
inline Support reaches_operands(const Args& a, const DeviceInfo& device) {
  if (device.major != 9) return "wgmma needs a Hopper GPU";
  if (a.k == 0) return "there is nothing to multiply";
  constexpr int64_t kMostSize = int64_t(1) << 31;  // coordinates are int
  if (a.m >= kMostSize || a.n >= kMostSize || a.k >= kMostSize || a.batch >= kMostSize)
    return "the copy engine takes sizes below 2^31";
  for (const Operand& x : {operand_a(a), operand_b(a)})
    if (!x.is_contiguous() ||
        !is_copied_by_tma(x.data, x.pitch(), x.lines(), x.batch_step, a.batch, a.dtype))
      return "a and b must begin and have rows at multiples of 16 bytes for the copy engine";
  return kSupported;
}

inline Support supports_asked(const Args& a, const DeviceInfo& device) {
  if (a.dtype == Dtype::f32) return "multiplies f16 and bf16";
  return reaches_operands(a, device);
}
inline Support supports_operands(const Args& a, const DeviceInfo& device) {
  const Support plain = only_plain(a);
  return plain ? supports_asked(a, device) : plain;
}

// The lessons are compiled for one format: they show an idea, and each kernel takes time to
// compile.
inline Support supports_lesson(const Args& a, const DeviceInfo& device) {
  if (a.dtype == Dtype::f16) return "this lesson multiplies bf16";
  return supports_operands(a, device);
}

// Calls f(Contiguous of a, of b) as constants.
template <class F>
auto with_majors(const Args& args, F f) {
  using Depth = std::integral_constant<Contiguous, Contiguous::depth>;
  using Width = std::integral_constant<Contiguous, Contiguous::width>;
  const bool width_a = operand_a(args).is_turned(), width_b = operand_b(args).is_turned();
  if (width_a) return width_b ? f(Width(), Width()) : f(Width(), Depth());
  return width_b ? f(Depth(), Width()) : f(Depth(), Depth());
}

// transpose(d) = transpose(b) transpose(a), as far as operands go.
inline Args transposed(Args args) {
  std::swap(args.a, args.b);
  std::swap(args.m, args.n);
  for (Matrices* x : {&args.a, &args.b}) std::swap(x->row_step, x->col_step);
  return args;
}

struct Maps {
  CUtensorMap a, b;
};
template <class A, class B>
Expected<Maps> make_maps(const Args& args) {
  const auto map = [&](auto tile, const Operand& x) {
    using Tile = decltype(tile);
    // A single line has no pitch, but the copy engine asks for one.
    constexpr int kBytes = Tile::kBytesPerElement;
    const int64_t line = ((x.is_turned() ? x.width : x.depth) * kBytes + 15) / 16 * 16;
    const int64_t pitch = x.lines() > 1 ? x.pitch() * kBytes : line;
    return Tile::map(x.data, x.width, x.depth, args.batch, pitch,
                     args.batch > 1 ? x.batch_step * kBytes : pitch);
  };
  const auto a = map(A(), operand_a(args));
  if (!a) return a.error();
  const auto b = map(B(), operand_b(args));
  if (!b) return b.error();
  return Maps{*a, *b};
}

// --- Products ---

// One step: this warpgroup's 64 rows of a, from `row` on, times all columns of b. T = float: tf32.
template <class T, class A, class B, int kSums>
__device__ __forceinline__ void multiply(const void* tile_a, int row, const void* tile_b, bool adds,
                                         float (&sums)[kSums]) {
#pragma unroll
  for (int k = 0; k < A::kDepth; k += A::kStepDepth) {
    const uint64_t a = A::descriptor(tile_a, row, k), b = B::descriptor(tile_b, 0, k);
    if constexpr (std::is_same_v<T, float>) ptx::wgmma_64xNx8(sums, a, b, adds || k > 0);
    else ptx::wgmma_64xNx16<T, A::kIsTurned, B::kIsTurned>(sums, a, b, adds || k > 0);
  }
}

// --- Results ---

// A place among the products of a batch.
struct TileAt {
  int row, col, batch;
};

// The sums of a warpgroup, straight to d.
template <class Out, int kSums>
__device__ __forceinline__ void put_sums_as(const Args& args, const TileAt& tile,
                                            const float (&sums)[kSums]) {
  const Results<Out> results(args, tile.batch);
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  const int64_t row = tile.row + 16 * warp + lane / 4, col = tile.col + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < kSums / 4; ++j) {
    put_two(results, row, col + 8 * j, sums[4 * j], sums[4 * j + 1]);
    put_two(results, row + 8, col + 8 * j, sums[4 * j + 2], sums[4 * j + 3]);
  }
}
// Of a product that was made transposed: `tile` is a place in that product.
template <class Out, int kSums>
__device__ __forceinline__ void put_turned_sums(const Args& args, const TileAt& tile,
                                                const float (&sums)[kSums]) {
  const Results<Out> results(args, tile.batch);
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  const int64_t col = tile.row + 16 * warp + lane / 4, row = tile.col + lane % 4 * 2;
#pragma unroll
  for (int s = 0; s < kSums; ++s)
    results.put(row + s / 4 * 8 + s % 2, col + s / 2 % 2 * 8, sums[s]);
}
template <class T, int kSums>
__device__ __forceinline__ void put_sums(const Args& args, const TileAt& tile,
                                         const float (&sums)[kSums]) {
  if (args.result == Dtype::f32) put_sums_as<float>(args, tile, sums);
  else put_sums_as<T>(args, tile, sums);
}

// --- Launches ---

// Dynamic shared memory begins anywhere; tiles begin at multiples of 1024 bytes.
constexpr int kAlignment = 1024;
template <class Shared>
constexpr int kSharedBytes = int(sizeof(Shared)) + kAlignment;
template <class Shared>
__device__ __forceinline__ Shared& aligned_shared() {
  extern __shared__ char raw_shared[];
  const uint32_t address = ptx::shared_address(raw_shared);
  return *reinterpret_cast<Shared*>(raw_shared + (kAlignment - address % kAlignment) % kAlignment);
}

// When the kernel begins: when the one before it is complete, or when an SM is free. Then it has to
// wait itself before it uses global memory (device/ptx/grid.cuh).
enum class Begins : uint8_t { behind, early };

template <Begins kBegins = Begins::behind, class Kernel, class... Arguments>
Status launch_kernel(Kernel kernel, unsigned blocks, int threads, int cluster, int shared_bytes,
                     cudaStream_t stream, const Arguments&... arguments) {
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  cudaLaunchAttribute attributes[2] = {};
  int count = 0;
  if (kBegins == Begins::early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {unsigned(cluster), 1, 1};
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(unsigned(threads));
  config.dynamicSmemBytes = size_t(shared_bytes);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = unsigned(count);
  error = cudaLaunchKernelEx(&config, kernel, arguments...);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  return Status::ok();
}

}  // namespace ridge::gemm::hopper
