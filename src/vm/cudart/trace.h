// `ridge run --trace FILE`: what the streams do, and when. It notes the start and end of each piece
// of work on the thread of a stream. Without a trace it costs one test per operation.
#pragma once

#include <cstdint>
#include <string>

#include "vm/cudart/scheduler.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {

// From now on, into this file, which exists; "": no more.
void trace_to(const std::string& file);

// From its construction to its destruction, on the stream's row.
class TraceSpan {
 public:
  TraceSpan(const Stream& stream, const Work& work);
  TraceSpan(const Stream& stream, const void* host_function);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;

 private:
  void write() const;

  const Stream& stream_;
  const Work* work_ = nullptr;  // null: nothing that shows
  const void* host_function_ = nullptr;
  uint64_t start_ = 0;
};

}  // namespace ridge::vm::cudart
