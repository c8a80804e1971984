// Whether machine code was made from a given PTX text.
#pragma once

#include <string_view>

namespace ridge::vm::observe {

// With line information a cubin has a copy of its PTX, less comments and what only debuggers want.
// False where it has none, where the two differ, or where the file is damaged.
bool is_made_from(std::string_view cubin, std::string_view ptx);

}  // namespace ridge::vm::observe
