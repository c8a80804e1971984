// Contexts. All of them are views of the one device: they share its memory, its default stream and
// its faults. But each host thread has its own stack of contexts, and what was made in a context is
// destroyed with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

struct Context {
  unsigned flags = 0;
  bool primary = false;
  uint64_t id = 0;
  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
};
using ContextRef = std::shared_ptr<Context>;

// The calling thread's. A thread without one that has used the runtime has the primary context, as
// the runtime would have made it current. kInvalidContext: none; cudaErrorContextIsDestroyed: gone.
cudaError_t current_context(ContextRef* context);
ContextRef find_context(CUcontext handle);  // null: no such context

cudaError_t create_context(unsigned flags, ContextRef* context);  // and makes it current
cudaError_t destroy_context(CUcontext handle);
cudaError_t push_context(CUcontext handle);
cudaError_t pop_context(CUcontext* handle);
cudaError_t set_context(CUcontext handle);  // replaces the top; null: leaves none
CUcontext top_context();                    // alive or not; null: none

cudaError_t check_context_flags(unsigned flags);
ContextRef primary_context();
bool primary_is_active();
void retain_primary();
cudaError_t release_primary();
void reset_primary();

// What is made in the current context goes with it: `release` is called then, unless it was
// disowned before.
void own(const void* handle, std::function<void()> release);
void disown(const void* handle);
ContextRef owner_of(const void* handle);  // the primary context for what nobody owns

}  // namespace ridge::vm::driver
