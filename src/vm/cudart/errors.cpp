#include "vm/cudart/errors.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace ridge::vm::cudart {
namespace {

struct Row {
  int code;
  const char* name;
  const char* text;
};

constexpr Row kErrors[] = {
#define RIDGE_ERROR(code, name, text) {code, #name, text},
#include "vm/cudart/errors.def"
#undef RIDGE_ERROR
};

// The numbers are the toolkit's; a row that disagrees with the header does not compile.
#define RIDGE_ERROR(code, name, text) static_assert(name == code);
#include "vm/cudart/errors.def"
#undef RIDGE_ERROR

constexpr const char* kUnknown = "unrecognized error code";

const Row* find(cudaError_t error) {
  const auto row = std::lower_bound(std::begin(kErrors), std::end(kErrors), int(error),
                                    [](const Row& r, int code) { return r.code < code; });
  return row != std::end(kErrors) && row->code == int(error) ? row : nullptr;
}

thread_local cudaError_t last = cudaSuccess;
thread_local int driver_calls = 0;
thread_local bool uses_runtime = false;
std::atomic<bool> used_by_any{false};
std::atomic<cudaError_t> sticky{cudaSuccess};

}  // namespace

const char* error_name(cudaError_t error) {
  const Row* row = find(error);
  return row ? row->name : kUnknown;
}

const char* error_text(cudaError_t error) {
  const Row* row = find(error);
  return row ? row->text : kUnknown;
}

DriverCall::DriverCall() { ++driver_calls; }
DriverCall::~DriverCall() { --driver_calls; }
bool thread_uses_runtime() { return uses_runtime; }
bool runtime_was_used() { return used_by_any.load(std::memory_order_acquire); }

cudaError_t remember(cudaError_t error) {
  if (driver_calls) return error;
  if (!uses_runtime) {
    uses_runtime = true;
    used_by_any.store(true, std::memory_order_release);
  }
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  last = error;
  if (!CallScope::inside() && error != sticky_error()) tell_failed(error, error_name(error));
  return error;
}

cudaError_t peek_last_error() { return last; }
cudaError_t take_last_error() { return std::exchange(last, cudaSuccess); }

cudaError_t sticky_error() { return sticky.load(std::memory_order_acquire); }

bool set_sticky_error(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  return sticky.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

void clear_sticky_error() { sticky.store(cudaSuccess, std::memory_order_release); }

cudaError_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::none: return cudaSuccess;
    case FaultKind::illegal_address: return cudaErrorIllegalAddress;
    case FaultKind::misaligned_address: return cudaErrorMisalignedAddress;
    case FaultKind::invalid_address_space: return cudaErrorInvalidAddressSpace;
    case FaultKind::invalid_pc: return cudaErrorInvalidPc;
    case FaultKind::bulk_size:
    case FaultKind::illegal_instruction: return cudaErrorIllegalInstruction;
    case FaultKind::hardware_stack: return cudaErrorHardwareStackError;
    case FaultKind::assert_failed: return cudaErrorAssert;
    case FaultKind::registers:
    case FaultKind::trap: return cudaErrorLaunchFailure;
    case FaultKind::image: return cudaErrorIllegalAddress;
    case FaultKind::timeout: return cudaErrorLaunchTimeout;
    case FaultKind::out_of_memory: return cudaErrorMemoryAllocation;
    case FaultKind::unsupported: return cudaErrorNotSupported;
  }
  return cudaErrorUnknown;
}

}  // namespace ridge::vm::cudart
