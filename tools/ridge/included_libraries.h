// Which of CUDA's libraries a source is linked with because of the headers that it includes, so
// that `ridge run FILE.cu` needs no flag for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridge::tools {

// Flags for nvcc: "-lcublas". The source is searched, and so are the headers that lie beside it or
// in the folders of -I in `flags`; a header that is included only under a condition counts, too.
// Libraries that `flags` names already are left out.
std::vector<std::string> included_libraries(const std::filesystem::path& source,
                                            const std::vector<std::string>& flags);

}  // namespace ridge::tools
