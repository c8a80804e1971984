// The kernel that all rungs of vector_add_streamed share, and the pipeline that keeps both
// directions of the link and the SMs busy at once.
#pragma once

#include <algorithm>
#include <utility>

#include "device/from_detail.cuh"
#include "kernels/vector_add_streamed/vector_add_streamed.h"

namespace ridge::vector_add_streamed {

constexpr int kThreads = 256;

// The buffers start at multiples of 16 bytes.
__global__ void __launch_bounds__(kThreads)
    add(const float* a, const float* b, float* out, int64_t n) {
  constexpr int P = kPackSize<float>;
  const int64_t i = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * P;
  if (i + P <= n) {
    const float4 x = *reinterpret_cast<const float4*>(a + i);
    const float4 y = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(out + i) = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
  } else {
    for (int64_t j = i; j < n; ++j) out[j] = a[j] + b[j];
  }
}
// All rungs use this kernel: they differ in when `add` runs, not in what it does.
constexpr Claims kAddClaims = {
    .global_loads_per_element = 0.5, .global_stores_per_element = 0.25, .barriers = 0};

inline Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("streaming: ") + cudaGetErrorString(error)};
}

// Room for `count` floats, so that the next buffer starts at a multiple of 256 bytes.
constexpr int64_t padded(int64_t count) { return (count + 63) / 64 * 64; }

// Elements [begin, begin + count) by way of `buffers`, which holds three times padded(count).
inline Status add_chunk(const Args& args, int64_t begin, int64_t count, float* buffers,
                        cudaStream_t stream) {
  const size_t bytes = size_t(count) * sizeof(float);
  float* const a = buffers;
  float* const b = a + padded(count);
  float* const out = b + padded(count);
  for (const auto& [to, from] : {std::pair{a, args.a}, std::pair{b, args.b}})
    if (const Status s =
            status_of(cudaMemcpyAsync(to, from + begin, bytes, cudaMemcpyHostToDevice, stream));
        !s)
      return s;
  const int64_t packs = (count + kPackSize<float> - 1) / kPackSize<float>;
  add<<<unsigned((packs + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, b, out, count);
  if (const Status s = launch_status(); !s) return s;
  return status_of(cudaMemcpyAsync(args.out + begin, out, bytes, cudaMemcpyDeviceToHost, stream));
}

// Streams beside the caller's. After fork they start where the caller's stream stands, and after
// join the caller's stream waits for them. They are destroyed when their work is done, without
// waiting for it.
template <int N>
class SideStreams {
 public:
  SideStreams() = default;
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;
  ~SideStreams() {
    if (event_) (void)cudaEventDestroy(event_);
    for (cudaStream_t stream : streams_)
      if (stream) (void)cudaStreamDestroy(stream);
  }
  Status make() {
    for (cudaStream_t& stream : streams_)
      if (const Status s = status_of(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); !s)
        return s;
    return status_of(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  // A wait takes the last record, so one event does for all.
  Status fork(cudaStream_t from) {
    if (const Status s = status_of(cudaEventRecord(event_, from)); !s) return s;
    for (cudaStream_t stream : streams_)
      if (const Status s = status_of(cudaStreamWaitEvent(stream, event_, 0)); !s) return s;
    return Status::ok();
  }
  Status join(cudaStream_t to) {
    for (cudaStream_t stream : streams_) {
      if (const Status s = status_of(cudaEventRecord(event_, stream)); !s) return s;
      if (const Status s = status_of(cudaStreamWaitEvent(to, event_, 0)); !s) return s;
    }
    return Status::ok();
  }
  cudaStream_t operator[](int i) const { return streams_[i]; }

 private:
  cudaEvent_t event_ = nullptr;
  cudaStream_t streams_[N] = {};
};

// The elements in `chunks` chunks. No chunk is so short that its copy is not worth starting, and
// none is longer than its buffers should be.
constexpr int64_t kLeastChunk = 16 * 1024, kMostChunk = 8 * 1024 * 1024;  // elements
constexpr int64_t chunk_of(int64_t n, int chunks) {
  return std::clamp((n + chunks - 1) / chunks, kLeastChunk, kMostChunk);
}
template <int Streams, int Chunks>
size_t pipeline_workspace(const Args& a, const DeviceInfo&) {
  if (a.n == 0) return 0;
  return size_t(Streams) * 3 * size_t(padded(chunk_of(a.n, Chunks))) * sizeof(float);
}

// Chunks dealt to streams in turn. A stream's copies and kernels keep their order, so its buffers
// are free when its next chunk comes.
template <int Streams, int Chunks>
Status enqueue_chunks(const Args& a, SideStreams<Streams>& side, cudaStream_t stream) {
  if (const Status s = side.fork(stream); !s) return s;
  const int64_t chunk = chunk_of(a.n, Chunks);
  int turn = 0;
  for (int64_t begin = 0; begin < a.n; begin += chunk, turn = (turn + 1) % Streams) {
    float* const buffers = static_cast<float*>(a.workspace) + turn * 3 * padded(chunk);
    if (const Status s = add_chunk(a, begin, std::min(chunk, a.n - begin), buffers, side[turn]); !s)
      return s;
  }
  return side.join(stream);
}

inline Expected<bool> is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const Status s = status_of(cudaStreamIsCapturing(stream, &status)); !s) return s.error();
  return status != cudaStreamCaptureStatusNone;
}
// In somebody else's graph, whose side streams would have to outlive this call: one after another.
template <int Chunks>
Status enqueue_serially(const Args& a, cudaStream_t stream) {
  const int64_t chunk = chunk_of(a.n, Chunks);
  for (int64_t begin = 0; begin < a.n; begin += chunk)
    if (const Status s = add_chunk(a, begin, std::min(chunk, a.n - begin),
                                   static_cast<float*>(a.workspace), stream);
        !s)
      return s;
  return Status::ok();
}

template <int Streams, int Chunks>
Status run_pipeline(const Args& a, cudaStream_t stream) {
  const auto capturing = is_capturing(stream);
  if (!capturing) return capturing.error();
  if (*capturing) return enqueue_serially<Chunks>(a, stream);
  SideStreams<Streams> side;
  if (const Status s = side.make(); !s) return s;
  return enqueue_chunks<Streams, Chunks>(a, side, stream);
}

inline size_t whole_workspace(const Args& a, const DeviceInfo&) {
  return 3 * size_t(padded(a.n)) * sizeof(float);
}
constexpr Support adds(const Args& a) { return a.dtype == Dtype::f32 ? kSupported : "adds f32"; }

}  // namespace ridge::vector_add_streamed
