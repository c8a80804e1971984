// Libraries of kernels that come as machine code for GPUs: the software GPU, which executes PTX,
// cannot run them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge {

struct ClosedLibrary {
  std::string_view file;      // "libcublas", of libcublas.so.13
  std::string_view name;      // "cuBLAS"
  std::string_view function;  // one that its users call first; a program that defines it has the
                              // library linked in statically
  std::string_view standin = {};  // the file that Ridge has in its place, if any: "libcublas.so.13"
};

const std::vector<ClosedLibrary>& closed_libraries();

// By the name of its file, with or without folders: "libcublas.so.13". Null: it is none of them.
const ClosedLibrary* find_closed_library(std::string_view file);

// Whether Ridge has a library to load in place of this file.
bool has_standin(std::string_view file);

// "cuBLAS (libcublas.so.13)"
std::string describe(const ClosedLibrary& library, std::string_view file);

// What can be used here instead, as one sentence.
inline constexpr std::string_view kOpenInstead =
    "Your own kernels run here, and so do CUB, Thrust, libcu++, the device side of cuRAND "
    "(curand_kernel.h), and much of cuBLAS 13 where a program is linked with -lcublas.";

}  // namespace ridge
