// The stubs of refused.def. They take no parameters, which the calling convention allows, and the
// toolkit's header, which says otherwise, is not included here.
namespace ridge::vm::driver {
int refuse_function(const char* name, const char* group);  // abi/init.cpp
}

#pragma GCC visibility push(default)
extern "C" {

#define RIDGE_REFUSED(name, group) \
  int name() { return ridge::vm::driver::refuse_function(#name, group); }
#include "vm/driver/refused.def"
#undef RIDGE_REFUSED

}  // extern "C"
#pragma GCC visibility pop
