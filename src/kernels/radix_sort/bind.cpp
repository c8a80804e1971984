#include "kernels/radix_sort/radix_sort.h"
#include "ladder/family.h"

namespace ridge::radix_sort {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor& keys = call["keys"];
  constexpr int64_t kMost = (int64_t(1) << 30) - 1;  // a tile's count shares a word with its status
  if (keys.elements() > kMost)
    return Error{ops::kInvalid, call.op().name + ": keys has " + std::to_string(keys.elements()) +
                                    " elements, and there may be at most " + std::to_string(kMost)};
  if (keys.elements() == 0) return Status::ok();
  Args args = {.keys = static_cast<const uint32_t*>(keys.data),
               .sorted_keys = static_cast<uint32_t*>(call["sorted_keys"].data),
               .n = keys.elements(),
               .descending = call.flag("descending"),
               .dtype = keys.dtype};
  if (call.op().index == kPairs) {
    args.values = static_cast<const uint32_t*>(call["values"].data);
    args.sorted_values = static_cast<uint32_t*>(call["sorted_values"].data);
  }
  return launch(args);
}

}  // namespace ridge::radix_sort
