// Tries a change on the accesses that were seen: what the same accesses would cost in another
// layout of shared memory, in another order of threads, from another start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/gpu_spec.h"
#include "profile/model.h"
#include "vm/observe/access.h"

namespace ridge::tools::profile {

// The costs of the accesses that were kept, as they were and as they would be; each access counts
// as often as it stands for others.
struct Trial {
  double now = 0, then = 0;

  double ratio() const { return now > 0 ? then / now : 1; }
  Trial& operator+=(const Trial& other);
};

// How shared memory serves an instruction: as its counters say.
vm::observe::Service service_of(const Instruction& one);

// Whether the lanes' addresses follow from data: accesses hardly ever look like each other.
bool is_data_dependent(const Seen& seen);

// --- layouts of an array in shared memory

struct Layout {
  bool swizzled = false;  // column ^ row; otherwise `more` bytes behind every row
  uint64_t row = 0;       // bytes
  uint64_t more = 0;      // swizzled: bytes of an element

  uint64_t place(uint64_t offset) const;
  bool operator==(const Layout&) const = default;
};

// What a layout does to all instructions that go to the array.
struct LayoutTrial {
  Layout layout;
  Trial wavefronts;                        // of all of them
  std::map<const Instruction*, Trial> of;  // of each
  uint64_t more_bytes = 0;                 // of shared memory
};
// The arrays of a kernel; the dynamic part is cut where no access goes from one piece to the other.
std::vector<SharedArray> arrays_of(const Kernel& kernel);
LayoutTrial try_layout(const Kernel& kernel, const SharedArray& array, const Layout& layout);
// The layout with the fewest wavefronts; of layouts that are as good, the smallest. Nothing where
// none is better than what there is, or where accesses are not known.
std::optional<LayoutTrial> best_layout(const Kernel& kernel, const SharedArray& array,
                                       const GpuSpec& gpu);

// An array of counters in `copies`, side by side; lane l adds to copy l % copies.
LayoutTrial try_copies(const Kernel& kernel, const SharedArray& array, uint32_t copies);

// --- global memory

// threadIdx.x and threadIdx.y exchange their parts: of the accesses of one block, what each
// instruction would cost. Nothing where the block has one row, or its accesses are not all known.
struct SwapTrial {
  std::map<const Instruction*, Trial> sectors, lines, wavefronts;
};
std::optional<SwapTrial> try_swap(const Kernel& kernel);

// How many threads of a block read the same word at the same time, on average.
double readers_per_word(const Seen& seen);

}  // namespace ridge::tools::profile
