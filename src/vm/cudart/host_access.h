// What happens when the program's own threads touch the device's memory.
#pragma once

namespace ridge::vm::cudart {

// From now on such an access is reported, with its place in the program. Then it ends the process
// as on a machine with a GPU: by SIGSEGV, or in the program's own handler for it.
void watch_host_accesses();

}  // namespace ridge::vm::cudart
