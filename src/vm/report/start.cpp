// RIDGE_FINDINGS=FILE: what goes wrong is written there, too, from the start.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vm/report/sink.h"

namespace ridge::vm::report {
namespace {

__attribute__((constructor)) void start() {
  start_folder();  // before the program changes it
  const char* path = std::getenv("RIDGE_FINDINGS");
  if (path && *path && !open_sink(path, /*says=*/true))
    std::fprintf(stderr, "ridge: cannot write the findings to %s: %s\n", path,
                 std::strerror(errno));
}

}  // namespace
}  // namespace ridge::vm::report
