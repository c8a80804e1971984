// Saying no: cudaErrorNotSupported, and once on stderr what is not supported, by name. Knows no
// CUDA type, so that the stubs can be declared without the toolkit's prototypes.
#pragma once

namespace ridge::vm::cudart {

int refuse(const char* what, const char* group);  // always cudaErrorNotSupported

}  // namespace ridge::vm::cudart
