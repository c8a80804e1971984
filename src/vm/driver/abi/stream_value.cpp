// Streams that wait for a value in memory, or write one.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "vm/cudart/capture.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::StreamRef;

namespace {

struct Operation {
  CUstreamBatchMemOpType type;
  CUdeviceptr address = 0;
  uint64_t value = 0;
  unsigned flags = 0;

  bool wide() const {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  }
  bool waits() const {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  }
};

// A kernel may write the value while a stream's thread looks at it.
template <class T>
std::atomic_ref<T> word(CUdeviceptr address) {
  const auto& memory = ridge::vm::cudart::runtime().engine.memory();
  return std::atomic_ref<T>(*reinterpret_cast<T*>(memory.place(uint64_t(address))));
}

template <class T>
bool satisfied(const Operation& op) {
  const T found = word<T>(op.address).load(std::memory_order_acquire), wanted = T(op.value);
  switch (op.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return std::make_signed_t<T>(found - wanted) >= 0;  // cyclic
    case CU_STREAM_WAIT_VALUE_EQ: return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (found & wanted) != 0;
    default: return T(~(found | wanted)) != 0;
  }
}

// On a stream's thread. A dead device satisfies everything, so that waiting for it ends.
void execute(const Operation& op) {
  using namespace std::chrono_literals;
  if (op.waits()) {
    while (!ridge::vm::cudart::sticky_error() &&
           !(op.wide() ? satisfied<uint64_t>(op) : satisfied<uint32_t>(op)))
      std::this_thread::sleep_for(50us);
  } else if (op.type == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
    word<uint64_t>(op.address).store(op.value, std::memory_order_release);
  } else if (op.type == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
    word<uint32_t>(op.address).store(uint32_t(op.value), std::memory_order_release);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

cudaError_t check(const Operation& op) {
  if (op.type == CU_STREAM_MEM_OP_BARRIER) return cudaSuccess;
  if (op.flags & CU_STREAM_WAIT_VALUE_FLUSH && op.waits())
    return refuse_call("CU_STREAM_WAIT_VALUE_FLUSH", "remote writes");
  const unsigned known = op.waits() ? 3u : unsigned(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
  if (op.flags & ~known) return cudaErrorInvalidValue;
  const size_t size = op.wide() ? 8 : 4;
  if (op.address % size) return cudaErrorInvalidValue;
  const auto range = ridge::vm::cudart::classify(reinterpret_cast<void*>(op.address), size);
  return range == ridge::vm::cudart::Range::known ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t submit(CUstream handle, std::vector<Operation> operations) {
  const StreamRef stream = ridge::vm::cudart::find_stream(handle);
  if (!stream) return kInvalidHandle;
  for (const Operation& op : operations)
    if (const cudaError_t error = check(op)) return error;
  if (capture_of(stream)) {
    (void)refuse_in_capture(stream);
    return refuse_call("waiting for or writing a value in a capturing stream",
                       "memory operation nodes of graphs");
  }
  if (const cudaError_t error = check_implicit(stream)) return error;
  ridge::vm::cudart::runtime().scheduler.submit(stream, [operations = std::move(operations)] {
    for (const Operation& op : operations) execute(op);
  });
  return cudaSuccess;
}

CUresult one(CUstream stream, const Operation& operation) {
  return context_call([&] { return submit(stream, {operation}); });
}

cudaError_t operation_of(const CUstreamBatchMemOpParams& p, Operation* op) {
  op->type = p.operation;
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      *op = {p.operation, p.waitValue.address, p.waitValue.value64, p.waitValue.flags};
      return cudaSuccess;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      *op = {p.operation, p.writeValue.address, p.writeValue.value64, p.writeValue.flags};
      return cudaSuccess;
    case CU_STREAM_MEM_OP_BARRIER: return cudaSuccess;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return refuse_call("CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES", "remote writes");
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" {

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return one(stream, {CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags});
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return one(stream, {CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags});
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return one(stream, {CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags});
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return one(stream, {CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags});
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params,
                               unsigned flags) {
  return context_call([&] {
    if (flags || (count && !params) || count > 256) return cudaErrorInvalidValue;
    std::vector<Operation> operations(count);
    for (unsigned i = 0; i < count; ++i)
      if (const cudaError_t error = operation_of(params[i], &operations[i])) return error;
    return submit(stream, std::move(operations));
  });
}

// The first versions, of CUDA 8.
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags) {
  return cuStreamWriteValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags) {
  return cuStreamWriteValue64_v2(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params,
                            unsigned flags) {
  return cuStreamBatchMemOp_v2(stream, count, params, flags);
}

}  // extern "C"
