// embedding rung 03, sorted: backward without atomics. The rows are sorted by their tokens, so that
// the rows of a token follow each other and one thread can add them up.
//
// Since 02_vectors: sums stay in registers over the rows of a token, and the table is touched once
//   per token. The result is the same, bit for bit, in every run. A token in half of all rows costs
//   no more than any other: chunks of rows are summed apart, and sums that cross the end of a chunk
//   are added in the order of the chunks.
// Stops at: the launches of the sort, for few rows; HBM, for many.
// Not for: few rows: eight launches that sort some hundred tokens take longer than all their
//   atomics.
#include "device/convert_pack.cuh"
#include "device/divide.cuh"
#include "kernels/embedding/embedding.h"
#include "kernels/embedding/order.cuh"
#include "select/select.h"

namespace ridge::embedding::sorted {

constexpr int kThreads = 256;
constexpr int kChunk = 32;  // rows in order that one thread adds
constexpr int kBatch = 8;   // of them under way at a time
constexpr Tuned kTuned = {30.0, 0.80};

// Of each chunk: the sum of its first token, where that began in an earlier one, and of its last,
// where it goes on in the next. (chunks, columns)
struct Crossing {
  float *head, *tail;
  int64_t columns;  // dim, rounded up to whole packs
};

// The columns of a row that one thread has: a pack, or every `slices`-th where rows are not
// aligned.
template <int N, bool Aligned>
struct Columns {
  int64_t slice, slices, dim;
  __device__ __forceinline__ int64_t at(int i) const {
    return Aligned ? slice * N + i : slice + i * slices;
  }
  __device__ __forceinline__ bool all() const { return Aligned && slice * N + N <= dim; }

  // As it lies in memory: half the registers of f32, for two-byte formats under way.
  template <class T>
  __device__ __forceinline__ Pack<T, N> load(const T* row) const {
    Pack<T, N> x;
    if (all()) {
#pragma unroll
      for (int i = 0; i < N; i += kPackSize<T>) {
        const Pack<T> part = load_pack(row + at(i));
#pragma unroll
        for (int j = 0; j < kPackSize<T>; ++j) x[i + j] = part[j];
      }
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = at(i) < dim ? row[at(i)] : from_float<T>(0);
    }
    return x;
  }
  __device__ __forceinline__ void store(float* row, const float (&x)[N]) const {
    if (all()) {
#pragma unroll
      for (int i = 0; i < N; i += 4)
        *reinterpret_cast<float4*>(row + at(i)) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (at(i) < dim) row[at(i)] = x[i];
    }
  }
  __device__ __forceinline__ void add(float* row, const float (&x)[N]) const {
    const Pack<float, N> before = load(static_cast<const float*>(row));
    float sum[N];
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i] = before[i] + x[i];
    store(row, sum);
  }
};

template <class T, bool Aligned>
__global__ void __launch_bounds__(kThreads)
    embedding_sum_chunks(Args args, const int32_t* keys, const int32_t* rows, Crossing crossing,
                         Divider slices) {
  constexpr int kSize = kPackSize<T>;
  const int64_t thread = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t chunk = slices.quotient(thread), begin = chunk * kChunk;
  if (begin >= args.count) return;
  const int64_t end = min(begin + kChunk, args.count);
  const Columns<kSize, Aligned> columns = {thread - chunk * slices.divisor(), slices.divisor(),
                                           args.dim};
  int32_t token = keys[begin];
  bool began_before = begin > 0 && keys[begin - 1] == token;
  float sum[kSize] = {};
  for (int64_t first = begin; first < end; first += kBatch) {
    Pack<T> x[kBatch];
    int32_t key[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (first + i >= end) break;
      key[i] = keys[first + i];
      x[i] = columns.load(static_cast<const T*>(args.dy) + rows[first + i] * args.row_stride);
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (first + i >= end) break;
      if (key[i] != token) {
        if (began_before) columns.store(crossing.head + chunk * crossing.columns, sum);
        else columns.add(args.dtable + token * args.table_stride, sum);
        began_before = false;
        token = key[i];
#pragma unroll
        for (int j = 0; j < kSize; ++j) sum[j] = 0;
      }
      float terms[kSize];
      to_floats(x[i], terms);
#pragma unroll
      for (int j = 0; j < kSize; ++j) sum[j] += terms[j];
    }
  }
  const bool goes_on = end < args.count && keys[end] == token;
  if (began_before) columns.store(crossing.head + chunk * crossing.columns, sum);
  else if (goes_on) columns.store(crossing.tail + chunk * crossing.columns, sum);
  else columns.add(args.dtable + token * args.table_stride, sum);
}

// The chunk where a crossing token begins adds up all of it.
template <bool Aligned>
__global__ void __launch_bounds__(kThreads)
    embedding_sum_crossings(Args args, const int32_t* keys, Crossing crossing, Divider slices) {
  constexpr int kSize = 4;
  const int64_t thread = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  int64_t chunk = slices.quotient(thread);
  const int64_t begin = chunk * kChunk;
  int64_t end = begin + kChunk;  // a chunk that the count cuts short crosses nothing
  if (end >= args.count) return;
  const int32_t token = keys[end - 1];
  if (keys[end] != token) return;
  if (begin > 0 && keys[begin - 1] == token) return;  // it began even earlier
  const Columns<kSize, Aligned> columns = {thread - chunk * slices.divisor(), slices.divisor(),
                                           args.dim};
  float sum[kSize];
  const auto tail =
      columns.load(static_cast<const float*>(crossing.tail) + chunk * crossing.columns);
#pragma unroll
  for (int i = 0; i < kSize; ++i) sum[i] = tail[i];
  while (end < args.count && keys[end] == token) {
    ++chunk;
    end += kChunk;
    const auto x =
        columns.load(static_cast<const float*>(crossing.head) + chunk * crossing.columns);
#pragma unroll
    for (int i = 0; i < kSize; ++i) sum[i] += x[i];
  }
  columns.add(args.dtable + token * args.table_stride, sum);
}

// The workspace, cut up; without one, its size.
struct Layout {
  order::Buffers order;
  Crossing crossing;
  size_t bytes = 0;

  explicit Layout(const Args& a) {
    const auto take = [&]<class U>(U*& p, int64_t n) {
      p = reinterpret_cast<U*>(static_cast<char*>(a.workspace) + bytes);
      bytes += (size_t(n) * sizeof(U) + 255) / 256 * 256;
    };
    const int64_t chunks = (a.count + kChunk - 1) / kChunk;
    crossing.columns = (a.dim + 7) / 8 * 8;
    for (int32_t** p : {&order.keys, &order.rows, &order.other_keys, &order.other_rows})
      take(*p, a.count);
    take(order.counts, order::tiles_of(a.count) * order::kDigits);
    take(crossing.head, chunks * crossing.columns);
    take(crossing.tail, chunks * crossing.columns);
  }
};

static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.count * a.dim == 0 ? 0 : Layout(a).bytes;
}
static Support supports(const Args& a, const DeviceInfo&) {
  return a.backward ? supported(a) : "forward there is nothing to add up";
}

template <class T, bool Aligned>
static Status sum(const Args& a, const Layout& layout, cudaStream_t stream) {
  const int64_t chunks = (a.count + kChunk - 1) / kChunk;
  const auto blocks_of = [&](int64_t slices) {
    return (chunks * slices + kThreads - 1) / kThreads;
  };
  const int64_t slices = (a.dim + kPackSize<T> - 1) / kPackSize<T>;
  embedding_sum_chunks<T, Aligned><<<unsigned(blocks_of(slices)), kThreads, 0, stream>>>(
      a, layout.order.keys, layout.order.rows, layout.crossing,
      Divider(slices, blocks_of(slices) * kThreads));
  if (const Status s = launch_status(); !s) return s;
  const int64_t f32_slices = (a.dim + 3) / 4;
  embedding_sum_crossings<Aligned><<<unsigned(blocks_of(f32_slices)), kThreads, 0, stream>>>(
      a, layout.order.keys, layout.crossing, Divider(f32_slices, blocks_of(f32_slices) * kThreads));
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.count * a.dim == 0) return Status::ok();
  const Layout layout(a);
  order::enqueue(a.tokens, a.count, a.vocab, layout.order, stream);
  if (const Status s = launch_status(); !s) return s;
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const bool aligned = is_pack_aligned(a.dy) && is_pack_aligned(a.dtable) &&
                         a.row_stride % kPackSize<T> == 0 && a.table_stride % 4 == 0;
    return aligned ? sum<T, true>(a, layout, stream) : sum<T, false>(a, layout, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {
    .idea = "rows sorted by their tokens, no atomics",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    .cost = cost,
    .claims = {.barriers = 4 * order::kRounds}};  // where keys are put in order

}  // namespace ridge::embedding::sorted
