// Combining across a warp, a block and a grid, for the operators of reduce_op.cuh. The code lies in
// include/, because ridge/reduce.cuh gives it to users.
#pragma once

#include "device/pack.cuh"
#include "device/reduce_op.cuh"
#include "ridge/detail/reduce_block.cuh"  // IWYU pragma: export
