// What -lcublas finds where the toolkit has no such library: every name, and nothing behind it.
#define RIDGE_DONE(name) extern "C" __attribute__((visibility("default"))) void name() {}
#define RIDGE_REFUSED(name, group) RIDGE_DONE(name)
#include "standin/cublas/functions.def"
