// The timeline of a real GPU, from CUPTI's activity records. They come in buffers, some time after
// the work was done; what CUPTI 13.0 has no record of, host functions, the trace does not show.
#include <cupti.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "core/chrome_trace.h"

namespace {

using ridge::ChromeTrace;

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kBufferAlign = 8;            // what CUPTI asks for
constexpr uint32_t kFlushMilliseconds = 500;  // a program that is killed loses no more than this
constexpr uint64_t kRowsOfADevice = 1'000'000;

struct State {
  explicit State(const char* path) : file(path) {}
  ChromeTrace file;
  std::mutex mutex;
  std::set<uint64_t> named;
};
State* state = nullptr;  // never destroyed: CUPTI's thread may outlive main

// The streams of a process that has them on one device, as all of ours do, are the rows; those of a
// second device come below.
uint64_t row_of(uint32_t device, uint32_t stream) {
  const uint64_t row = device * kRowsOfADevice + stream;
  if (state->named.insert(row).second) {
    std::string name = "stream " + std::to_string(stream);
    if (device != 0) name = "GPU " + std::to_string(device) + ", " + name;
    state->file.name_row(row, name);
  }
  return row;
}

ChromeTrace::Memory memory_of(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return ChromeTrace::Memory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return ChromeTrace::Memory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED: return ChromeTrace::Memory::managed;
    default: return ChromeTrace::Memory::device;
  }
}

void write(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      state->file.kernel(row_of(k.deviceId, k.streamId), {k.start, k.end}, k.name ? k.name : "",
                         {uint32_t(k.gridX), uint32_t(k.gridY), uint32_t(k.gridZ)},
                         {uint32_t(k.blockX), uint32_t(k.blockY), uint32_t(k.blockZ)},
                         uint32_t(k.dynamicSharedMemory));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& c = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      state->file.copy(row_of(c.deviceId, c.streamId), {c.start, c.end}, memory_of(c.srcKind),
                       memory_of(c.dstKind), c.bytes);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& c = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      state->file.copy(row_of(c.deviceId, c.streamId), {c.start, c.end}, memory_of(c.srcKind),
                       memory_of(c.dstKind), c.bytes);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      state->file.fill(row_of(m.deviceId, m.streamId), {m.start, m.end}, m.bytes);
      return;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto& d = *reinterpret_cast<const CUpti_ActivityDevice5*>(record);
      if (d.id == 0) state->file.name_process(d.name ? d.name : "GPU");
      return;
    }
    default: return;
  }
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlign, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t used) {
  {
    const std::lock_guard lock(state->mutex);
    for (CUpti_Activity* record = nullptr;
         cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS;)
      write(record);
  }
  std::free(buffer);
}

uint64_t CUPTIAPI now() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

void at_exit() { cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); }

CUptiResult start() {
  if (const CUptiResult r = cuptiActivityRegisterTimestampCallback(now)) return r;
  if (const CUptiResult r = cuptiActivityRegisterCallbacks(give_buffer, take_buffer)) return r;
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DEVICE})
    if (const CUptiResult r = cuptiActivityEnable(kind)) return r;
  return cuptiActivityFlushPeriod(kFlushMilliseconds);
}

}  // namespace

// The driver calls it from cuInit.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = std::getenv("RIDGE_TRACE");
  if (!path || state) return 1;
  state = new State(path);
  if (const CUptiResult failed = start()) {
    const char* why = "";
    cuptiGetResultString(failed, &why);
    std::fprintf(stderr, "ridge: no trace: CUPTI says %s\n", why);
    return 1;
  }
  std::atexit(at_exit);
  return 1;
}
