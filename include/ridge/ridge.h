// All operators of Ridge, one header a line.
#pragma once

#include "ridge/dtype.h"        // IWYU pragma: export
#include "ridge/elementwise.h"  // IWYU pragma: export
#include "ridge/linear.h"       // IWYU pragma: export
#include "ridge/reduce.h"       // IWYU pragma: export
#include "ridge/scan.h"         // IWYU pragma: export
#include "ridge/softmax.h"      // IWYU pragma: export
#include "ridge/status.h"       // IWYU pragma: export
#include "ridge/tensor.h"       // IWYU pragma: export
