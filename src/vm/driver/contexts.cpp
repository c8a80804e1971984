#include "vm/driver/contexts.h"

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/cudart/handles.h"
#include "vm/cudart/reset.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::driver {
namespace {

struct Owned {
  Context* context;
  std::function<void()> release;
};

struct State {
  cudart::Handles<Context> created;
  ContextRef primary = std::make_shared<Context>();
  std::mutex mutex;  // guards what follows
  std::unordered_map<const void*, Owned> owned;
  int primary_uses = 0;
  int live = 0;  // created contexts
  uint64_t next_id = 2;

  State() {
    primary->primary = true;
    primary->id = 1;
  }
};
State& all() {
  static auto& instance = *new State;
  return instance;
}

thread_local std::vector<CUcontext> stack;

void release_owned(const Context* context) {
  std::vector<Owned> mine;
  {
    const std::lock_guard lock(all().mutex);
    for (auto it = all().owned.begin(); it != all().owned.end();) {
      if (it->second.context != context) {
        ++it;
        continue;
      }
      mine.push_back(std::move(it->second));
      it = all().owned.erase(it);
    }
  }
  for (const Owned& owned : mine) owned.release();
}

// The end of a context: its work is done, what was made in it goes, and a fault goes with it.
void end(const Context* context) {
  if (!cudart::runtime_started()) return;
  cudart::runtime().scheduler.wait_all();
  (void)cudart::synchronised();
  release_owned(context);
  cudart::clear_sticky_error();
}

}  // namespace

ContextRef primary_context() { return all().primary; }

ContextRef find_context(CUcontext handle) {
  if (handle == all().primary->handle()) return all().primary;
  return handle ? all().created.find(handle) : nullptr;
}

CUcontext top_context() {
  if (!stack.empty()) return stack.back();
  return cudart::thread_uses_runtime() ? all().primary->handle() : nullptr;
}

cudaError_t current_context(ContextRef* context) {
  const CUcontext top = top_context();
  if (!top) return kInvalidContext;
  *context = find_context(top);
  return *context ? cudaSuccess : cudaErrorContextIsDestroyed;
}

cudaError_t check_context_flags(unsigned flags) {
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  const bool one_policy = (schedule & (schedule - 1)) == 0;
  return (flags & ~unsigned(CU_CTX_FLAGS_MASK)) || !one_policy ? cudaErrorInvalidValue
                                                               : cudaSuccess;
}

cudaError_t create_context(unsigned flags, ContextRef* context) {
  if (const cudaError_t error = check_context_flags(flags)) return error;
  auto made = std::make_shared<Context>();
  made->flags = flags;
  {
    const std::lock_guard lock(all().mutex);
    made->id = all().next_id++;
    ++all().live;
  }
  all().created.add(made);
  stack.push_back(made->handle());
  *context = std::move(made);
  return cudaSuccess;
}

cudaError_t destroy_context(CUcontext handle) {
  if (handle && handle == all().primary->handle()) return cudaErrorInvalidValue;
  const ContextRef context = all().created.take(handle);
  if (!context) return handle ? kInvalidContext : cudaErrorInvalidValue;
  if (!stack.empty() && stack.back() == handle) stack.pop_back();
  end(context.get());
  const std::lock_guard lock(all().mutex);
  --all().live;
  return cudaSuccess;
}

cudaError_t push_context(CUcontext handle) {
  if (!find_context(handle)) return handle ? kInvalidContext : cudaErrorInvalidValue;
  stack.push_back(handle);
  return cudaSuccess;
}

cudaError_t pop_context(CUcontext* handle) {
  if (stack.empty()) return kInvalidContext;
  if (handle) *handle = stack.back();
  stack.pop_back();
  return cudaSuccess;
}

cudaError_t set_context(CUcontext handle) {
  if (handle && !find_context(handle)) return kInvalidContext;
  if (!stack.empty()) stack.pop_back();
  if (handle) stack.push_back(handle);
  return cudaSuccess;
}

bool primary_is_active() {
  const std::lock_guard lock(all().mutex);
  return all().primary_uses > 0 || cudart::thread_uses_runtime();
}

void retain_primary() {
  const std::lock_guard lock(all().mutex);
  ++all().primary_uses;
}

cudaError_t release_primary() {
  {
    const std::lock_guard lock(all().mutex);
    if (all().primary_uses == 0) return kInvalidContext;
    if (--all().primary_uses > 0) return cudaSuccess;
  }
  end(all().primary.get());
  return cudaSuccess;
}

void reset_primary() {
  bool alone = false;
  {
    const std::lock_guard lock(all().mutex);
    alone = all().live == 0;
    if (alone) all().owned.clear();
  }
  if (alone) cudart::reset_device();  // what the runtime made is the primary context's, too
  else end(all().primary.get());
}

void own(const void* handle, std::function<void()> release) {
  ContextRef context;
  if (current_context(&context)) return;
  const std::lock_guard lock(all().mutex);
  all().owned.insert_or_assign(handle, Owned{context.get(), std::move(release)});
}

void disown(const void* handle) {
  const std::lock_guard lock(all().mutex);
  all().owned.erase(handle);
}

ContextRef owner_of(const void* handle) {
  Context* context = nullptr;
  {
    const std::lock_guard lock(all().mutex);
    const auto found = all().owned.find(handle);
    if (found != all().owned.end()) context = found->second.context;
  }
  return context ? find_context(context->handle()) : all().primary;
}

}  // namespace ridge::vm::driver
