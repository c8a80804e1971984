#include "sets.h"

#include <algorithm>

#include "harness/inputs.h"
#include "harness/verify.h"
#include "ladder/cases.h"

namespace ridge::ladders {
namespace {

// Inputs repeat after this many elements, which is far more than any kernel could profit from.
constexpr int64_t kPattern = 1 << 22;

}  // namespace

Expected<Sets> make_sets(const Ladder& ladder, const Case& c, const Workload& workload, int sets,
                         const RungInfo& rung) {
  Sets made;
  for (int s = 0; s < sets; ++s) {
    made.buffers.emplace_back();
    made.pointers.emplace_back();
    for (size_t t = 0; t < workload.tensors.size(); ++t) {
      const TensorSpec& spec = workload.tensors[t];
      const int64_t elements = count(spec.shape);
      auto buffer = harness::DeviceBuffer::make(int64_t(bytes_for(spec.dtype, elements)), 0, false,
                                                harness::memory_of(spec, rung));
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
      made.pointers.back().push_back(buffer->data());
      made.buffers.back().push_back(std::move(*buffer));
    }
  }
  return made;
}

}  // namespace ridge::ladders
