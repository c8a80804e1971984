// Events.
#include "vm/cudart/events.h"

#include "vm/cudart/errors.h"

using namespace ridge::vm::cudart;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return api([&] { return create_event(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api([&] { return create_event(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([&] { return destroy_event(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api([&] { return record_event(event, stream, cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return api([&] { return record_event(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([&] { return query_event(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([&] { return synchronise_event(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api([&] { return elapsed_time(milliseconds, start, end); });
}

}  // extern "C"
