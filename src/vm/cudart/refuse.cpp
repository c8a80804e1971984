#include "vm/cudart/refuse.h"

#include <string>

#include "vm/cudart/errors.h"
#include "vm/report/sink.h"

namespace ridge::vm::cudart {

int refuse(const char* what, const char* group) {
  report::Finding f;
  f.kind = "unsupported";
  f.message = std::string(what) + " is not supported by the software GPU (" + group +
              "; see docs/runtime.md)";
  report::tell(f);
  return remember(cudaErrorNotSupported);
}

}  // namespace ridge::vm::cudart
