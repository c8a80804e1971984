// Norms of channels end in the same way: every element of a channel (batch_norm), or of a channel
// of one sample (group_norm), goes through the same line. This is the pass over all elements in the
// order of memory, 16 bytes per load, whatever the number of elements between two channels.
#pragma once

#include "device/convert_pack.cuh"
#include "device/divide.cuh"
#include "device/row.cuh"

namespace ridge {

// y = (x - mean) scale + shift, and backward dx = the same with of_dy dy added.
struct alignas(16) Line {
  float mean, scale, shift, of_dy;
  __device__ __forceinline__ float y(float x) const { return (x - mean) * scale + shift; }
  __device__ __forceinline__ float dx(float x, float dy) const { return y(x) + of_dy * dy; }
};

// Which line the elements of a block have. Elements lie in runs of `inner`, and line 0 comes again
// after the last of `lines` runs. The block starts at element `start` and has up to `span`.
class LineAt {
 public:
  LineAt() = default;
  LineAt(int64_t inner, int64_t lines, int64_t span)
      : inner_(inner, span + inner), lines_(lines, span + lines) {}

  __device__ __forceinline__ void start_at(int64_t start) {
    const int64_t run = start / inner_.divisor();
    before_ = int(start - run * inner_.divisor());
    first_ = run % lines_.divisor();
  }
  __device__ __forceinline__ int run_of(int i) const { return int(inner_.quotient(before_ + i)); }
  __device__ __forceinline__ int64_t line_of_run(int run) const {
    const int64_t line = first_ + run;
    return line - lines_.quotient(line) * lines_.divisor();
  }
  __device__ __forceinline__ int64_t operator()(int i) const { return line_of_run(run_of(i)); }

 private:
  Divider inner_, lines_;  // run of the element, round of the run
  int before_ = 0;         // elements of the first run in front of the block
  int64_t first_ = 0;      // the line of the first run
};

constexpr int kLineThreads = 256;
constexpr int kLinePacks = 4;  // under way; backward half as many of x and of dy
template <class T>
constexpr int64_t kLineSpan = int64_t(kLineThreads) * kLinePacks* kPackSize<T>;  // of a block
template <class T>
unsigned line_blocks(int64_t elements) {
  return unsigned((elements + kLineSpan<T> - 1) / kLineSpan<T>);
}

// What block blockIdx.x of kLineThreads threads does. Slots follow the boundaries of the output.
template <class T, bool kBackward>
__device__ __forceinline__ void put_lines(const void* all_x, const void* all_dy, void* all_out,
                                          int64_t elements, LineAt line_at, const Line* lines) {
  constexpr int kSize = kPackSize<T>, kHeld = kBackward ? kLinePacks / 2 : kLinePacks;
  const int64_t start = int64_t(blockIdx.x) * kLineSpan<T>;
  const int length = int(min(kLineSpan<T>, elements - start));
  T* const out = static_cast<T*>(all_out) + start;
  line_at.start_at(start);
  const RowSlots<T> slots(out, length);
  for (int first = threadIdx.x; first < slots.slots; first += kHeld * kLineThreads) {
    Pack<T> x[kHeld], dy[kHeld];
    load_row(x, static_cast<const T*>(all_x) + start, slots, first, kLineThreads, T(0.0f));
    if constexpr (kBackward)
      load_row(dy, static_cast<const T*>(all_dy) + start, slots, first, kLineThreads, T(0.0f));
    store_row<T, kHeld>(out, slots, first, kLineThreads, [&](int p) {
      float of_x[kSize], of_dy[kSize];
      to_floats(x[p], of_x);
      if constexpr (kBackward) to_floats(dy[p], of_dy);
      const int begin = slots.begin(first + p * kLineThreads);
      const int from = max(begin, 0), to = min(begin + kSize, length) - 1;
      const int run = line_at.run_of(from);
      const bool is_one = run == line_at.run_of(to);
      Line line = lines[line_at.line_of_run(run)];
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (!is_one) line = lines[line_at(min(max(begin + i, from), to))];
        of_x[i] = kBackward ? line.dx(of_x[i], of_dy[i]) : line.y(of_x[i]);
      }
      return from_floats<T>(of_x);
    });
  }
}

}  // namespace ridge
