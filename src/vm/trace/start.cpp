#include <cstdlib>

#include "vm/trace/tracer.h"

namespace ridge::vm::trace {
namespace {

__attribute__((constructor)) void start() {
  const char* folder = std::getenv("RIDGE_TRACE_TIME");
  if (folder && *folder) add_observer(new Tracer(folder));
}

}  // namespace
}  // namespace ridge::vm::trace
