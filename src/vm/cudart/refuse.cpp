#include "vm/cudart/refuse.h"

#include <string>

#include "vm/cudart/errors.h"
#include "vm/cudart/report.h"

namespace ridge::vm::cudart {

int refuse(const char* what, const char* group) {
  report_once(what, std::string(what) + " is not supported by the software GPU (" + group +
                        "; see docs/runtime.md)");
  return remember(cudaErrorNotSupported);
}

}  // namespace ridge::vm::cudart
