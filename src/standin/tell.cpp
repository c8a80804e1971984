#include "standin/tell.h"

#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <set>

#include "ridge/vm_counters.h"

namespace ridge::standin {

void tell(const char* kind, const std::string& message, const std::string& fix) {
  static const auto through_runtime =
      reinterpret_cast<decltype(&ridge_vm_tell)>(dlsym(RTLD_DEFAULT, "ridge_vm_tell"));
  if (through_runtime) {
    through_runtime(kind, message.c_str(), fix.c_str());
    return;
  }
  std::fprintf(stderr, "ridge: %s [%s]%s%s\n", message.c_str(), kind,
               fix.empty() ? "" : "; fix: ", fix.c_str());
}

void tell_refused(const char* library, const char* function, const char* group) {
  static std::mutex& mutex = *new std::mutex;  // never destroyed: programs call at their exit, too
  static auto& seen = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(function).second) return;
  }
  tell("unsupported", std::string(function) + " is not supported by Ridge's " + library + " (" +
                          group + "; see docs/cublas.md)");
}

}  // namespace ridge::standin
