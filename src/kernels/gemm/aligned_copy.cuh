// Copies of operands that cannot be reached 16 bytes at a time: matrices that begin, or whose lines
// lie, at other places than multiples of 16 bytes. A line is a row or a column, whichever is
// contiguous. The copy has the same lines, padded to whole packs; the padding may hold anything.
//
//   const AlignedOperands aligned(args);                       // where copies would lie
//   aligned.bytes()                                            // how much workspace they take
//   if (const Status s = aligned.copy(stream); !s) return s;   // makes them
//   … aligned.args() …                                         // the same call on the copies
//
// An operand that can be reached stays where it is. The constructor touches no memory, so that
// `supports` and `workspace` may use it, too; the workspace is not there yet then, and
// aligned.args() has the right steps, but addresses that mean nothing, except that they are
// multiples of 16.
#pragma once

#include <algorithm>
#include <string>

#include "device/divide.cuh"
#include "device/shifted.cuh"
#include "kernels/gemm/gemm.h"

namespace ridge::gemm {
namespace aligned_copy {

constexpr int kThreads = 256;
constexpr int kPacks = 2;            // per thread
constexpr int64_t kCacheLine = 128;  // bytes

constexpr int64_t rounded_up(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

// An operand as contiguous lines. Its width are the rows of a, or the columns of b; steps are in
// elements.
struct Lines {
  bool along_depth;      // or along the width
  int64_t length;        // elements of a line
  int64_t count, pitch;  // lines of one matrix, and from one to the next
  int64_t batch, step;   // matrices, and from one to the next

  Lines(int64_t width, int64_t depth, int64_t width_step, int64_t depth_step, int64_t products,
        int64_t batch_step) {
    // Single elements are contiguous either way. Where both will do, the lines are the longer ones.
    const bool may_depth = depth_step == 1 || depth == 1, may_width = width_step == 1 || width == 1;
    along_depth = may_depth && (!may_width || depth >= width);
    length = along_depth ? depth : width;
    count = along_depth ? width : depth;
    pitch = along_depth ? width_step : depth_step;
    batch = batch_step == 0 ? 1 : products;  // 0: one matrix for all products
    step = batch_step;
  }

  bool is_reached(const void* data, int64_t element_bytes) const {
    const auto is_whole = [&](int64_t elements) {
      return elements > 0 && elements * element_bytes % kPackBytes == 0;
    };
    return is_pack_aligned(data) && (count <= 1 || is_whole(pitch)) &&
           (batch <= 1 || is_whole(step));
  }
  // Of a copy, in elements. Long lines begin at cache lines, so that the part of a line that a tile
  // needs touches no more of them than it must.
  int64_t copied_pitch(int64_t element_bytes) const {
    const int64_t bytes = length * element_bytes;
    return rounded_up(bytes, bytes >= 4 * kCacheLine ? kCacheLine : kPackBytes) / element_bytes;
  }
};

// What the kernel has to know of one operand. Steps are in elements.
struct Job {
  const void* from = nullptr;
  const void *begin = nullptr, *end = nullptr;  // of all elements
  void* to = nullptr;
  int64_t length = 0;
  int64_t pitch = 0, step = 0;
  int64_t to_pitch = 0, to_step = 0;
  int64_t packs = 0;  // in all; none where there is nothing to copy
  Divider packs_per_line, lines;

  int64_t blocks() const { return (packs + kThreads * kPacks - 1) / (kThreads * kPacks); }
};

// Elements as words of their size: their values do not matter.
template <class Word>
__device__ __forceinline__ void copy_packs(const Job& job, int64_t block) {
  constexpr int kSize = kPackSize<Word>;
  struct Asked {
    const Word* at;
    uint4* to;       // none: no pack
    int count;       // elements of the pack that there are
    bool is_loaded;  // low and high hold them
    uint4 low, high;
  };
  Asked asked[kPacks];
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {  // all loads first
    Asked& one = asked[i];
    const int64_t pack = (block * kPacks + i) * kThreads + int(threadIdx.x);
    one.to = nullptr;
    if (pack >= job.packs) continue;
    const int64_t line = job.packs_per_line.quotient(pack);
    const int64_t matrix = job.lines.quotient(line);
    const int64_t first = (pack - line * job.packs_per_line.divisor()) * kSize;  // of its line
    const int64_t in_matrix = line - matrix * job.lines.divisor();
    one.at = static_cast<const Word*>(job.from) + matrix * job.step + in_matrix * job.pitch + first;
    one.to = reinterpret_cast<uint4*>(static_cast<Word*>(job.to) + matrix * job.to_step +
                                      in_matrix * job.to_pitch + first);
    one.count = int(min(job.length - first, int64_t(kSize)));
    // The aligned packs around it, where they lie within the operand.
    const int shift = bytes_past_alignment(one.at);
    const bool needs_high = shift + one.count * int(sizeof(Word)) > kPackBytes;
    const char* const aligned = reinterpret_cast<const char*>(one.at) - shift;
    one.is_loaded = aligned >= job.begin && aligned + (needs_high ? 2 : 1) * kPackBytes <= job.end;
    if (!one.is_loaded) continue;
    one.low = __ldg(reinterpret_cast<const uint4*>(aligned));
    one.high = needs_high ? __ldg(reinterpret_cast<const uint4*>(aligned) + 1) : uint4();
  }
#pragma unroll
  for (const Asked& one : asked) {
    if (!one.to) continue;
    *one.to = one.is_loaded ? shifted(one.low, one.high, bytes_past_alignment(one.at))
                            : gather(one.at, one.count);
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads) gemm_aligned_copy(Job a, Job b, unsigned blocks_of_a) {
  if (blockIdx.x < blocks_of_a) copy_packs<Word>(a, blockIdx.x);
  else copy_packs<Word>(b, blockIdx.x - blocks_of_a);
}

}  // namespace aligned_copy

class AlignedOperands {
 public:
  explicit AlignedOperands(const Args& args) : given_(args), args_(args) {
    if (is_empty(args) || args.k == 0) return;
    using aligned_copy::Lines;
    place(args_.a, args_.a.row_step, args_.a.col_step, a_,
          Lines(args.m, args.k, args.a.row_step, args.a.col_step, args.batch, args.a.batch_step));
    place(args_.b, args_.b.col_step, args_.b.row_step, b_,
          Lines(args.n, args.k, args.b.col_step, args.b.row_step, args.batch, args.b.batch_step));
  }

  // The call on operands that can be reached. What is left of the workspace is in it. Of each
  // operand, one step is 1 and the other one is a multiple of 16 bytes, also where there is only
  // one line.
  const Args& args() const { return args_; }
  size_t bytes() const { return bytes_; }

  Status copy(cudaStream_t stream) const {
    if (bytes_ == 0) return Status::ok();
    if (given_.workspace_bytes < bytes_)
      return Error{int(cudaErrorInvalidValue),
                   "the workspace has " + std::to_string(given_.workspace_bytes) +
                       " bytes, but aligned copies of the operands take " + std::to_string(bytes_)};
    const auto kernel = size_of(given_.dtype) == 2 ? aligned_copy::gemm_aligned_copy<uint16_t>
                                                   : aligned_copy::gemm_aligned_copy<uint32_t>;
    kernel<<<unsigned(a_.blocks() + b_.blocks()), aligned_copy::kThreads, 0, stream>>>(
        a_, b_, unsigned(a_.blocks()));
    return launch_status();
  }

 private:
  // Says where one operand will be found.
  void place(Matrices& operand, int64_t& width_step, int64_t& depth_step, aligned_copy::Job& job,
             const aligned_copy::Lines& lines) {
    const auto element = int64_t(size_of(given_.dtype));
    const int64_t pitch = lines.copied_pitch(element);
    const bool stays = lines.is_reached(operand.data, element);
    (lines.along_depth ? depth_step : width_step) = 1;
    if (!stays || lines.count <= 1) (lines.along_depth ? width_step : depth_step) = pitch;
    if (stays) return;
    const int64_t step = lines.step == 0 ? 0 : lines.count * pitch;
    const int64_t per_line = (lines.length * element + kPackBytes - 1) / kPackBytes;
    const int64_t last_line = (lines.count - 1) * lines.pitch;
    const int64_t last_matrix = (lines.batch - 1) * lines.step;
    const auto* const from = static_cast<const char*>(operand.data);
    const int64_t all_lines = lines.batch * lines.count;
    job = {.from = from,
           .begin = from +
                    (std::min(last_line, int64_t(0)) + std::min(last_matrix, int64_t(0))) * element,
           .end = from + (std::max(last_line, int64_t(0)) + std::max(last_matrix, int64_t(0)) +
                          lines.length) *
                             element,
           .to = taken(all_lines * pitch * element),
           .length = lines.length,
           .pitch = lines.pitch,
           .step = lines.step,
           .to_pitch = pitch,
           .to_step = step,
           .packs = all_lines * per_line,
           .packs_per_line = Divider(per_line, all_lines * per_line + 1),
           .lines = Divider(lines.count, all_lines + 1)};
    operand.data = job.to;
    operand.batch_step = step;
  }

  // From the workspace, at a cache line.
  void* taken(int64_t bytes) {
    using aligned_copy::kCacheLine;
    auto at = reinterpret_cast<uintptr_t>(args_.workspace);
    if (bytes_ == 0) {
      at += -at % kCacheLine;
      bytes_ = kCacheLine;  // whatever the start, as much is asked for
    }
    const auto whole = size_t(aligned_copy::rounded_up(bytes, kCacheLine));
    bytes_ += whole;
    args_.workspace = reinterpret_cast<void*>(at + whole);
    args_.workspace_bytes = given_.workspace_bytes - std::min(bytes_, given_.workspace_bytes);
    return reinterpret_cast<void*>(at);
  }

  Args given_, args_;
  aligned_copy::Job a_, b_;
  size_t bytes_ = 0;
};

}  // namespace ridge::gemm
