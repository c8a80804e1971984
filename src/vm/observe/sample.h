// Which blocks stand for all of a launch.
#pragma once

#include <cstdint>
#include <vector>

namespace ridge::vm::observe {

// `count` of `blocks` in ascending order: the launch is cut into as many pieces, and each gives one
// block by chance, so that edges and interior, early and late have their share.
std::vector<uint64_t> sample_blocks(uint64_t blocks, uint64_t count, uint64_t seed);

}  // namespace ridge::vm::observe
