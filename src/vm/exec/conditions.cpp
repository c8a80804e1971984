#include "vm/exec/conditions.h"

#include <map>
#include <mutex>

namespace ridge::vm {
namespace {

struct All {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Condition>> conditions;
  uint64_t next = 1;
};
All& all() {
  static All& instance = *new All;
  return instance;
}

}  // namespace

Condition::~Condition() {
  const std::lock_guard lock(all().mutex);
  all().conditions.erase(handle);
}

ConditionRef make_condition(uint32_t initial, bool assigns_initial) {
  auto made = std::make_shared<Condition>();
  made->initial = initial;
  made->assigns_initial = assigns_initial;
  const std::lock_guard lock(all().mutex);
  made->handle = all().next++;
  all().conditions[made->handle] = made;
  return made;
}

ConditionRef find_condition(uint64_t handle) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().conditions.find(handle);
  return found == all().conditions.end() ? nullptr : found->second.lock();
}

}  // namespace ridge::vm
