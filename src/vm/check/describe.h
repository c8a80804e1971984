// Words that findings share.
#pragma once

#include <string>

#include "vm/check/site.h"
#include "vm/exec/grid.h"

namespace ridge::vm::check {

// "block (0,0,0)", "warp 2 of block (0,0,0)".
std::string block_text(const Dim3& grid, uint64_t index);
std::string warp_text(const Launch& launch, uint32_t warp, uint64_t block);
// "thread (3,0,0) of block (0,0,0)".
std::string thread_text(const Launch& launch, uint32_t thread, uint64_t block);
// "read", "write", "copy to" …
const char* verb_of(Act act, bool writes);
// "line 12".
std::string place(const SiteInfo& info);
// "'tile', byte 12 of 256", of an offset in shared memory.
std::string shared_name(const GridRun& grid, uint64_t at);

}  // namespace ridge::vm::check
