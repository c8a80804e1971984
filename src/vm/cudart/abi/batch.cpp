// Many copies or hints in one call. All of them are checked before the first is done.
#include <vector>

#include "vm/cudart/arrays.h"
#include "vm/cudart/copy.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/managed.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/work.h"

using namespace ridge::vm::cudart;

namespace {

struct OrderedCopy {
  CopyPlan plan;
  bool now = false;  // its source is read before the call returns
};

// Batches have no place in the legacy default stream.
cudaError_t check_stream(cudaStream_t handle) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  return stream->kind == StreamKind::legacy ? cudaErrorInvalidValue : cudaSuccess;
}

// Those of copies cannot be captured either; the capture goes on.
cudaError_t check_copy_stream(cudaStream_t handle) {
  if (const cudaError_t error = check_stream(handle)) return error;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(handle, &status)) return error;
  return status == cudaStreamCaptureStatusNone ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

bool valid(cudaMemcpySrcAccessOrder order, unsigned flags) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny &&
         !(flags & ~unsigned(cudaMemcpyFlagPreferOverlapWithCompute));
}

// `firsts` says from which entry of the batch on each attribute holds: 0, and then rising.
bool valid_ranges(const void* attributes, const size_t* firsts, size_t number, size_t count) {
  if (!attributes || !firsts || !number || number > count || firsts[0] != 0) return false;
  for (size_t i = 1; i < number; ++i)
    if (firsts[i] <= firsts[i - 1] || firsts[i] >= count) return false;
  return true;
}

cudaError_t copy_all(const std::vector<OrderedCopy>& copies, cudaStream_t stream) {
  for (const OrderedCopy& c : copies)
    if (const cudaError_t error = check(c.plan)) return error;
  for (const OrderedCopy& c : copies)
    if (const cudaError_t error = copy_in_batch(c.plan, stream, c.now)) return error;
  return cudaSuccess;
}

// One side of a 3D copy. `unit`: bytes of an element, which all its sizes count.
cudaError_t box_of(const cudaMemcpy3DOperand& operand, const BoxExtent& extent, size_t unit,
                   Box* box) {
  if (operand.type == cudaMemcpyOperandTypeArray) {
    const auto& [handle, at] = operand.op.array;
    const ArrayRef array = find_array(handle);
    return box_in(*array, at.x * unit, at.y, at.z, extent, box) ? cudaSuccess
                                                                : cudaErrorInvalidValue;
  }
  const auto& p = operand.op.ptr;
  const size_t pitch = p.rowLength ? p.rowLength * unit : extent.width;
  const size_t height = p.layerHeight ? p.layerHeight : extent.height;
  if (pitch < extent.width || height < extent.height) return cudaErrorInvalidValue;
  *box = {p.ptr, pitch, pitch * height};
  return cudaSuccess;
}

// Bytes of an element: an array's, else 1. 0: no such operand.
size_t element(const cudaMemcpy3DOperand& operand) {
  if (operand.type == cudaMemcpyOperandTypePointer) return 1;
  const ArrayRef array =
      operand.type == cudaMemcpyOperandTypeArray ? find_array(operand.op.array.array) : nullptr;
  return array ? array->texel_bytes() : 0;
}

cudaError_t plan_of(const cudaMemcpy3DBatchOp& op, OrderedCopy* copy) {
  const size_t from = element(op.src), to = element(op.dst), unit = from > 1 ? from : to;
  const cudaExtent& e = op.extent;
  if (!from || !to || !e.width || !e.height || !e.depth || !valid(op.srcAccessOrder, op.flags))
    return cudaErrorInvalidValue;
  if (op.src.type == op.dst.type && from != to) return cudaErrorInvalidValue;
  copy->now = op.srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
  copy->plan.extent = {e.width * unit, e.height, e.depth};
  if (const cudaError_t error = box_of(op.src, copy->plan.extent, unit, &copy->plan.from))
    return error;
  return box_of(op.dst, copy->plan.extent, unit, &copy->plan.to);
}

cudaError_t check_batch(void** pointers, const size_t* sizes, size_t count,
                        unsigned long long flags, cudaStream_t stream) {
  if (!pointers || !sizes || !count || flags) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_stream(stream)) return error;
  for (size_t i = 0; i < count; ++i)
    if (const cudaError_t error = check_managed(pointers[i], sizes[i])) return error;
  return cudaSuccess;
}

cudaError_t prefetch(void** pointers, const size_t* sizes, size_t count, cudaMemLocation* locations,
                     const size_t* firsts, size_t number, unsigned long long flags,
                     cudaStream_t stream) {
  if (const cudaError_t error = check_batch(pointers, sizes, count, flags, stream)) return error;
  if (!valid_ranges(locations, firsts, number, count)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < number; ++i)
    if (const cudaError_t error = check_location(locations[i])) return error;
  if (const cudaError_t error = enqueue(stream, EmptyWork{})) return error;
  for (size_t i = 0, which = 0; i < count; ++i) {
    if (which + 1 < number && firsts[which + 1] == i) ++which;
    note_prefetch(pointers[i], sizes[i], locations[which]);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                                 size_t count, cudaMemcpyAttributes* attributes, size_t* firsts,
                                 size_t number, cudaStream_t stream) {
  return api([&] {
    if (!to || !from || !sizes || !count || !valid_ranges(attributes, firsts, number, count))
      return cudaErrorInvalidValue;
    if (const cudaError_t error = check_copy_stream(stream)) return error;
    std::vector<OrderedCopy> copies(count);
    for (size_t i = 0, which = 0; i < count; ++i) {
      if (which + 1 < number && firsts[which + 1] == i) ++which;
      const cudaMemcpyAttributes& a = attributes[which];
      if (!sizes[i] || !valid(a.srcAccessOrder, a.flags)) return cudaErrorInvalidValue;
      copies[i].now = a.srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
      copies[i].plan.to = {to[i]};
      copies[i].plan.from = {const_cast<void*>(from[i])};
      copies[i].plan.extent = {sizes[i]};
    }
    return copy_all(copies, stream);
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* list,
                                   unsigned long long flags, cudaStream_t stream) {
  return api([&] {
    if (!count || !list || flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_copy_stream(stream)) return error;
    std::vector<OrderedCopy> copies(count);
    for (size_t i = 0; i < count; ++i)
      if (const cudaError_t error = plan_of(list[i], &copies[i])) return error;
    return copy_all(copies, stream);
  });
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                      cudaMemLocation* locations, size_t* firsts, size_t number,
                                      unsigned long long flags, cudaStream_t stream) {
  return api(
      [&] { return prefetch(pointers, sizes, count, locations, firsts, number, flags, stream); });
}

// Discarded memory may hold anything, so it may hold what it held.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return api([&] {
    if (const cudaError_t error = check_batch(pointers, sizes, count, flags, stream)) return error;
    return enqueue(stream, EmptyWork{});
  });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* locations, size_t* firsts,
                                                size_t number, unsigned long long flags,
                                                cudaStream_t stream) {
  return api(
      [&] { return prefetch(pointers, sizes, count, locations, firsts, number, flags, stream); });
}

}  // extern "C"
