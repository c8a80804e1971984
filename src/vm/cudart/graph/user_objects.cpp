#include "vm/cudart/graph/user_objects.h"

#include <algorithm>
#include <climits>
#include <mutex>
#include <unordered_map>

#include "vm/cudart/graph/graph.h"

namespace ridge::vm::cudart {

struct UserObject {
  UserObject(void* data, cudaHostFn_t destroy) : data(data), destroy(destroy) {}
  ~UserObject() { destroy(data); }
  UserObject(const UserObject&) = delete;

  void* data;
  cudaHostFn_t destroy;
};

namespace {

using ObjectRef = std::shared_ptr<UserObject>;

struct AllUserObjects {
  std::mutex mutex;
  std::unordered_map<const void*, std::weak_ptr<UserObject>> known;
  std::unordered_map<const void*, HeldObject> own;  // the program's references
};
AllUserObjects& all_user_objects() {
  static auto& instance = *new AllUserObjects;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

bool valid(unsigned count) { return count && count <= unsigned(INT_MAX); }

ObjectRef find(cudaUserObject_t handle) {  // the lock is held
  const auto found = all_user_objects().known.find(handle);
  return found == all_user_objects().known.end() ? nullptr : found->second.lock();
}

}  // namespace

cudaError_t create_user_object(cudaUserObject_t* handle, void* data, cudaHostFn_t destroy,
                               unsigned count) {
  if (!handle || !destroy || !valid(count)) return cudaErrorInvalidValue;
  auto made = std::make_shared<UserObject>(data, destroy);
  *handle = reinterpret_cast<cudaUserObject_t>(made.get());
  const Lock lock(all_user_objects().mutex);
  std::erase_if(all_user_objects().known, [](const auto& entry) { return entry.second.expired(); });
  all_user_objects().known[made.get()] = made;
  all_user_objects().own[made.get()] = {made, count};
  return cudaSuccess;
}

cudaError_t retain_user_object(cudaUserObject_t handle, unsigned count) {
  const Lock lock(all_user_objects().mutex);
  ObjectRef object = find(handle);
  if (!object || !valid(count)) return cudaErrorInvalidValue;
  HeldObject& held = all_user_objects().own[object.get()];
  held.object = std::move(object);
  held.count += count;
  return cudaSuccess;
}

cudaError_t release_user_object(cudaUserObject_t handle, unsigned count) {
  ObjectRef last;  // let go, and perhaps destroyed, outside the lock
  const Lock lock(all_user_objects().mutex);
  const auto held = all_user_objects().own.find(handle);
  if (held == all_user_objects().own.end() || !valid(count)) return cudaErrorInvalidValue;
  // More than there are is no error, as on an H200.
  if (count < held->second.count) {
    held->second.count -= count;
    return cudaSuccess;
  }
  last = std::move(held->second.object);
  all_user_objects().own.erase(held);
  return cudaSuccess;
}

cudaError_t graph_retain(Graph& graph, cudaUserObject_t handle, unsigned count, bool move) {
  ObjectRef object;
  {
    const Lock lock(all_user_objects().mutex);
    object = find(handle);
  }
  if (!object || !valid(count)) return cudaErrorInvalidValue;
  if (move)
    if (const cudaError_t error = release_user_object(handle, count)) return error;
  const auto held = std::ranges::find(graph.objects, object, &HeldObject::object);
  if (held == graph.objects.end()) graph.objects.push_back({std::move(object), count});
  else held->count += count;
  return cudaSuccess;
}

cudaError_t graph_release(Graph& graph, cudaUserObject_t handle, unsigned count) {
  const auto held = std::ranges::find_if(graph.objects, [&](const HeldObject& h) {
    return h.object.get() == reinterpret_cast<UserObject*>(handle);
  });
  if (held == graph.objects.end() || !valid(count) || count > held->count)
    return cudaErrorInvalidValue;
  if ((held->count -= count) == 0) graph.objects.erase(held);
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
