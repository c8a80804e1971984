// What there is to count at each instruction of a function, found once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/decode/code.h"
#include "vm/isa/meanings.h"
#include "vm/isa/tensor_work.h"
#include "vm/observe/atomics.h"
#include "vm/observe/disassembly.h"
#include "vm/observe/wire.h"

namespace ridge::vm::observe {

// One access of the machine.
struct Touch {
  enum class Kind : uint8_t { lanes, matrices, fragments, copy, bulk, tensor, peer };
  Kind kind = Kind::lanes;
  Reach reach = Reach::none;
  bool generic = false;  // each lane's address says which memory it is
  Action action = Action::load;
  uint8_t bytes = 0;      // per lane; of matrices, per row
  uint8_t matrices = 0;   // kind matrices: how many; fragments: 1 where they are moved so
  MachineAtomic atomic;   // of reductions and atomics, and of the loads in their loops
  bool bypasses = false;  // kind copy: past the first cache
  bool peers = false;     // kind lanes: each lane's address says which block of the cluster it is
  Bulk bulk = Bulk::none;  // kinds bulk and tensor
  bool multicast = false;  // the same
  int32_t offset = 0;     // to add to the base
  uint32_t entry = 0;     // whose it is
};

// One PTX instruction.
struct Entry {
  const Instruction* source = nullptr;
  const Match* match = nullptr;
  Touch as_written;   // what PTX says it touches
  uint8_t width = 0;  // bytes per lane that the machine moves for it; 0: none
  const Instruction* merged_into = nullptr;  // another's access does this one's work
  const Instruction* passed_by = nullptr;    // predicated: the branch that the machine has not
  bool has_fillers = false;                  // switched-off loads that ptxas puts before it
  bool unclear = false;  // machine code was read, and leaves open what it does here
  bool waits = false;    // a warp waits for its result (waits.h)
  TensorWork tensor;     // of a product of matrices
};

// One decoded instruction.
struct Step {
  enum class Kind : uint8_t {
    plain,
    touches,
    branch,
    always_branches,
    leaves,
    barrier,
    phase  // a wait for a phase of an mbarrier
  };
  Kind kind = Kind::plain;
  uint8_t counts = 0;   // PTX instructions it stands for
  uint8_t entries = 0;  // entry, entry + 1 … are those
  uint8_t touches = 0;  // touch, touch + 1 …
  uint32_t entry = 0;
  uint32_t touch = 0;
};

// ptxas puts as many loads from shared memory, none of which does anything, before the first
// asynchronous copy after others have used it.
inline constexpr uint32_t kFillers = 3;

struct Plan {
  std::vector<Step> steps;    // parallel to the code's instructions, as is:
  std::vector<uint8_t> told;  // not plain
  std::vector<Entry> entries;
  std::vector<Touch> touches;
  std::string communicates;  // how blocks may learn of each other; empty: they do not
};

// `machine` is the kernel's machine code; without, the model alone decides.
Plan plan_of(const Code& code, const Disassembly* machine = nullptr);

}  // namespace ridge::vm::observe
