// Memory that the program has not freed when it ends, and where it was allocated.
#pragma once

#include <cstdint>

namespace ridge::vm::cudart {

// Notes where the program allocates, while somebody looks for leaks.
void note_allocation(uint64_t address);
// At the end of the process. Allocations of one place are one finding.
void tell_leaks();

}  // namespace ridge::vm::cudart
