#include "sets.h"

#include <algorithm>

#include "harness/inputs.h"
#include "harness/verify.h"

namespace ridge::ladders {

Expected<Sets> make_sets(const Ladder& ladder, const Case& c, const Workload& workload, int sets,
                         bool pageable) {
  Sets made(static_cast<size_t>(sets));
  for (int s = 0; s < sets; ++s) {
    Set& set = made[size_t(s)];
    std::vector<void*> pointers;
    for (size_t t = 0; t < workload.tensors.size(); ++t) {
      const TensorSpec& spec = workload.tensors[t];
      const int64_t elements = spec.span;
      auto buffer = harness::DeviceBuffer::make_bare(int64_t(bytes_for(spec.dtype, elements)),
                                                     harness::memory_of(spec, pageable));
      if (!buffer) return buffer.error();
      const bool structured = elements > 0 && ladder.input(c, t, 0).has_value();
      if (spec.role != Role::out && elements > 0) {
        const int64_t pattern = structured ? elements : std::min(elements, kPattern);
        Case seeded = c;
        seeded.seed += uint64_t(s);
        const auto bytes = harness::input_bytes(ladder, seeded, workload, t, pattern);
        if (const Status up = buffer->upload_repeated(bytes.data(), int64_t(bytes.size())); !up)
          return up.error();
      }
      pointers.push_back(buffer->data());
      set.buffers.push_back(std::move(*buffer));
    }
    set.call = std::make_unique<Call>(ladder.call(c, workload, pointers, set.kept));
    if (const Status s = check_call(*set.call, c.def->name.c_str()); !s) return s.error();
  }
  return made;
}

}  // namespace ridge::ladders
