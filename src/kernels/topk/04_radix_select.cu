// topk rung 04, radix_select: find the k-th key digit by digit, then take what is not below it.
//
// Since 03_bitonic_in_registers: k may be large, and one block serves one row. A pass counts how
//   often each value of the next 11 bits occurs among the keys that are still undecided, and so
//   learns 11 bits of the k-th key. f32 takes three passes, the 16-bit formats two. One more pass
//   takes the keys above, and of those equal to it the first ones.
// Stops at: atomics in shared memory. The first pass has one for every element, and the leading
//   bits of real data are much alike.
// Not for: few rows: each row has one block, and the other SMs are idle.
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk::radix_select {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kDigitBits = 11;
constexpr int kDigits = 1 << kDigitBits;

struct Shared {
  uint32_t counts[kDigits];
  uint32_t warp_totals[kWarps];
  uint32_t digit, above;  // the digit of the k-th key, and how many keys have a larger one
  int taken;
};

// The inclusive sum of x over the threads of the block, and its total.
__device__ uint32_t block_sum_through(uint32_t x, Shared& s, uint32_t& total) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  for (int d = 1; d < kWarpSize; d *= 2) {
    const uint32_t below = __shfl_up_sync(kAllLanes, x, d);
    if (lane >= d) x += below;
  }
  __syncthreads();
  if (lane == kWarpSize - 1) s.warp_totals[warp] = x;
  __syncthreads();
  total = 0;
  uint32_t before = 0;
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? s.warp_totals[w] : 0;
    total += s.warp_totals[w];
  }
  return before + x;
}

// Finds the digit in which the `wanted`-th largest key lies. A thread has four neighbouring digits,
// the largest first.
__device__ void find_digit(Shared& s, uint32_t wanted) {
  constexpr int kOwn = kDigits / kThreads;
  const int highest = kDigits - 1 - int(threadIdx.x) * kOwn;
  uint32_t own = 0, total;
  for (int i = 0; i < kOwn; ++i) own += s.counts[highest - i];
  uint32_t above = block_sum_through(own, s, total) - own;
  for (int i = 0; i < kOwn; ++i) {
    const uint32_t count = s.counts[highest - i];
    if (above < wanted && wanted <= above + count) {
      s.digit = uint32_t(highest - i);
      s.above = above;
    }
    above += count;
  }
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kThreads) topk_radix_select(Args a) {
  extern __shared__ Key best[];  // (k, to the next power of two)
  __shared__ Shared s;
  constexpr int kPasses =
      sizeof(T) == 2 ? 2 : 3;  // 22 bits hold the ordered bits of 16-bit formats
  const int64_t row = blockIdx.x;
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;  // (cols)
  const auto order_at = [&](int64_t c) {
    const uint32_t order = ordered_bits(to_float(x[c]));
    return a.largest ? order : ~order;
  };

  uint32_t bound = 0, known = 0;  // the k-th key, as far as `known` tells its bits
  uint32_t wanted = uint32_t(a.k);
  for (int pass = 0; pass < kPasses; ++pass) {
    const int shift = max(32 - kDigitBits * (pass + 1), 0);
    const int width = min(kDigitBits, 32 - kDigitBits * pass);
    const uint32_t mask = (1u << width) - 1;
    for (int i = int(threadIdx.x); i < kDigits; i += kThreads) s.counts[i] = 0;
    __syncthreads();
    for (int64_t c = threadIdx.x; c < a.cols; c += kThreads) {
      const uint32_t order = order_at(c);
      if ((order & known) == bound) atomicAdd(&s.counts[order >> shift & mask], 1u);
    }
    __syncthreads();
    find_digit(s, wanted);
    wanted -= s.above;
    bound |= s.digit << shift;
    known |= mask << shift;
  }

  // `wanted` keys equal the bound as far as it is known, in the order of columns; all larger ones.
  if (threadIdx.x == 0) s.taken = 0;
  uint32_t equal_before = 0;
  __syncthreads();
  for (int64_t first = 0; first < a.cols; first += kThreads) {
    const int64_t c = first + threadIdx.x;
    const uint32_t order = c < a.cols ? order_at(c) & known : 0;
    bool is_taken = c < a.cols && order > bound;
    const bool is_equal = c < a.cols && order == bound;
    if (equal_before < wanted && __syncthreads_or(is_equal)) {  // alike in all threads
      uint32_t total;
      const uint32_t through = block_sum_through(is_equal, s, total);
      is_taken |= is_equal && equal_before + through <= wanted;
      equal_before += total;
    }
    if (is_taken) best[atomicAdd(&s.taken, 1)] = key_of(to_float(x[c]), c, a.largest);
  }
  __syncthreads();
  block_sort(best, a.k);
  write_row<T>(a, row, best);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    const size_t shared = size_t(power_of_two_from(a.k)) * sizeof(Key);
    topk_radix_select<decltype(t)><<<unsigned(a.rows), kThreads, shared, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "the k-th key, 11 bits per pass",
                             .supports = takes_floats,
                             .launch = launch,
                             .claims = {// of the tour: 32 of 8192
                                        .global_stores_per_element = 2 * 32.0 / 8192}};

}  // namespace ridge::topk::radix_select
