#include "vm/cudart/copy.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "vm/cudart/asked.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {
namespace {

// Pageable memory is staged up to this size, as a driver does: the caller may reuse it when the
// call returns, though the copy has not happened yet. Larger ones wait for their turn instead.
constexpr size_t kStagingLimit = 1 << 20;

char* row(const Box& box, size_t y, size_t z) {
  return static_cast<char*>(box.start) + z * box.slice + y * box.pitch;
}

bool is_device_address(const void* p) {
  return runtime().engine.memory().is_device_range(reinterpret_cast<uintptr_t>(p));
}
// A call that returns only when its work is done; it cannot be captured.
template <class Plan>
cudaError_t run_blocking(const StreamRef& stream, const Plan& plan) {
  if (const cudaError_t error = refuse_in_capture(stream)) return error;
  if (const cudaError_t error = check_implicit(stream)) return error;
  runtime().scheduler.run_now(stream, [&] {
    tell_asked(Scheduler::running(), Work(plan));
    execute(*stream, plan);
  });
  return synchronised();
}

// Memory of a graph that no launch has allocated, or that has been freed again.
bool is_gone(const Box& box) {
  return !find_allocation(box.start) &&
         graph_memory_is_gone(reinterpret_cast<uintptr_t>(box.start));
}

// A copy whose source is a private copy of the caller's bytes, packed.
CopyPlan staged(const CopyPlan& plan, std::shared_ptr<std::vector<char>>& staging) {
  const BoxExtent& e = plan.extent;
  staging = std::make_shared<std::vector<char>>(e.width * e.height * e.depth);
  CopyPlan in = plan, out = plan;
  in.to = out.from = {staging->data(), e.width, e.width * e.height};
  execute(in);
  return out;
}

// "the destination, 0x…, is host memory"; empty where that side is as it should be.
std::string wrong_side(const char* side, const void* pointer, Range range, bool device,
                       size_t bytes) {
  const std::string start =
      std::string("the ") + side + ", " + hex_text(reinterpret_cast<uintptr_t>(pointer)) + ", ";
  if (!pointer) return std::string("the ") + side + " is a null pointer";
  if (range == Range::invalid) {
    if (const auto live = find_allocation(pointer))
      return start + "has " + std::to_string(live->end() - reinterpret_cast<uintptr_t>(pointer)) +
             " bytes to the "
             "end of its allocation, " +
             std::to_string(bytes) + " are needed";
    return start + "lies in no live allocation";
  }
  return device && range != Range::known ? start + "is not device memory" : std::string();
}

cudaError_t refuse_copy(const char* call, size_t bytes, std::string why, const char* fix) {
  return fail(cudaErrorInvalidValue, {.asked = call + (" of " + std::to_string(bytes) + " bytes"),
                                      .why = std::move(why),
                                      .fix = fix,
                                      .kind = "invalid-copy"});
}

}  // namespace

// Memory of a graph may be named before it is allocated; it is never pageable.
bool is_pageable(const Box& box) {
  return box.start && !find_allocation(box.start) && !is_device_address(box.start);
}

bool is_device(const Box& box) {
  const auto found = find_allocation(box.start);
  if (!found) return is_device_address(box.start);
  return found->kind == MemKind::device || found->kind == MemKind::array ||
         found->kind == MemKind::mapped;
}

size_t span_of(const Box& box, const BoxExtent& extent) {
  if (extent.empty()) return 0;
  size_t slices = 0, rows = 0, span = 0;
  const bool too_far = __builtin_mul_overflow(extent.depth - 1, box.slice, &slices) ||
                       __builtin_mul_overflow(extent.height - 1, box.pitch, &rows) ||
                       __builtin_add_overflow(slices, rows, &span) ||
                       __builtin_add_overflow(span, extent.width, &span);
  return too_far ? SIZE_MAX : span;  // which no allocation holds
}

// The direction says which side must be memory the device knows; the other may be anything, as in
// the real runtime.
cudaError_t check(const CopyPlan& plan) {
  if (plan.extent.empty()) return cudaSuccess;
  if (plan.kind < cudaMemcpyHostToHost || plan.kind > cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection,
                {.asked = {},
                 .why = "there is no direction " + std::to_string(int(plan.kind)),
                 .fix = "use cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost and so on",
                 .kind = "invalid-copy"});
  const size_t to_bytes = span_of(plan.to, plan.extent);
  const size_t from_bytes = span_of(plan.from, plan.extent);
  const bool to_device =
      plan.kind == cudaMemcpyHostToDevice || plan.kind == cudaMemcpyDeviceToDevice;
  const bool from_device =
      plan.kind == cudaMemcpyDeviceToHost || plan.kind == cudaMemcpyDeviceToDevice;
  std::string why = wrong_side("destination", plan.to.start, classify(plan.to.start, to_bytes),
                               to_device, to_bytes);
  if (why.empty())
    why = wrong_side("source", plan.from.start, classify(plan.from.start, from_bytes), from_device,
                     from_bytes);
  if (why.empty()) return cudaSuccess;
  constexpr const char* kDirections[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                         "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                         "cudaMemcpyDefault"};
  return refuse_copy("copy", plan.extent.width * plan.extent.height * plan.extent.depth,
                     why + " (" + kDirections[plan.kind] + ")",
                     "check the size, the pointers (destination first) and the direction");
}

void execute(const CopyPlan& plan) {
  const BoxExtent& e = plan.extent;
  if (sticky_error() || e.empty()) return;
  const Allocations& memory = runtime().engine.memory();
  const auto copy_row = [&, watching = observer()](char* to, const char* from) {
    if (watching)
      watching->copies(memory, reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from),
                       e.width);
    std::memmove(memory.place(to), memory.place(from), e.width);
  };
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) copy_row(row(plan.to, y, z), row(plan.from, y, z));
}

cudaError_t copy(const CopyPlan& plan, cudaStream_t handle, bool blocking) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check(plan)) return error;
  if (plan.extent.empty()) return cudaSuccess;
  if (capture_of(stream)) return blocking ? refuse_in_capture(stream) : enqueue(stream, plan);
  if (is_gone(plan.to) || is_gone(plan.from)) return cudaErrorInvalidValue;
  if (blocking)
    return is_device(plan.to) && is_device(plan.from) ? enqueue(stream, plan)
                                                      : run_blocking(stream, plan);
  if (!is_pageable(plan.from) && !is_pageable(plan.to)) return enqueue(stream, plan);
  const size_t bytes = plan.extent.width * plan.extent.height * plan.extent.depth;
  if (is_pageable(plan.to) || bytes > kStagingLimit) return run_blocking(stream, plan);
  if (const cudaError_t error = check_implicit(stream)) return error;
  std::shared_ptr<std::vector<char>> staging;
  const CopyPlan out = staged(plan, staging);
  const Ticket ticket =
      runtime().scheduler.submit(stream, [&on = *stream, out, staging] { execute(on, out); });
  tell_asked(ticket->order, Work(plan));
  return cudaSuccess;
}

cudaError_t copy_in_batch(const CopyPlan& plan, cudaStream_t handle, bool now) {
  const StreamRef stream = find_stream(handle);
  if (!now) return enqueue(stream, plan);
  if (const cudaError_t error = refuse_in_capture(stream)) return error;
  std::shared_ptr<std::vector<char>> staging;
  const CopyPlan out = staged(plan, staging);
  const Ticket ticket = runtime().scheduler.submit(stream, [out, staging] { execute(out); });
  tell_asked(ticket->order, Work(plan));
  return cudaSuccess;
}

cudaError_t check(const FillPlan& plan) {
  if (plan.extent.empty()) return cudaSuccess;
  const size_t bytes = span_of(plan.to, plan.extent);
  std::string why =
      wrong_side("destination", plan.to.start, classify(plan.to.start, bytes), true, bytes);
  if (why.empty()) return cudaSuccess;
  return refuse_copy("fill", plan.extent.width * plan.extent.height * plan.extent.depth,
                     std::move(why), "check the size and the pointer");
}

void execute(const FillPlan& plan) {
  const BoxExtent& e = plan.extent;
  if (sticky_error() || e.empty()) return;
  const Allocations& memory = runtime().engine.memory();
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) {
      char* to = row(plan.to, y, z);
      if (Observer* watching = observer())
        watching->fills(memory, reinterpret_cast<uintptr_t>(to), e.width);
      to = memory.place(to);
      if (plan.element == 1) {
        std::memset(to, int(plan.value), e.width);
        continue;
      }
      for (size_t x = 0; x < e.width; x += plan.element)
        std::memcpy(to + x, &plan.value, plan.element);
    }
}

cudaError_t fill(const FillPlan& plan, cudaStream_t handle, bool blocking) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check(plan)) return error;
  if (plan.extent.empty()) return cudaSuccess;
  if (blocking && capture_of(stream)) return refuse_in_capture(stream);
  if (!capture_of(stream) && is_gone(plan.to)) return cudaErrorInvalidValue;
  return blocking && !is_device(plan.to) ? run_blocking(stream, plan) : enqueue(stream, plan);
}

}  // namespace ridge::vm::cudart
