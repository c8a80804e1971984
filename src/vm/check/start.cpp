// RIDGE_CHECK=FILE: watch for hazards from the start, and write them there.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vm/check/checker.h"
#include "vm/report/sink.h"

namespace ridge::vm::check {
namespace {

__attribute__((constructor)) void start() {
  const char* path = std::getenv("RIDGE_CHECK");
  if (!path || !*path) return;
  if (!report::open_sink(path, /*says=*/false)) {  // before the program has done any work
    std::fprintf(stderr, "ridge: cannot write the findings to %s: %s\n", path,
                 std::strerror(errno));
    std::_Exit(1);
  }
  add_observer(new Checker);  // outlives every launch
}

}  // namespace
}  // namespace ridge::vm::check
