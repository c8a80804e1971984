#include "vm/observe/keep_ptx.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace ridge::vm::observe {

void keep_ptx(const Module& module) {
  static const char* const folder = std::getenv("RIDGE_PROFILE_PTX");
  if (!folder || !*folder) return;
  static std::mutex mutex;
  static std::set<const Module*> kept;
  const std::lock_guard lock(mutex);
  if (!kept.insert(&module).second) return;
  const std::string path = std::string(folder) + "/" + std::to_string(kept.size()) + ".ptx";
  if (std::FILE* file = std::fopen(path.c_str(), "we")) {
    std::fwrite(module.text.data(), 1, module.text.size(), file);
    std::fclose(file);
  }
}

}  // namespace ridge::vm::observe
