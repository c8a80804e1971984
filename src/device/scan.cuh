// Scans with any associative operator, as kernels use them: `detail::launch_scan` over a VectorIo,
// or over a source of elements of one's own, and the look-back under it for other single-pass
// kernels.
//
// An operator is a struct with
//   T identity() const;                  combined with anything, gives that thing
//   T operator()(T a, T b) const;        a comes before b; associative, not necessarily commutative
// The code lies in include/, because ridge/scan.cuh gives it to users.
#pragma once

#include "ridge/detail/look_back.cuh"  // IWYU pragma: export
#include "ridge/detail/scan.cuh"       // IWYU pragma: export
