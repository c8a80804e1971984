#include "vm/cudart/copy.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "vm/cudart/errors.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {
namespace {

// Pageable memory is staged up to this size, as a driver does: the caller may reuse it when the call returns, though
// the copy has not happened yet. Larger ones wait for their turn instead.
constexpr size_t kStagingLimit = 1 << 20;

char* row(const Box& box, size_t y, size_t z) { return static_cast<char*>(box.start) + z * box.slice + y * box.pitch; }

bool is_pageable(const Box& box) { return box.start && !find_allocation(box.start); }

// A copy whose source is a private copy of the caller's bytes, packed.
CopyPlan staged(const CopyPlan& plan, std::shared_ptr<std::vector<char>>& staging) {
  const BoxExtent& e = plan.extent;
  staging = std::make_shared<std::vector<char>>(e.width * e.height * e.depth);
  CopyPlan in = plan, out = plan;
  in.to = out.from = {staging->data(), e.width, e.width * e.height};
  execute(in);
  return out;
}

}  // namespace

size_t span_of(const Box& box, const BoxExtent& extent) {
  if (extent.empty()) return 0;
  return (extent.depth - 1) * box.slice + (extent.height - 1) * box.pitch + extent.width;
}

// The direction says which side must be memory the device knows; the other may be anything, as in the real runtime.
cudaError_t check(const CopyPlan& plan) {
  if (plan.extent.empty()) return cudaSuccess;
  if (plan.kind < cudaMemcpyHostToHost || plan.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  const Range to = classify(plan.to.start, span_of(plan.to, plan.extent));
  const Range from = classify(plan.from.start, span_of(plan.from, plan.extent));
  if (to == Range::invalid || from == Range::invalid) return cudaErrorInvalidValue;
  const bool to_device = plan.kind == cudaMemcpyHostToDevice || plan.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = plan.kind == cudaMemcpyDeviceToHost || plan.kind == cudaMemcpyDeviceToDevice;
  if ((to_device && to != Range::known) || (from_device && from != Range::known)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void execute(const CopyPlan& plan) {
  const BoxExtent& e = plan.extent;
  if (sticky_error() || e.empty()) return;
  const bool packed = e.height == 1 && e.depth == 1;
  if (packed) {
    std::memmove(plan.to.start, plan.from.start, e.width);
    return;
  }
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) std::memmove(row(plan.to, y, z), row(plan.from, y, z), e.width);
}

cudaError_t copy(const CopyPlan& plan, cudaStream_t handle, bool blocking) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check(plan)) return error;
  if (plan.extent.empty()) return cudaSuccess;
  Scheduler& scheduler = runtime().scheduler;
  const bool from_pageable = is_pageable(plan.from), to_pageable = is_pageable(plan.to);
  const auto kind_of = [](const Box& box) { return find_allocation(box.start)->kind; };
  const bool device_only = !from_pageable && !to_pageable && kind_of(plan.to) == MemKind::device &&
                           kind_of(plan.from) == MemKind::device;
  const size_t bytes = plan.extent.width * plan.extent.height * plan.extent.depth;
  if (blocking ? !device_only : to_pageable || (from_pageable && bytes > kStagingLimit)) {
    scheduler.run_now(stream, [&] { execute(plan); });
    return synchronised();
  }
  if (!from_pageable) {
    scheduler.submit(stream, [plan] { execute(plan); });
    return cudaSuccess;
  }
  std::shared_ptr<std::vector<char>> staging;
  const CopyPlan out = staged(plan, staging);
  scheduler.submit(stream, [out, staging] { execute(out); });
  return cudaSuccess;
}

cudaError_t check(const FillPlan& plan) {
  if (plan.extent.empty()) return cudaSuccess;
  const bool known = classify(plan.to.start, span_of(plan.to, plan.extent)) == Range::known;
  return known ? cudaSuccess : cudaErrorInvalidValue;
}

void execute(const FillPlan& plan) {
  const BoxExtent& e = plan.extent;
  if (sticky_error() || e.empty()) return;
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y) {
      char* to = row(plan.to, y, z);
      if (plan.element == 1) {
        std::memset(to, int(plan.value), e.width);
        continue;
      }
      for (size_t x = 0; x < e.width; x += plan.element) std::memcpy(to + x, &plan.value, plan.element);
    }
}

cudaError_t fill(const FillPlan& plan, cudaStream_t handle, bool blocking) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check(plan)) return error;
  if (plan.extent.empty()) return cudaSuccess;
  const bool host = blocking && find_allocation(plan.to.start)->kind != MemKind::device;
  if (host) {
    runtime().scheduler.run_now(stream, [&] { execute(plan); });
    return synchronised();
  }
  runtime().scheduler.submit(stream, [plan] { execute(plan); });
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
