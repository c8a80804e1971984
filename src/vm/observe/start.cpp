// Whoever is asked for by the environment watches from the start.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vm/observe/profile.h"

namespace ridge::vm::observe {
namespace {

uint64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return 0;
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (!*end && *text != '-') return value;
  std::fprintf(stderr, "ridge: %s is '%s', not a number\n", variable, text);
  std::_Exit(1);
}

__attribute__((constructor)) void start() {
  const char* path = std::getenv("RIDGE_PROFILE");
  if (!path || !*path) return;
  std::FILE* out = std::fopen(path, "we");
  if (!out) {  // before the program has done any work
    std::fprintf(stderr, "ridge: cannot write the profile to %s: %s\n", path, std::strerror(errno));
    std::_Exit(1);
  }
  add_observer(new Profiler(out, number_in("RIDGE_PROFILE_BLOCKS"),
                            number_in("RIDGE_PROFILE_SEED")));  // outlives every launch
}

}  // namespace
}  // namespace ridge::vm::observe
