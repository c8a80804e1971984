// Refusing a call: cudaErrorNotSupported, and once on stderr the name of what is not supported.
// This header needs no CUDA type, so that stubs can be declared without the toolkit's prototypes.
#pragma once

namespace ridge::vm::cudart {

int refuse(const char* what, const char* group);  // always cudaErrorNotSupported

}  // namespace ridge::vm::cudart
