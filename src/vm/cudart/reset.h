// cudaDeviceReset, and the end of the process.
#pragma once

namespace ridge::vm::cudart {

// Waits for running work, frees all memory, destroys streams and events, forgets loaded code and
// the sticky error. What the program registered before main stays, and is loaded again when used.
void reset_device();

}  // namespace ridge::vm::cudart
