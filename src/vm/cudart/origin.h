// Whose code it is: the file that an address of the process belongs to.
#pragma once

#include <string>

namespace ridge::vm::cudart {

// "libsolver.so.1"; empty: the program itself, or memory that no file was loaded to.
std::string library_at(const void* address);

// As the subject of a sentence: "libsolver.so.1", "the program", or "the module" where code lies in
// memory that the program filled.
std::string owner_at(const void* address);

}  // namespace ridge::vm::cudart
