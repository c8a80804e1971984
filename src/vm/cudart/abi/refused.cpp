// The stubs of refused.def. They take no parameters, which the calling convention allows, and the
// toolkit's header, which says otherwise, is not included here.
#include "vm/cudart/refuse.h"

#pragma GCC visibility push(default)
extern "C" {

#define RIDGE_REFUSED(name, group) \
  int name() { return ridge::vm::cudart::refuse(#name, group); }
#include "vm/cudart/abi/refused.def"
#undef RIDGE_REFUSED

}  // extern "C"
#pragma GCC visibility pop
