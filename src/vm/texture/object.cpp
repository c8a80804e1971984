#include "vm/texture/object.h"

#include <mutex>

namespace ridge::vm::texture {
namespace {

const char* noun(Object::Kind kind) {
  return kind == Object::Kind::texture ? "texture object" : "surface object";
}

}  // namespace

uint64_t Objects::add(Object object) {
  const std::lock_guard lock(mutex_);
  objects_.emplace(next_, std::make_shared<const Object>(std::move(object)));
  return next_++;
}

bool Objects::destroy(uint64_t handle, Object::Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  if (found == objects_.end() || found->second->kind != kind) return false;
  objects_.erase(found);
  epoch_.fetch_add(1, std::memory_order_release);
  return true;
}

void Objects::destroy_all() {
  const std::lock_guard lock(mutex_);
  objects_.clear();
  epoch_.fetch_add(1, std::memory_order_release);
}

ObjectRef Objects::find(uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second;
}

std::string Objects::explain(uint64_t handle, Object::Kind kind) const {
  const std::shared_lock lock(mutex_);
  const std::string name = std::to_string(handle);
  if (const auto found = objects_.find(handle); found != objects_.end())
    return "handle " + name + " is a " + noun(found->second->kind) + ", not a " + noun(kind);
  if (handle != 0 && handle < next_)
    return std::string("the ") + noun(kind) + " " + name + " has been destroyed";
  return "the value " + name + " is not a " + noun(kind) + ": was it ever created?";
}

}  // namespace ridge::vm::texture
