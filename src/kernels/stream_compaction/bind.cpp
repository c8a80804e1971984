#include <limits>

#include "kernels/stream_compaction/stream_compaction.h"
#include "ladder/family.h"

namespace ridge::stream_compaction {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& x = call["x"];
  if (x.elements() > int64_t(std::numeric_limits<uint32_t>::max()))
    return Error{ops::kInvalid, "compact: x has " + std::to_string(x.elements()) +
                                    " elements, and there may be at most 4294967295"};
  return launch({.x = x.data,
                 .flags = static_cast<const uint8_t*>(call["flags"].data),
                 .out = call["out"].data,
                 .count = static_cast<int64_t*>(call["count"].data),
                 .n = x.elements(),
                 .dtype = x.dtype});
}

}  // namespace ridge::stream_compaction
