// What the outputs of a call have to be, for callers that allocate them.
#pragma once

#include <cstdint>
#include <span>

#include "operator/call.h"

namespace ridge::ops {

// Fills in every tensor whose rank is kUnknownRank: its format, its shape, and its strides.
// `tensors` are those of the description, null where one is left out; `sizes` are those of its
// dimensions, Sizes::kUnknown where the inputs say them, or where they follow from others.
constexpr int kUnknownRank = -1;
Status fill_in_outputs(const OperatorDef& op, std::span<Tensor* const> tensors,
                       std::span<const Value> parameters, std::span<const int64_t> sizes);

}  // namespace ridge::ops
