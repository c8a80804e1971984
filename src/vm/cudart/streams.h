// From cudaStream_t to a stream: user handles, and the two default streams, which a null handle may
// mean.
#pragma once

#include "vm/cudart/api.h"
#include "vm/cudart/scheduler.h"

namespace ridge::vm::cudart {

// While one of these lives, a null stream on this thread means the thread's own default stream. The
// _ptsz and _ptds entry points are their plain namesakes under such a scope.
class PerThreadDefault {
 public:
  PerThreadDefault();
  ~PerThreadDefault();
  PerThreadDefault(const PerThreadDefault&) = delete;

 private:
  bool before_;
};

StreamRef find_stream(cudaStream_t handle);  // null: no such stream
cudaStream_t create_stream(StreamKind kind, uint32_t flags, int priority);
cudaError_t destroy_stream(cudaStream_t handle);
bool is_default_stream(cudaStream_t handle);
// Attributes a program may set on a stream. They are hints: kept, and given back.
void set_stream_attribute(const StreamRef& stream, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue& value);
cudaLaunchAttributeValue stream_attribute(const StreamRef& stream, cudaLaunchAttributeID id);
void copy_stream_attributes(const StreamRef& to, const StreamRef& from);
void close_all_streams();  // device reset

}  // namespace ridge::vm::cudart
