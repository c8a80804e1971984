#include "vm/cudart/failed_call.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "vm/cudart/errors.h"
#include "vm/report/host_place.h"
#include "vm/report/sink.h"

namespace ridge::vm::cudart {
namespace {

thread_local int depth = 0;
struct Pending {
  cudaError_t error = cudaSuccess;
  Failure failure;
};
// A pointer, because an object with a destructor takes memory on a thread's first use, and glibc
// ends the process where there is none.
thread_local Pending* pending = nullptr;

// Answers, not failures.
constexpr cudaError_t kAnswers[] = {
    cudaErrorNotReady,
    cudaErrorPeerAccessAlreadyEnabled,
    cudaErrorPeerAccessNotEnabled,
    cudaErrorHostMemoryAlreadyRegistered,
    cudaErrorHostMemoryNotRegistered,
    cudaErrorGraphExecUpdateFailure,
    cudaErrorCudartUnloading,
    cudaErrorNotSupported,  // refuse() tells of it by name
};

// Functions whose failure is an answer: programs try what a device, a pointer or a kernel allows.
// Prefixes, so that _v2 and _ptsz belong to them.
constexpr std::string_view kQuestions[] = {
    "cudaFuncSetAttribute",
    "cuFuncSetAttribute",
    "cudaFuncGetAttributes",
    "cudaPointerGetAttribute",
    "cuPointerGetAttribute",
    "cudaDeviceGetAttribute",
    "cuDeviceGetAttribute",
    "cudaDeviceGetP2PAttribute",
    "cuDeviceGetP2PAttribute",
    "cudaDeviceCanAccessPeer",
    "cuDeviceCanAccessPeer",
    "cudaDeviceSetLimit",
    "cuCtxSetLimit",
    "cudaGetDriverEntryPoint",
    "cuGetProcAddress",
    "cudaOccupancy",
    "cuOccupancy",
    "cudaGetSymbol",
    "cuModuleGet",
    "cuLibraryGet",
    "cudaLibraryGet",
    "cudaGraphExecUpdate",
    "cuGraphExecUpdate",
    "cuCtxGet",
    "cuGetError",
    "cudaGetFuncBySymbol",
    "cudaGetKernel",
};

// PTX that does not load is no answer to any question.
bool is_answer(cudaError_t error, std::string_view function) {
  return error != cudaErrorInvalidPtx &&
         std::ranges::any_of(kQuestions,
                             [&](std::string_view name) { return function.starts_with(name); });
}

// Resolving a place asks another program, so a loop that fails does it once.
bool is_new(const report::HostCall& call, cudaError_t error) {
  static std::mutex& mutex = *new std::mutex;
  static auto& seen = *new std::set<std::pair<report::HostCall, int>>;
  const std::lock_guard lock(mutex);
  return seen.emplace(call, int(error)).second;
}

}  // namespace

CallScope::CallScope() { ++depth; }
CallScope::~CallScope() { --depth; }
bool CallScope::inside() { return depth > 0; }

cudaError_t fail(cudaError_t error, Failure failure) {
  delete pending;
  pending = new (std::nothrow) Pending{error, std::move(failure)};
  return error;
}

// Where memory has run out there is none for words either.
void tell_failed(cudaError_t error, const char* name) try {
  const std::unique_ptr<Pending> held(std::exchange(pending, nullptr));
  const Pending known = held ? std::move(*held) : Pending{};
  if (std::ranges::find(kAnswers, error) != std::end(kAnswers)) return;
  const report::HostCall call = report::host_call();
  const std::string function = report::called_function(call);
  if (is_answer(error, function) || (call && !is_new(call, error))) return;
  Failure why = known.error == error ? known.failure : Failure{};
  report::Finding f;
  f.kind = why.kind;
  f.first.place = report::host_place(call);
  if (why.asked.empty()) why.asked = function.empty() ? "a CUDA call" : function;
  if (why.why.empty()) why.why = error_text(error);
  f.message = why.asked + " failed: " + why.why + " (" + name + ")";
  f.fix = why.fix;
  report::tell(f);
} catch (const std::bad_alloc&) {
}

void tell_unsupported(const std::string& what, const char* group, const char* docs) {
  static std::mutex& mutex = *new std::mutex;
  static auto& seen = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(what).second) return;
  }
  report::Finding f;
  f.kind = "unsupported";
  f.first.place = report::host_place(report::host_call());
  f.message = what + " is not supported by the software GPU (" + group + "; see " + docs + ")";
  report::tell(f);
}

}  // namespace ridge::vm::cudart
