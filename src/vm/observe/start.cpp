// Whoever is asked for by the environment watches from the start.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vm/observe/profile.h"

namespace ridge::vm::observe {
namespace {

__attribute__((constructor)) void start() {
  const char* path = std::getenv("RIDGE_PROFILE");
  if (!path || !*path) return;
  std::FILE* out = std::fopen(path, "we");
  if (!out) {  // before the program has done any work
    std::fprintf(stderr, "ridge: cannot write the profile to %s: %s\n", path, std::strerror(errno));
    std::_Exit(1);
  }
  set_observer(new Profiler(out));  // outlives every launch
}

}  // namespace
}  // namespace ridge::vm::observe
