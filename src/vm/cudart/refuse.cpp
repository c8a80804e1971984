#include "vm/cudart/refuse.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/failed_call.h"

namespace ridge::vm::cudart {

int refuse(const char* what, const char* group) {
  tell_unsupported(what, group, "docs/runtime.md");
  return remember(cudaErrorNotSupported);
}

}  // namespace ridge::vm::cudart
