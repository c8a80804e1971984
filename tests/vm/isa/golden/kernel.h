// A case as PTX: a kernel that reads a thread's inputs, runs the instruction, and stores what it
// gave.
#pragma once

#include <string>
#include <vector>

#include "case.h"

namespace ridge::golden {

inline constexpr int kBlock = 128;  // threads

// Header of a module that holds kernels.
std::string module_header();

// Parameters: in, out, cells (pointers), n (threads), part. Word k of thread t is in[k * n + t], 64
// bits wide; outputs likewise; cells has kCellWords words per thread. part 0 runs all lanes; 1 and
// 2 each leave out a half of every warp.
std::string kernel_text(const Case& c, const std::string& name);

}  // namespace ridge::golden
