// The library a program is linked with where there is no driver: every name, and nothing behind it.
#define RIDGE_FUNCTION(exported, name, version, null_stream) \
  extern "C" __attribute__((visibility("default"))) void exported() {}
#include "vm/driver/functions.def"
#undef RIDGE_FUNCTION
