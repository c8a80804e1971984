// Which elements of a large output are checked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ridge::harness {

// Indices in the order of the shape, ascending and without repetition. If there are at most `most`
// elements, all of them. Otherwise the corners, and in equal parts: elements on the edges, elements
// next to multiples of 16 … 256, where tiles meet, and random elements.
std::vector<int64_t> sampled_indices(std::span<const int64_t> shape, int64_t most, uint64_t seed);

}  // namespace ridge::harness
