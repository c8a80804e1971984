// Which elements of a large output are looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ridge::harness {

// Indices in the order of the shape, ascending, each once: all of them if they are at most `most`.
// Else the corners, and then in equal parts elements on the edges, elements around the multiples of
// 16 … 256, where tiles meet, and elements anywhere.
std::vector<int64_t> sampled_indices(std::span<const int64_t> shape, int64_t most, uint64_t seed);

}  // namespace ridge::harness
