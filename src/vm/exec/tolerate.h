// Bugs that a GPU lets pass, beside accesses (passes_on_a_gpu, src/vm/exec/warp.h).
#pragma once

#include <cstdint>

namespace ridge::vm {

struct Inst;
struct Warp;

// Whether a bulk copy of a size that a GPU cuts off goes on, because nobody wants to stop there.
// Says so, once for each line of the source.
bool bulk_size_passes_on_a_gpu(Warp& w, const Inst* inst, uint32_t lane, uint32_t size);

}  // namespace ridge::vm
