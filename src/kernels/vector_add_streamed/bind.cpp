#include "kernels/vector_add_streamed/vector_add_streamed.h"
#include "ladder/family.h"

namespace ridge::vector_add_streamed {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.a = static_cast<const float*>(call["a"].data),
                 .b = static_cast<const float*>(call["b"].data),
                 .out = static_cast<float*>(call["out"].data),
                 .n = call.size("n"),
                 .dtype = call["a"].dtype});
}

}  // namespace ridge::vector_add_streamed
