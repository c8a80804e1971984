// The toolkit's own declarations of the driver's functions, every version of each under the name it
// is exported by (cuMemAlloc, cuMemAlloc_v2, cuMemcpy_ptds …), with default visibility, so that a
// function defined here under one of those names is exported from the shared library.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif

#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#pragma GCC visibility pop
