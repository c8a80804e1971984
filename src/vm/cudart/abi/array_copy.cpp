// Copies that name an array: rectangles, and runs of bytes that go on in the next row.
#include <algorithm>
#include <vector>

#include "vm/cudart/arrays.h"
#include "vm/cudart/copy.h"
#include "vm/cudart/errors.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

// One side of a copy: an array and where in it, or memory and its pitch.
struct Side {
  bool in_array = false;
  cudaArray_const_t array = nullptr;
  size_t x = 0, y = 0;  // bytes, rows
  void* memory = nullptr;
  size_t pitch = 0;
};

// An array is on the device: the kind must say so.
cudaError_t check_kind(const Side& to, const Side& from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice) return cudaSuccess;
  const bool fits = (kind == cudaMemcpyHostToDevice && !from.in_array) ||
                    (kind == cudaMemcpyDeviceToHost && !to.in_array);
  return fits ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

cudaError_t box_of(const Side& side, const BoxExtent& extent, Box* box) {
  if (!side.in_array) {
    if (side.memory && side.pitch < extent.width) return cudaErrorInvalidPitchValue;
    *box = {side.memory, side.pitch};
    return cudaSuccess;
  }
  const ArrayRef array = find_array(side.array);
  if (!array) return cudaErrorInvalidResourceHandle;
  return box_in(*array, side.x, side.y, 0, extent, box) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t copy_rectangle(const Side& to, const Side& from, size_t width, size_t height,
                           cudaMemcpyKind kind, cudaStream_t stream, bool blocking) {
  CopyPlan plan{.to = {}, .from = {}, .extent = {width, height}, .kind = kind};
  if (const cudaError_t error = check_kind(to, from, kind)) return error;
  if (plan.extent.empty()) return cudaSuccess;
  if (const cudaError_t error = box_of(to, plan.extent, &plan.to)) return error;
  if (const cudaError_t error = box_of(from, plan.extent, &plan.from)) return error;
  return copy(plan, stream, blocking);
}

Side array_side(cudaArray_const_t array, size_t x, size_t y) { return {true, array, x, y}; }
Side memory_side(const void* memory, size_t pitch) {
  return {false, nullptr, 0, 0, const_cast<void*>(memory), pitch};
}

// How many bytes follow `side` before its row ends.
size_t rest_of_row(const Side& side, size_t count) {
  const ArrayRef array = find_array(side.array);
  return array && side.x < array->row_bytes() ? std::min(count, array->row_bytes() - side.x)
                                              : count;
}
void advance(Side& side, size_t bytes) {
  if (!side.in_array) {
    side.memory = static_cast<char*>(side.memory) + bytes;
    return;
  }
  const ArrayRef array = find_array(side.array);
  side.x += bytes;
  if (array && side.x >= array->row_bytes()) {
    side.x = 0;
    ++side.y;
  }
}

// `count` bytes in the order of memory, in as many row pieces as the arrays need: nothing is copied
// unless all of it can be.
cudaError_t copy_run(Side to, Side from, size_t count, cudaMemcpyKind kind, cudaStream_t stream,
                     bool blocking) {
  if (const cudaError_t error = check_kind(to, from, kind)) return error;
  std::vector<CopyPlan> pieces;
  while (count) {
    const size_t bytes = std::min(rest_of_row(to, count), rest_of_row(from, count));
    to.pitch = from.pitch = bytes;
    CopyPlan plan{.to = {}, .from = {}, .extent = {bytes}, .kind = kind};
    if (const cudaError_t error = box_of(to, plan.extent, &plan.to)) return error;
    if (const cudaError_t error = box_of(from, plan.extent, &plan.from)) return error;
    if (const cudaError_t error = check(plan)) return error;
    pieces.push_back(plan);
    advance(to, bytes);
    advance(from, bytes);
    count -= bytes;
  }
  for (const CopyPlan& piece : pieces)
    if (const cudaError_t error = copy(piece, stream, blocking)) return error;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return copy_rectangle(array_side(to, x, y), memory_side(from, pitch), width, height, kind,
                          nullptr, true);
  });
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return api([&] {
    return copy_rectangle(array_side(to, x, y), memory_side(from, pitch), width, height, kind,
                          stream, false);
  });
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return copy_rectangle(memory_side(to, pitch), array_side(from, x, y), width, height, kind,
                          nullptr, true);
  });
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return api([&] {
    return copy_rectangle(memory_side(to, pitch), array_side(from, x, y), width, height, kind,
                          stream, false);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return copy_rectangle(array_side(to, to_x, to_y), array_side(from, from_x, from_y), width,
                          height, kind, nullptr, true);
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                              cudaMemcpyKind kind) {
  return api([&] {
    return copy_run(array_side(to, x, y), memory_side(from, count), count, kind, nullptr, true);
  });
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] {
    return copy_run(array_side(to, x, y), memory_side(from, count), count, kind, stream, false);
  });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                cudaMemcpyKind kind) {
  return api([&] {
    return copy_run(memory_side(to, count), array_side(from, x, y), count, kind, nullptr, true);
  });
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] {
    return copy_run(memory_side(to, count), array_side(from, x, y), count, kind, stream, false);
  });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t from_x, size_t from_y, size_t count,
                                   cudaMemcpyKind kind) {
  return api([&] {
    return copy_run(array_side(to, to_x, to_y), array_side(from, from_x, from_y), count, kind,
                    nullptr, true);
  });
}

}  // extern "C"
