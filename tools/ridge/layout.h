// Where Ridge's own files lie, seen from this executable. There are two trees, and both may be
// moved:
//
//   built: build/<preset>/    installed: <prefix>/    what
//   bin/ridge                 bin/ridge               this executable
//   lib/                      lib/ridge/vm/           the software GPU, and what goes with it
//   programs/                 lib/ridge/              ridge_ladders
//   library/                  lib/                    libridge.so, and ridge/families/ beside it
//   standin/                  lib/ridge/standin/      libcublas.so.13 and the like
//   headers/ (a link),        include/                the headers for programs; those that the
//   include/                                          build makes are apart in a built tree
//   rivals/ (a link)          —                       PyTorch beside ours
//   model/ (a link)           —                       what measures a GPU
//   triton/ (a link)          —                       examples/triton
#pragma once

#include <filesystem>
#include <vector>

#include "core/status.h"

namespace ridge::tools {

struct Layout {
  std::filesystem::path software_gpu;  // the folder with libcudart.so.13 and libcuda.so.1
  std::filesystem::path programs;
  std::filesystem::path standins;  // the folder with Ridge's own libcublas.so.13
  std::vector<std::filesystem::path> headers;
  std::filesystem::path torch_rivals;
  std::filesystem::path measure;  // the script that measures a GPU
  std::filesystem::path triton_examples;
  bool installed = false;
};
const Layout& layout();

// The file, or an error that says what is missing and how to get it: "the ladders are missing: …".
Expected<std::filesystem::path> find_part(const char* what, const std::filesystem::path& file);

// The folder `part` for compiled programs: in $XDG_CACHE_HOME/ridge or ~/.cache/ridge. If neither
// can be written, it prints a warning and takes a folder in the temporary folder that belongs to
// this user alone.
Expected<std::filesystem::path> cache_folder(const char* part);

}  // namespace ridge::tools
