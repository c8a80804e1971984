#include "vm/observe/keep_ptx.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace ridge::vm::observe {

std::string keep_ptx(const Program& program) {
  static const char* const folder = std::getenv("RIDGE_PROFILE_PTX");
  if (!folder || !*folder) return {};
  static std::mutex mutex;
  static std::map<uint64_t, std::string> kept;  // by the program's number, which is its own forever
  const std::lock_guard lock(mutex);
  std::string& path = kept[program.id];
  if (!path.empty()) return path;
  path = std::string(folder) + "/" + std::to_string(kept.size()) + ".ptx";
  if (std::FILE* file = std::fopen(path.c_str(), "we")) {
    std::fwrite(program.module->text.data(), 1, program.module->text.size(), file);
    std::fclose(file);
  }
  return path;
}

}  // namespace ridge::vm::observe
