// Copies and fills, from one byte to a 3D box. A copy is checked when it is asked for and done in
// stream order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

// One box of bytes inside pitched memory: 1D and 2D copies are boxes of height or depth 1.
struct Box {
  void* start = nullptr;  // of the first byte touched
  size_t pitch = 0;       // bytes from one row to the next
  size_t slice = 0;       // bytes from one 2D slice to the next
};
struct BoxExtent {
  size_t width = 0;  // bytes
  size_t height = 1, depth = 1;
  bool empty() const { return !width || !height || !depth; }
};
// From the first byte to behind the last one.
size_t span_of(const Box& box, const BoxExtent& extent);

struct CopyPlan {
  Box to, from;
  BoxExtent extent;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
// The plan of a 3D copy between memory and arrays. Checks pitches, and that arrays hold the box.
cudaError_t plan_of(const cudaMemcpy3DParms* parameters, CopyPlan* plan);
// A copy to a __device__ or __constant__ variable, or from it when `out`.
cudaError_t symbol_plan(const void* symbol, void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, bool out, CopyPlan* plan);
// Which errors the copy would be, by the direction and by the allocations on both sides.
cudaError_t check(const CopyPlan& plan);
void execute(const CopyPlan& plan);
// What a box lies in: memory of the device, which needs no link; memory that is not pinned.
bool is_device(const Box& box);
bool is_pageable(const Box& box);
// Checks, then copies in the stream's order. `blocking`: cudaMemcpy's rules, else
// cudaMemcpyAsync's.
cudaError_t copy(const CopyPlan& plan, cudaStream_t stream, bool blocking);

// One copy of a batch: its source is read when the stream gets there or, with `now`, before the
// call returns.
cudaError_t copy_in_batch(const CopyPlan& plan, cudaStream_t stream, bool now);

struct FillPlan {
  Box to;
  BoxExtent extent;  // width in bytes
  uint32_t value = 0;
  size_t element = 1;  // bytes: 1, 2 or 4
};
cudaError_t check(const FillPlan& plan);
void execute(const FillPlan& plan);
cudaError_t fill(const FillPlan& plan, cudaStream_t stream, bool blocking);

}  // namespace ridge::vm::cudart
