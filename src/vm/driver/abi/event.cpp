// Events.
#include "vm/cudart/events.h"

#include "vm/driver/contexts.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::Event;
using ridge::vm::cudart::EventRef;
using ridge::vm::cudart::find_event;

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return context_call([&] {
    if (const cudaError_t error = cudaEventCreateWithFlags(event, flags)) return error;
    own(*event, [handle = *event, made = std::weak_ptr<Event>(find_event(*event))] {
      const EventRef same = made.lock();
      if (same && find_event(handle) == same) (void)ridge::vm::cudart::destroy_event(handle);
    });
    return cudaSuccess;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return context_call([&] {
    if (const cudaError_t error = cudaEventDestroy(event)) return error;
    disown(event);
    return cudaSuccess;
  });
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return context_call([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return context_call([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return context_call([&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return context_call([&] { return cudaEventSynchronize(event); });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return context_call([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // extern "C"
