// Arrays of the host that kernels share without a copy, for launchers above the driver.
#pragma once

#include <cstdint>
#include <string>

#include "vm/exec/launch_notes.h"

namespace ridge::vm::cudart {

// Kernels may use [base, base + bytes) from now on. It may be open already, as it is or as a part
// of something else; its name changes then. `unwritten`: its words that are kUnwrittenWord have no
// value yet.
enum class Opened : uint8_t { no, yes, as_a_part };
Opened open_array(uint64_t base, uint64_t bytes, std::string name, bool unwritten);
void close_array(uint64_t base);

// For the next launch of the calling thread.
void note_next_launch(LaunchNotes notes);
LaunchNotesRef take_launch_notes();  // null: there are none

}  // namespace ridge::vm::cudart
