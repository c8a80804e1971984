// The toolkit's own declarations of the runtime's functions and types, with default visibility, so
// that a function defined here under one of those names is exported from the shared library.
#pragma once

#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop
